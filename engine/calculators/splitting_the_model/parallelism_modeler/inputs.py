"""The inputs of the parallelism modeler, and the run that they describe."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, PERCENT, Choice, Number, Scalar, Switch
from engine.core.units import Gbit
from engine.form.fields import FusedAttention, GpusPerNode, OwnConstants, kernel_efficiency
from engine.form.run.inputs import CUSTOM
from engine.form.run.inputs import Inputs as RunInputs

MOST_MICROBATCHES = 256
SCHEDULES: Mapping[str, str] = {
    "1f1b": "1F1B",
    "gpipe": "GPipe",
    "interleaved": "interleaved 1F1B",
    "zb-1p": "zero bubble, ZB-1p",
    "dualpipe": "DualPipe",
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "A published calculator's inputs": {
        "tensor_parallel": 1,
        "data_parallel": 1,
        "published": True,
    },
    "Llama 3 405B on 16,384 H100": {
        "model": "llama-3-405b",
        "sequence_length": 8192,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "data_parallel": 128,
        "num_microbatches": 16,
        "schedule": "interleaved",
        "virtual_pipeline": 8,
        # Gradients are sharded too, parameters are not: section 3.3.2 of the paper.
        "zero_stage": "2",
    },
    "Llama 3 8B, 131,072 tokens": {
        "model": "llama-3-8b",
        "sequence_length": 131_072,
        "tensor_parallel": 8,
        "pipeline_parallel": 1,
        "context_parallel": 4,
        "data_parallel": 2,
    },
    "DeepSeek-V3 on 2,048 H800": {
        "model": "deepseek-v3",
        "gpu": "H800-SXM",
        "tensor_parallel": 1,
        "pipeline_parallel": 16,
        "expert_parallel": 64,
        "data_parallel": 128,
        "num_microbatches": 120,
        "precision": "fp8",
        "recompute": "modules",
        "schedule": "dualpipe",
    },
}


def _degree(label: str, high: int, symbol: str = "", *, advanced: bool = False) -> Number:
    return Number(
        label=label,
        low=1,
        high=high,
        scale="log2",
        whole=True,
        symbol=symbol,
        advanced=advanced,
    )


def _moved_layers(label: str) -> Number:
    return Number(
        label=label,
        low=-20,
        high=20,
        whole=True,
        help="To the stages between, or back from them.",
    )


def _size(label: str, low: int, high: int) -> Number:
    return Number(
        label=label,
        low=low,
        high=high,
        scale="log2" if low else "linear",
        whole=True,
        advanced=True,
        help="Of a model of your own.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={key: model.name for key, model in MODELS.items()}
            | {CUSTOM: "your own (more inputs)"},
        ),
    ] = "llama-3-70b"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=128, high=1 << 20, scale="log2", whole=True, symbol="s"
        ),
    ] = 4096
    micro_batch_size: Annotated[int, _degree("Micro-batch", 64, "b")] = 1
    num_microbatches: Annotated[int, _degree("Micro-batches", MOST_MICROBATCHES, "m")] = 8
    tensor_parallel: Annotated[int, _degree("Tensor parallel", 72, "t")] = 8
    pipeline_parallel: Annotated[int, _degree("Pipeline stages", 64, "p")] = 4
    context_parallel: Annotated[int, _degree("Context parallel", 64, "c")] = 1
    data_parallel: Annotated[int, _degree("Data parallel", 1024, "d")] = 4
    expert_parallel: Annotated[int, _degree("Expert parallel", 256)] = 1
    schedule: Annotated[
        str,
        Choice(
            label="Schedule",
            options=SCHEDULES,
            help="ZB-1p splits the backward pass; a search finds it within the memory of 1F1B.",
        ),
    ] = "1f1b"
    off_first: Annotated[int, _moved_layers("Layers moved off the first stage")] = 0
    off_last: Annotated[int, _moved_layers("Layers moved off the last stage")] = 0
    target: Annotated[
        float,
        Number(
            label="Exposed communication allowed",
            unit=PERCENT,
            low=0.01,
            high=1.0,
            step=0.01,
            help="As a share of the computation.",
        ),
    ] = 0.1
    convention: Annotated[
        str,
        Choice(
            label="Bubble",
            options={"share": "as a share of the step", "ideal": "over the ideal time"},
        ),
    ] = "share"
    published: Annotated[bool, Switch(label="Show a published calculator's digits beside ours")] = (
        False
    )
    gpu: Annotated[
        str,
        Choice(
            label="GPU",
            options={key: gpu.name for key, gpu in ACCELERATORS.items()},
            advanced=True,
        ),
    ] = "H100-SXM"
    utilization: Annotated[
        float,
        kernel_efficiency("Only for the least bandwidths; times come from the step model."),
    ] = 0.5
    gpus_per_node: GpusPerNode = 8
    nics_per_node: Annotated[
        int, Number(label="Ports per node", low=1, high=72, whole=True, advanced=True)
    ] = 8
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="One way.",
            advanced=True,
        ),
    ] = 400 * Gbit
    virtual_pipeline: Annotated[
        int,
        Number(
            label="Pieces per pipeline rank",
            low=2,
            high=16,
            whole=True,
            help="If interleaved.",
            advanced=True,
        ),
    ] = 2
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
            advanced=True,
        ),
    ] = "1"
    recompute: Annotated[
        str,
        Choice(
            label="Recompute",
            options={
                "none": "nothing",
                "selective": "selective",
                "modules": "norms, activation functions, up-projections",
                "full": "every layer",
            },
            advanced=True,
        ),
    ] = "none"
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "megatron": "Megatron, NeMo",
                "fsdp": "PyTorch FSDP, torchtitan",
                "deepspeed": "DeepSpeed",
            },
            advanced=True,
        ),
    ] = "megatron"
    precision: Annotated[
        str,
        Choice(label="Precision", options={"bf16": "bf16", "fp8": "fp8"}, advanced=True),
    ] = "bf16"
    sequence_parallel: Annotated[bool, Switch(label="Sequence parallel", advanced=True)] = True
    overlap: Annotated[
        bool,
        Switch(
            label="Tensor parallelism beside products",
            help="Its collectives in pieces, each beside a matrix product.",
            advanced=True,
        ),
    ] = False
    flash_attention: FusedAttention = True
    own_constants: OwnConstants = ""
    num_layers: Annotated[int, _size("Layers", 1, 256)] = 80
    hidden_size: Annotated[int, _size("Hidden size", 128, 32_768)] = 8192
    num_attention_heads: Annotated[int, _size("Attention heads", 1, 256)] = 64
    num_key_value_heads: Annotated[int, _size("Key-value heads", 1, 256)] = 8
    ffn_hidden_size: Annotated[int, _size("Feed-forward size", 128, 131_072)] = 28_672
    vocab_size: Annotated[int, _size("Vocabulary", 256, 262_144)] = 128_256
    num_experts: Annotated[int, _size("Experts", 0, 1024)] = 0
    experts_per_token: Annotated[int, _size("Experts per token", 1, 16)] = 2
    expert_ffn_hidden_size: Annotated[int, _size("Expert size", 128, 131_072)] = 2048


# What stands in both records under the same name.
_SHARED = tuple(
    {field.name for field in fields(Inputs)} & {field.name for field in fields(RunInputs)}
)


def run_inputs(inputs: Inputs) -> RunInputs:
    """Return the inputs of a run; data parallelism and micro-batches make its size and batch."""
    taken = {name: getattr(inputs, name) for name in _SHARED}
    ranks = (
        inputs.tensor_parallel
        * inputs.pipeline_parallel
        * inputs.context_parallel
        * inputs.data_parallel
    )
    interleaved = inputs.schedule == "interleaved" and inputs.pipeline_parallel > 1
    alone = inputs.pipeline_parallel == 1
    return RunInputs(
        **taken
        | {
            "world_size": ranks,
            "global_batch_size": inputs.micro_batch_size
            * inputs.num_microbatches
            * inputs.data_parallel,
            "virtual_pipeline": inputs.virtual_pipeline if interleaved else 1,
            "schedule": "1f1b" if alone else inputs.schedule,
            "sequence_parallel": inputs.sequence_parallel and inputs.tensor_parallel > 1,
            "overlap_tensor_parallel": inputs.overlap,
        }
    )
