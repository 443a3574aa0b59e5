"""What a reader can change about packed documents."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import PERCENT, Choice, Number, Switch
from engine.core.units import Count
from engine.form.fields import OwnConstants

LENGTH: Count = 131_072
MEANS = (512, LENGTH)
CUTS = {
    "contiguous": "contiguous pieces",
    "zigzag": "zig-zag of the sequence",
    "striped": "stripes",
    "document": "zig-zag of each document",
}
PACKINGS = {"arrival": "as they arrive", "balanced": "by their work"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    mean_length: Annotated[
        int,
        Number(label="Mean document", low=MEANS[0], high=MEANS[1], scale="log", whole=True),
    ] = 16_384
    ranks: Annotated[
        str,
        Choice(label="GPUs that share a sequence", options={n: n for n in ("2", "4", "8", "16")}),
    ] = "8"
    cut: Annotated[str, Choice(label="Cut", options=CUTS)] = "zigzag"
    packing: Annotated[str, Choice(label="Documents are packed", options=PACKINGS)] = "arrival"
    long_document: Annotated[
        bool,
        Switch(label="One long document", help="It fills one of the sequences by itself."),
    ] = False
    replicas: Annotated[
        int,
        Number(
            label="Replicas",
            low=1,
            high=8,
            whole=True,
            help="Each has a sequence of 131,072 tokens; all wait for the slowest.",
        ),
    ] = 4
    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={
                key: MODELS[key].name for key in ("llama-3-8b", "llama-3-70b", "llama-3-405b")
            },
        ),
    ] = "llama-3-70b"
    exposed: Annotated[
        float,
        Number(
            label="Context parallelism, of the step",
            unit=PERCENT,
            low=0.01,
            high=0.5,
            step=0.01,
            help="Your own share, for the claim below.",
            advanced=True,
        ),
    ] = 0.08
    seed: Annotated[int, Number(label="Seed", low=1, high=100, whole=True, advanced=True)] = 1
    own_constants: OwnConstants = ""
