"""The inputs of the noise scale."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.core.inputs import GBITS, Choice, Number
from engine.core.outputs import Symbol
from engine.core.units import COUNT, TOKENS, Gbit

LOW, HIGH = 1e3, 1e9
_GPUS = ("H100-SXM", "H200-SXM", "B200", "A100-SXM-80GB", "MI300X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    noise_scale: Annotated[
        float,
        Number(label="Noise scale, tokens", low=1e2, high=1e8, scale="log"),
        TOKENS,
        Symbol("N"),
    ] = 2e6
    batch: Annotated[
        float,
        Number(label="Batch, tokens of a step", low=LOW, high=HIGH, scale="log", symbol="B"),
        TOKENS,
        Symbol("B"),
    ] = 1e6
    least_steps: Annotated[
        float,
        Number(label="Steps with an infinite batch", low=100.0, high=1e6, scale="log"),
        COUNT,
        Symbol("M"),
    ] = 10_000.0
    gpu: Annotated[
        str, Choice(label="GPU", options={key: ACCELERATORS[key].name for key in _GPUS})
    ] = "H100-SXM"
    port: Annotated[
        float,
        Number(
            label="Port of each GPU",
            unit=GBITS,
            low=1 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="One way; nodes of 8 GPUs.",
        ),
    ] = 400 * Gbit
    token_rate: Annotated[
        float,
        Number(
            label="Tokens per second per GPU",
            low=10.0,
            high=1e6,
            scale="log",
            help="As measured; about 8,000 for Llama 3 8B on an H100.",
        ),
    ] = 8000.0
    language_loss: Annotated[
        float,
        Number(
            label="Loss, nats per token",
            low=1.0,
            high=6.0,
            step=0.1,
            advanced=True,
            help="For Kaplan's formula only.",
        ),
        COUNT,
    ] = 2.0
