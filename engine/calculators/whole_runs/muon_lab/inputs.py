"""Inputs of the Muon lab, and the run that they describe."""

from dataclasses import dataclass, replace
from typing import Annotated, cast

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.text import Text
from engine.core.units import Count
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import nearest_run
from engine.run.run import Run
from engine.simulate.layer.muon_slices import TensorMode
from engine.simulate.step.muon import Scheme

GPUS = (8, 4096)
_MODELS = ("llama-3-8b", "llama-3-70b", "llama-3-405b", "qwen3-30b-a3b", "qwen3-235b-a22b")
_GPU_TYPES = {"A100-SXM-80GB": "A100 80 GB", "H100-SXM": "H100", "H200-SXM": "H200", "B200": "B200"}
SCHEME_NAMES: dict[Scheme, str] = {
    "owner": "each matrix whole on one GPU",
    "exchange": "sharded, gathered on one GPU",
    "gather": "sharded, gathered on every GPU",
    "deal": "states on all, work dealt out",
    "repeat": "states and work on every GPU",
}
MODE_NAMES: dict[TensorMode, str] = {
    "duplicated": "duplicated: whole on every GPU",
    "blockwise": "blockwise: each slice by itself",
    "distributed": "distributed: Gram matrix summed",
    "layer_sharded": "layer-sharded: whole on one GPU",
}


def _count_input(label: str, low: int, high: int, symbol: str = "") -> Number:
    return Number(label=label, low=low, high=high, scale="log2", whole=True, symbol=symbol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    world_size: Annotated[int, _count_input("GPUs", *GPUS, "n")] = 64
    scheme: Annotated[
        str, Choice(label="Matrices over replicas", options=cast("dict[str, str]", SCHEME_NAMES))
    ] = "exchange"
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-8b"
    gpu: Annotated[str, Choice(label="GPU", options=_GPU_TYPES)] = "H100-SXM"
    tensor_parallel: Annotated[int, _count_input("Tensor parallel", 1, 8, "t")] = 1
    tensor_mode: Annotated[
        str,
        Choice(
            label="Matrices over tensor parallelism",
            options=cast("dict[str, str]", MODE_NAMES),
            help="By the names of Megatron-LM's --muon-tp-mode.",
        ),
    ] = "duplicated"
    pipeline_parallel: Annotated[int, _count_input("Pipeline parallel", 1, 16)] = 1
    expert_parallel: Annotated[int, _count_input("Expert parallel", 1, 64)] = 1
    global_batch_size: Annotated[int, _count_input("Global batch, sequences", 8, 16_384, "B")] = (
        1024
    )
    sequence_length: Annotated[int, _count_input("Sequence length", 1024, 32_768, "s")] = 4096
    recompute: Annotated[
        str,
        Choice(label="Recomputed", options={"none": "nothing", "full": "every layer"}),
    ] = "none"
    element: Annotated[
        str,
        Choice(
            label="A number on its way",
            options={"2": "2 bytes (bf16)", "4": "4 bytes (fp32)"},
            advanced=True,
        ),
    ] = "2"
    own_constants: OwnConstants = ""


def run_with(inputs: Inputs, world_size: Count = 0) -> tuple[Run, tuple[Text, ...]]:
    """Return the run with AdamW and ZeRO-1, and the changes that make it divide."""
    return nearest_run(
        Form(
            model=inputs.model,
            gpu=inputs.gpu,
            own_constants=inputs.own_constants,
            world_size=world_size or inputs.world_size,
            tensor_parallel=inputs.tensor_parallel,
            pipeline_parallel=inputs.pipeline_parallel,
            virtual_pipeline=1,
            schedule="1f1b",
            context_parallel=1,
            expert_parallel=inputs.expert_parallel,
            micro_batch_size=1,
            global_batch_size=inputs.global_batch_size,
            sequence_length=inputs.sequence_length,
            recompute=inputs.recompute,
            zero_stage="1",
            sequence_parallel=inputs.tensor_parallel > 1,
        )
    )


def with_scheme(inputs: Inputs, scheme: Scheme) -> Inputs:
    """Return the job under another scheme of gathering matrices."""
    return replace(inputs, scheme=scheme)
