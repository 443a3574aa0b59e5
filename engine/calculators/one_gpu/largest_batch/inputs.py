"""The inputs of the largest batch, and the run that they describe."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import KEPT_FREE
from engine.catalog.models import MODELS
from engine.core.inputs import PERCENT, Choice, Number, Switch
from engine.core.text import Text
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.step.largest_batch import BatchFit, batch_fit

HIGHEST = 64
LORA_RANK = 16
RECOMPUTE: Mapping[str, str] = {
    "none": "nothing",
    "selective": "selective",
    "full": "every layer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: model.name for key, model in MODELS.items()}
        ),
    ] = "llama-2-7b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    world_size: Annotated[
        int, Number(label="GPUs", low=1, high=131_072, scale="log2", whole=True, symbol="n")
    ] = 8
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=128, high=1 << 20, scale="log2", whole=True, symbol="s"
        ),
    ] = 4096
    micro_batch_size: Annotated[
        int,
        Number(label="Micro-batch", low=1, high=HIGHEST, scale="log", whole=True, symbol="b"),
    ] = 4
    recompute: Annotated[str, Choice(label="Recompute", options=RECOMPUTE)] = "selective"
    zero_stage: Annotated[
        str,
        Choice(
            label="ZeRO",
            options={
                "0": "0: nothing is sharded",
                "1": "1: optimizer states",
                "2": "2: and gradients",
                "3": "3: and parameters",
            },
        ),
    ] = "3"
    tensor_parallel: Annotated[
        int, Number(label="Tensor parallel", low=1, high=64, scale="log2", whole=True)
    ] = 1
    pipeline_parallel: Annotated[
        int, Number(label="Pipeline parallel", low=1, high=64, scale="log2", whole=True)
    ] = 1
    context_parallel: Annotated[
        int, Number(label="Context parallel", low=1, high=64, scale="log2", whole=True)
    ] = 1
    trained: Annotated[
        str,
        Choice(
            label="Trained",
            options={"full": "all parameters", "lora": f"adapters (LoRA) of rank {LORA_RANK}"},
        ),
    ] = "full"
    margin: Annotated[
        float,
        Number(
            label="Memory left free",
            unit=PERCENT,
            low=0.0,
            high=0.3,
            step=0.01,
            symbol="u",
            help="For fragments of the allocator and for peaks that no model sees.",
        ),
    ] = KEPT_FREE
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "fsdp": "PyTorch FSDP, torchtitan",
                "megatron": "Megatron, NeMo",
                "deepspeed": "DeepSpeed",
            },
            advanced=True,
        ),
    ] = "fsdp"
    flash_attention: Annotated[
        bool,
        Switch(
            label="Fused attention",
            help="FlashAttention: the score matrix never reaches memory.",
            advanced=True,
        ),
    ] = True
    expert_parallel: Annotated[
        int,
        Number(label="Expert parallel", low=1, high=256, scale="log2", whole=True, advanced=True),
    ] = 1
    own_constants: OwnConstants = ""


def run_inputs(inputs: Inputs, batch: int) -> RunInputs:
    """Return the inputs of a run with micro-batches of `batch` sequences.

    The step holds as many micro-batches as there are stages, so that the pipeline is full.
    """
    parts = inputs.tensor_parallel * inputs.pipeline_parallel * inputs.context_parallel
    ranks = max(1, inputs.world_size // parts)
    return RunInputs(
        model=inputs.model,
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        sequence_length=inputs.sequence_length,
        micro_batch_size=batch,
        global_batch_size=batch * ranks * inputs.pipeline_parallel,
        recompute=inputs.recompute,
        zero_stage=inputs.zero_stage,
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
        virtual_pipeline=1,
        context_parallel=inputs.context_parallel,
        expert_parallel=inputs.expert_parallel,
        framework=inputs.framework,
        own_constants=inputs.own_constants,
        flash_attention=inputs.flash_attention,
        sequence_parallel=inputs.tensor_parallel > 1,
        overlap_tensor_parallel=False,
        schedule="1f1b",
    )


@lru_cache(maxsize=256)
def fit_with_changes(inputs: Inputs) -> tuple[BatchFit, tuple[Text, ...]]:
    """Return the batch fit of the nearest valid run, and the sentences on adjusted inputs.

    Every figure of the page asks for it.
    """
    run, changes = nearest_run(run_inputs(inputs, inputs.micro_batch_size))
    if inputs.trained == "lora":
        run = replace(run, training=replace(run.training, lora_rank=LORA_RANK, lora_layers="all"))
    return batch_fit(run, inputs.margin), changes


def fit(inputs: Inputs) -> BatchFit:
    """Return the batch fit of the nearest valid run."""
    return fit_with_changes(inputs)[0]
