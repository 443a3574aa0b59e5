"""The inputs of the map of ranks, and its presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Annotated

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.form.axis_names import SHORT
from engine.form.fields import GpusPerNode, OverlapTensorParallel, OwnConstants
from engine.run.parallelism import UNASKED

MOST = 1024
_KEY = {"tp": "tensor", "cp": "context", "dp": "data", "pp": "pipeline"}
# Megatron's order and the Llama 3 paper's come first.
_FIRST = ("tp-cp-dp-pp", "tp-cp-pp-dp")
_ALL = tuple("-".join(order) for order in permutations(_KEY))
ORDERS = _FIRST + tuple(order for order in _ALL if order not in _FIRST)
_MODELS = (
    "gpt-22b",
    "llama-3-8b",
    "llama-3-70b",
    "gpt-3-175b",
    "llama-3-405b",
    "mixtral-8x7b",
    "qwen3-235b-a22b",
    "deepseek-v3",
)
_MACHINES = ("dgx-a100", "dgx-h100", "h800", "dgx-b200", "gb200-nvl72", "mi300x")

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "24 GPUs: TP 4, DP 2, PP 3": {"rank": 0},
    "The same, tensor and pipeline swapped": {"order": "pp-cp-dp-tp"},
    "Megatron's 16 GPUs: TP 2, PP 4": {
        "tensor_parallel": 2,
        "pipeline_parallel": 4,
        "data_parallel": 2,
    },
    "Llama 3 405B on 1,024 GPUs": {
        "model": "llama-3-405b",
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "data_parallel": 8,
        "order": "tp-cp-pp-dp",
        "sequence_length": 8192,
        "micro_batch_size": 1,
        "num_microbatches": 16,
    },
    "Llama 3 405B, 128K tokens": {
        "model": "llama-3-405b",
        "tensor_parallel": 8,
        "context_parallel": 8,
        "pipeline_parallel": 16,
        "data_parallel": 1,
        "order": "tp-cp-pp-dp",
        "sequence_length": 131_072,
        "micro_batch_size": 1,
        "num_microbatches": 16,
    },
    "DeepSeek-V3 on 1,024 GPUs": {
        "model": "deepseek-v3",
        "machine": "h800",
        "tensor_parallel": 1,
        "pipeline_parallel": 16,
        "data_parallel": 64,
        "expert_parallel": 64,
        "sequence_length": 4096,
        "micro_batch_size": 1,
        "num_microbatches": 60,
    },
}


def _ranks(label: str, help_text: str = "") -> Number:
    return Number(label=label, low=1, high=MOST, scale="log2", whole=True, help=help_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "gpt-22b"
    tensor_parallel: Annotated[int, _ranks("Tensor parallel")] = 4
    context_parallel: Annotated[int, _ranks("Context parallel")] = 1
    data_parallel: Annotated[int, _ranks("Data parallel")] = 2
    pipeline_parallel: Annotated[int, _ranks("Pipeline parallel")] = 3
    expert_parallel: Annotated[
        int, _ranks("Expert parallel", "Adds no GPUs: reuses the ranks of a pipeline stage.")
    ] = 1
    order: Annotated[
        str,
        Choice(
            label="Rank order",
            options={order: order.replace("-", " · ").upper() for order in ORDERS},
            help="Innermost first: its ranks have neighboring numbers.",
        ),
    ] = "tp-cp-dp-pp"
    rank: Annotated[
        int,
        Number(
            label="You are GPU", low=0, high=MOST - 1, whole=True, help="Its groups are marked."
        ),
    ] = 5
    gpus_per_node: GpusPerNode = 8
    machine: Annotated[
        str,
        Choice(
            label="GPU and port",
            options={key: NODES[key].name for key in _MACHINES},
            help="Every GPU has its share of the node's ports.",
            advanced=True,
        ),
    ] = "dgx-h100"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=512, high=1 << 20, scale="log2", whole=True, advanced=True
        ),
    ] = 2048
    micro_batch_size: Annotated[
        int, Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, advanced=True)
    ] = 4
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step", low=1, high=512, scale="log2", whole=True, advanced=True
        ),
    ] = 16
    sequence_parallel: Annotated[
        bool,
        Switch(
            label="Sequence parallel",
            help="Splits along the tensor-parallel ranks; adds no GPUs.",
            advanced=True,
        ),
    ] = True
    overlap_tensor_parallel: OverlapTensorParallel = UNASKED.overlap_tensor_parallel
    own_constants: OwnConstants = ""


def axes_of(order: str) -> tuple[str, ...]:
    """Return the axes of an order as written in its input, innermost first."""
    return tuple(_KEY[key] for key in order.split("-"))


def order_of(axes: tuple[str, ...]) -> str:
    """Return the axis order in the input's notation."""
    return "-".join(SHORT[axis].lower() for axis in axes)
