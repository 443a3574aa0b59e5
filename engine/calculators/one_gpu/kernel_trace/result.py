"""A layer's trace: what the reader can change, and what the GPU does."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved
from engine.catalog.models import MODELS
from engine.core.inputs import MICROSECONDS, Choice, Number, Switch
from engine.core.outputs import Told
from engine.core.units import MICRO, Count, Seconds, Share
from engine.formulas.roofline import roofline_time
from engine.simulate.layer.layer_operators import layer_operators
from engine.simulate.streams.kernel_trace import Stretch, Trace, stretches, trace

_MODEL, GPU = MODELS["llama-3-8b"], ACCELERATORS["H100-SXM"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    tokens: Annotated[
        int, Number(label="Tokens", low=1, high=1 << 16, scale="log2", whole=True)
    ] = 256
    launch: Annotated[
        float,
        Number(
            label="Launch of a kernel",
            unit=MICROSECONDS,
            low=0.1 * MICRO,
            high=100 * MICRO,
            scale="log",
            help="By the CPU, with all of Python above it.",
        ),
    ] = 10 * MICRO
    fused: Annotated[bool, Switch(label="Fused kernels")] = True
    shown: Annotated[
        str,
        Choice(label="Time axis", options={"all": "the whole layer", "start": "its first half"}),
    ] = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The trace and what tools make of it."""

    end: Annotated[
        Seconds,
        Told("One layer, forward", color="compute", assumes=("Until the last kernel ends.",)),
    ]
    busy: Annotated[
        Share,
        Told(
            "GPU utilization",
            note="as nvidia-smi counts: some kernel runs",
            assumes=("The time with a kernel over the time.",),
            sources=("nvml_utilization",),
        ),
    ]
    used: Annotated[
        Share,
        Told(
            "Of the peak",
            assumes=("All operations over the time and the dense 16-bit peak.",),
        ),
    ]
    launching: Annotated[
        Seconds, Told("Launching", assumes=("All launches, one after the other.",))
    ]
    kernels: Annotated[Count, Told("Kernels", assumes=("One for each operator.",))]
    trace: Trace
    notes: tuple[Stretch, ...]
    idle: Annotated[
        Seconds,
        Told("GPU idle", assumes=("The time of the layer without any kernel.",)),
    ]
    ahead: Annotated[
        Seconds,
        Told(
            "CPU ahead, at most",
            note="from the end of a launch to the start of its kernel",
            assumes=("The largest wait of a launched kernel in the queue.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    reached = achieved(GPU)
    rates = GPU.peak["fp16"] * reached.matmul, GPU.memory_bandwidth * reached.memory
    operators = layer_operators(
        _MODEL, inputs.tokens, inputs.tokens, fused=inputs.fused, flash=True
    )
    lengths = tuple(roofline_time(one.operations, one.moved, *rates) for one in operators)
    played = trace(operators, lengths, inputs.launch)
    return Result(
        end=played.end,
        busy=played.busy,
        used=played.operations / played.end / GPU.peak["fp16"],
        launching=len(operators) * inputs.launch,
        kernels=len(operators),
        trace=played,
        notes=(found := stretches(played)),
        idle=sum(one.idle for one in found),
        ahead=max(one.ahead for one in found),
    )
