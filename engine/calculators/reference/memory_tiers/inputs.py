"""The inputs of the memory tiers: the job, and where each of its tensors lives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hosts import HOSTS
from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number
from engine.form.fields import OwnConstants

# The fastest first.
TIERS: Mapping[str, str] = {
    "hbm": "its own HBM",
    "peer": "HBM of idle GPUs",
    "host": "the host's memory",
    "nvme": "NVMe drives",
}
# The tensors of a step: key -> (name, color).
TENSORS: Mapping[str, tuple[str, str]] = {
    "parameters": ("parameters", "parameters"),
    "gradients": ("gradients", "gradients"),
    "master": ("master", "optimizer"),
    "moments": ("moments", "optimizer"),
    "checkpoints": ("checkpoints", "activations"),
    "logits": ("logits", "activations"),
}
_OFFERED_MODELS = (
    "llama-3-8b",
    "llama-2-7b",
    "llama-2-13b",
    "llama-3-70b",
    "gpt-3-175b",
    "llama-3-405b",
)


def _tier_field(label: str, help_text: str) -> Choice:
    return Choice(label=label, options=TIERS, help=help_text, advanced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: MODELS[key].name for key in _OFFERED_MODELS}
        ),
    ] = "llama-3-8b"
    ranks: Annotated[
        int,
        Number(
            label="GPUs that share the states",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            symbol="N",
            help="Fully sharded (ZeRO-3); eight or fewer share one node.",
        ),
    ] = 1
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=512, high=131_072, scale="log2", whole=True),
    ] = 8192
    micro_batch_size: Annotated[
        int,
        Number(label="Sequences per micro-batch", low=1, high=64, scale="log2", whole=True),
    ] = 1
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=256,
            scale="log2",
            whole=True,
            symbol="g",
            help="Gradients are accumulated over them; the update runs once.",
        ),
    ] = 1
    node: Annotated[str, Choice(label="Node", options={key: NODES[key].name for key in HOSTS})] = (
        "dgx-h100"
    )
    parameters_in: Annotated[
        str, _tier_field("Parameters live in", "In bf16, as products read them.")
    ] = "hbm"
    gradients_in: Annotated[str, _tier_field("Gradients live in", "In bf16.")] = "hbm"
    master_in: Annotated[
        str, _tier_field("Master weights live in", "The copy in fp32 that the update changes.")
    ] = "hbm"
    moments_in: Annotated[
        str, _tier_field("Moments live in", "Two of Adam in fp32. The update runs next to them.")
    ] = "hbm"
    checkpoints_in: Annotated[
        str, _tier_field("Checkpoints live in", "The input of every layer, for the backward pass.")
    ] = "hbm"
    logits_in: Annotated[
        str, _tier_field("Logits live in", "In fp32, for the loss, with what the final norm keeps.")
    ] = "hbm"
    own_constants: OwnConstants = ""


def tier_of(inputs: Inputs, tensor: str) -> str:
    """Return the tier that a tensor lives in."""
    return str(getattr(inputs, f"{tensor}_in"))
