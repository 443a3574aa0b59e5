"""Input fields shared by several calculators."""

from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hardware import GPUS
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import GBITS, MICROSECONDS, PERCENT, Choice, Compact, Number, Switch
from engine.core.outputs import Symbol
from engine.core.units import MICRO, Gbit

PORT = Number(
    label="Network port",
    unit=GBITS,
    low=1 * Gbit,
    high=1600 * Gbit,
    scale="log",
    symbol="B",
    help="Line rate of one port, one way.",
)


def kernel_efficiency(help: str) -> Number:
    """Return the input for kernel efficiency, where only a ratio needs it.

    Args:
        help: what it is for.
    """
    return Number(
        label="Kernel efficiency",
        unit=PERCENT,
        low=0.1,
        high=0.9,
        step=0.01,
        symbol="u",
        help=help,
        advanced=True,
    )


LabGpu = Annotated[
    str,
    Choice(
        label="GPU",
        options={key: gpu.name for key, gpu in GPUS.items()},
        also={
            other: key
            for other, gpu in ACCELERATORS.items()
            for key, one in GPUS.items()
            if gpu == one
        },
        advanced=True,
    ),
]
FewGpus = Annotated[int, Number(label="GPUs", low=2, high=16, whole=True, symbol="n")]
GpusPerNode = Annotated[
    int, Number(label="GPUs per node", low=1, high=72, whole=True, advanced=True)
]
PortsPerEight = Annotated[
    int, Number(label="Ports per node of 8", low=1, high=16, whole=True, advanced=True)
]
StepLatency = Annotated[
    float,
    Number(
        label="Latency of one step",
        unit=MICROSECONDS,
        low=1 * MICRO,
        high=50 * MICRO,
        scale="log",
        symbol="α",
        advanced=True,
    ),
    Symbol("a"),
]
FusedAttention = Annotated[bool, Switch(label="Fused attention", advanced=True)]
OverlapGradientReduce = Annotated[
    bool, Switch(label="Gradients reduced beside the backward pass", advanced=True)
]
Compiled = Annotated[
    bool, Switch(label="Fused element-wise kernels", advanced=True, help="Off: eager PyTorch.")
]
OverlapTensorParallel = Annotated[
    bool,
    Switch(
        label="Tensor parallelism beside products",
        advanced=True,
        help="Megatron's --tp-comm-overlap, or PyTorch's asynchronous tensor parallelism.",
    ),
]
OverlapExpertParallel = Annotated[
    bool,
    Switch(
        label="Tokens exchanged beside products",
        advanced=True,
        help="Of another micro-batch: Megatron's --overlap-moe-expert-parallel-comm.",
    ),
]
ExpertExchange = Annotated[
    str,
    Choice(
        label="Exchange of tokens",
        options={
            "auto": "as the model's routing allows",
            "all-to-all": "all-to-all: every copy by itself",
            "deepep": "DeepEP: one copy for each node",
            "hybridep": "HybridEP: one copy for each node",
        },
        advanced=True,
    ),
]
FusedExperts = Annotated[
    bool,
    Switch(
        label="Fused products of experts",
        advanced=True,
        help="Padding, conversion and activation in one kernel: --use-transformer-engine-op-fuser.",
    ),
]
CudaGraphs = Annotated[
    bool,
    Switch(
        label="Steps replayed as CUDA graphs",
        advanced=True,
        help="The host launches no kernels; it matters for layers with many small experts.",
    ),
]
EagerLoss = Annotated[
    bool,
    Switch(
        label="Loss is not compiled",
        advanced=True,
        help="In FSDP with a compiled model, as in torchtitan until April 2025.",
    ),
]
OwnConstants = Annotated[
    str,
    Compact(
        label="Constants of my cluster",
        parse=parse_constants,
        help='Written by "Calibrate to your cluster". They count on the GPU that they were '
        "measured on. Empty: those of the catalog.",
        advanced=True,
    ),
]
