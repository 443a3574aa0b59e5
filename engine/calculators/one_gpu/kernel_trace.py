"""A layer's trace: what the CPU launches, what the GPU runs, and the gaps between."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.basis.inputs import MICROSECONDS, Choice, Number, Switch
from engine.basis.told import Teller, Told, Views
from engine.basis.units import BANDWIDTH, FLOP_RATE, MICRO, SECONDS, SHARE, Count, Seconds, Share
from engine.basis.views import Axis, Badge, Lane, Span, Table, Timeline
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved
from engine.catalog.models import MODELS
from engine.formulas.roofline import roofline_time
from engine.simulate.kernel_trace import Kernel, Trace, trace
from engine.simulate.layer_operators import layer_operators

TITLE = "A trace of one layer"
QUESTION = "What does a profiler show of one layer, and which row is worth your time?"
EQUATIONS = ()
PRESETS = {
    "8,192 tokens": {"tokens": 8192},
    "One token": {"tokens": 1},
    "One token, CUDA graph": {"tokens": 1, "launch": 0.5 * MICRO},
}
_NAMES = {
    "norm": "norm",
    "query_key_value": "Q, K, V",
    "rotation": "rotation",
    "attention": "attention",
    "output": "output",
    "add": "add",
    "norm_2": "norm",
    "mlp_up": "MLP up",
    "activation": "activation",
    "mlp_down": "MLP down",
    "add_2": "add",
}
_MODEL, _GPU = MODELS["llama-3-8b"], ACCELERATORS["H100-SXM"]


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


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    reached = achieved(_GPU)
    rates = _GPU.peak["fp16"] * reached.matmul, _GPU.memory_bandwidth * reached.memory
    operators = layer_operators(
        _MODEL, inputs.tokens, inputs.tokens, fused=inputs.fused, flash=True
    )
    lengths = tuple(roofline_time(one.operations, one.moved, *rates) for one in operators)
    played = trace(operators, lengths, inputs.launch)
    return Result(
        end=played.end,
        busy=played.busy,
        used=played.operations / played.end / _GPU.peak["fp16"],
        launching=len(operators) * inputs.launch,
        kernels=len(operators),
        trace=played,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        **tell.values("end"),
        "verdict": _verdict(tell, result),
        "timeline": partial(_timeline, inputs, result),
        **tell.values("busy", "used", "launching", "kernels"),
        "rows": partial(_rows, tell, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.busy < 0.9:
        return Badge(
            text="Waiting for the CPU",
            sentence=tell.say("{launching} of launches for kernels that need less."),
            color="communication",
        )
    return Badge(
        text="The GPU is busy",
        sentence=tell.say("Launches are ahead of the GPU; it reaches {used} of its peak."),
        color="compute",
    )


def _timeline(inputs: Inputs, result: Result) -> Timeline:
    end = result.end * (1.0 if inputs.shown == "all" else 0.5)
    spans = [span for one in result.trace.kernels for span in _spans(one) if span.start < end]
    return Timeline(
        title="One layer in a profiler",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.01),
        lanes=(Lane(key="gpu", label="GPU"), Lane(key="cpu", label="CPU launches")),
        spans=tuple(spans),
        caption="Blue kernels run on the matrix units, green ones stream memory. Click an idle "
        "place to see what it waits for.",
        keys=(("matrix units", "compute"), ("memory", "memory"), ("launch", "communication")),
        player=True,
    )


def _spans(one: Kernel) -> tuple[Span, ...]:
    key, name = one.operator.key, _NAMES[one.operator.key]
    launch = Span(
        key=f"launch-{key}",
        lane="cpu",
        start=one.launched,
        end=one.ready,
        label="",
        color="communication",
        called=f"launch of {name}",
        links=(f"kernel:{key}",),
    )
    kernel = Span(
        key=key,
        lane="gpu",
        start=one.start,
        end=one.end,
        label=name,
        color="compute" if one.operator.is_product else "memory",
        after=(f"launch-{key}",),
        links=(f"kernel:{key}",),
    )
    return launch, kernel


def _rows(tell: Teller, result: Result) -> Table:
    """Return the trace's rows as a profiler lists them."""
    peak, bandwidth = _GPU.peak["fp16"], _GPU.memory_bandwidth
    rows = []
    for one in result.trace.kernels:
        rate = one.operator.operations / one.length
        moved = one.operator.moved / one.length
        rows.append(
            (
                _NAMES[one.operator.key],
                tell.say("{t}", t=(one.length, SECONDS)),
                tell.say("{g}", g=(one.start - one.ready, SECONDS)),
                tell.say("{r}, {s}", r=(rate, FLOP_RATE), s=(rate / peak, SHARE)),
                tell.say("{b}, {s}", b=(moved, BANDWIDTH), s=(moved / bandwidth, SHARE)),
            )
        )
    return Table(
        title="The rows of the trace",
        columns=("Kernel", "Runs", "Waited in the queue", "Computes", "Moves"),
        rows=tuple(rows),
        links=tuple((f"kernel:{one.operator.key}",) for one in result.trace.kernels),
        caption="The larger of the two shares says what a kernel is limited by.",
    )
