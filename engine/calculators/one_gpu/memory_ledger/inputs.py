"""The inputs of the memory ledger, and the job that they describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number, Switch
from engine.form.fields import OwnConstants
from engine.run.parallelism import Plan, Recompute, Training

_DENSE = {key: one.name for key, one in MODELS.items() if not one.num_experts}
TRAINED: Mapping[str, str] = {
    "full": "all parameters",
    "lora": "adapters (LoRA)",
    "qlora": "adapters, weights in 4 bits (QLoRA)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    model: Annotated[str, Choice(label="Model", cites=False, options=_DENSE)] = "llama-3-8b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    ranks: Annotated[
        int,
        Number(
            label="GPUs that share the states",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            symbol="N",
            help="Fully sharded by FSDP; 1: this GPU holds all of them.",
        ),
    ] = 1
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=128, high=1 << 17, scale="log2", whole=True, symbol="s"
        ),
    ] = 8192
    micro_batch_size: Annotated[
        int, Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, symbol="b")
    ] = 1
    recompute: Annotated[
        str, Choice(label="Recompute", options={"none": "nothing", "full": "every layer"})
    ] = "none"
    trained: Annotated[str, Choice(label="Trained", options=TRAINED)] = "full"
    lora_rank: Annotated[
        int,
        Number(label="Rank of the adapters", low=1, high=1024, scale="log2", whole=True),
    ] = 16
    trapped: Annotated[
        bool,
        Switch(
            label="Adapters wrapped with frozen weights",
            help="One FSDP1 unit holds both; counts only where adapters are trained.",
        ),
    ] = False
    compiled_loss: Annotated[
        bool,
        Switch(
            label="Compiled loss",
            help="torch.compile keeps the logits and their gradient in 16 bits.",
        ),
    ] = False
    own_constants: OwnConstants = ""


def job(inputs: Inputs) -> tuple[Plan, Training]:
    """Return the plan and the training that the inputs describe."""
    recompute: Recompute = "full" if inputs.recompute == "full" else "none"
    plan = Plan(world_size=inputs.ranks, zero_stage=3)
    training = Training(
        micro_batch_size=inputs.micro_batch_size,
        global_batch_size=2 * inputs.micro_batch_size * inputs.ranks,
        sequence_length=inputs.sequence_length,
        recompute=recompute,
        framework="fsdp",
        eager_loss=not inputs.compiled_loss,
        lora_rank=0 if inputs.trained == "full" else inputs.lora_rank,
    )
    return plan, training
