"""A layer's trace: what the CPU launches, what the GPU runs, and the gaps between."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved
from engine.catalog.measured_timings import OWN_DATE, OWN_LAUNCHES
from engine.catalog.models import MODELS
from engine.core.inputs import MICROSECONDS, Choice, Number, Switch
from engine.core.outputs import Teller, Told, Views
from engine.core.units import (
    BANDWIDTH,
    COUNT,
    FLOP_RATE,
    MICRO,
    SECONDS,
    SHARE,
    Count,
    Seconds,
    Share,
)
from engine.core.views import Axis, Badge, Lane, Rule, Span, Table, Timeline
from engine.formulas.roofline import roofline_time
from engine.simulate.layer.layer_operators import layer_operators
from engine.simulate.streams.kernel_trace import Kernel, Stretch, Trace, stretches, trace

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


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        **tell.values("end"),
        "verdict": _verdict(tell, result),
        "timeline": partial(_timeline, tell, inputs, result),
        **tell.values("busy", "idle", "ahead", "used", "launching", "kernels"),
        "notes": partial(_notes, tell, result),
        "rows": partial(_rows, tell, result),
        "launches": partial(_launches, tell),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if result.busy < 0.9:
        return Badge(
            text="Waiting for the CPU",
            sentence="Some kernels end before the next one is launched.",
            color="communication",
        )
    return Badge(
        text="The GPU is busy",
        sentence=tell.say("Launches are ahead of the GPU; it reaches {used} of its peak."),
        color="compute",
    )


def _timeline(tell: Teller, inputs: Inputs, result: Result) -> Timeline:
    end = result.end * (1.0 if inputs.shown == "all" else 0.5)
    drawn = [span for one in result.trace.kernels for span in _spans(one)]
    drawn += [_note(number, one) for number, one in enumerate(result.notes)]
    spans = [span for span in drawn if span.start < end]
    launched = result.trace.kernels[-1].ready
    return Timeline(
        title="One layer in a profiler",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.01),
        lanes=(
            Lane(key="gpu", label="GPU"),
            Lane(key="cpu", label="CPU launches"),
            Lane(key="notes", label="what happens"),
        ),
        spans=tuple(spans),
        rules=(Rule(key="launched", label="all launched", axis="x", at=launched),)
        if launched < end
        else (),
        caption="Blue kernels run on the matrix units, green ones stream memory. The lowest lane "
        "says why the kernels above it start when they do. Click an idle place to see what it "
        "waits for.",
        keys=(
            ("matrix units", "compute"),
            ("memory", "memory"),
            ("launch", "communication"),
            (_LATE, "muted"),
            (_QUEUED, "ink"),
        ),
        player=True,
    )


_LATE = "launch-bound"
_QUEUED = "CPU ahead"


def _note(number: int, one: Stretch) -> Span:
    """Return the mark of a stretch: what the GPU does there, and what it waits for."""
    name = _LATE if one.late else _QUEUED
    return Span(
        key=f"note-{number}",
        lane="notes",
        start=one.start,
        end=one.end,
        label=name,
        color="muted" if one.late else "ink",
        called=f"{name}, {one.kernels} kernel{'s' if one.kernels > 1 else ''}",
    )


def _notes(tell: Teller, result: Result) -> Table:
    """Return the marks of the trace in words, one stretch after the other."""
    rows = []
    for one in result.notes:
        length = one.end - one.start
        rows.append(
            (
                _LATE if one.late else _QUEUED,
                tell.say("{t}", t=(one.start, SECONDS)),
                tell.say("{t}", t=(length, SECONDS)),
                tell.say("{n}", n=(one.kernels, COUNT)),
                tell.say("{t}, {s}", t=(one.idle, SECONDS), s=(one.idle / length, SHARE)),
                tell.say("{t}", t=(one.ahead, SECONDS)),
            )
        )
    return Table(
        title="What happens in the trace",
        columns=("Stretch", "From", "Length", "Kernels", "GPU idle", "CPU ahead, at most"),
        rows=tuple(rows),
        caption="Launch-bound: the GPU is done with each kernel before the next is launched. CPU "
        "ahead: a kernel runs longer than a launch takes, so that those behind it wait in the "
        "queue, and the GPU has no gaps.",
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
    peak, bandwidth = GPU.peak["fp16"], GPU.memory_bandwidth
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
        caption="A product that computes at two thirds of the peak is limited by computation, a "
        "kernel that moves at nine tenths of the bandwidth by memory: more is seldom reached.",
    )


_LAUNCHED = {
    "host alone": "one element added, until the call returns",
    "eager": "one element added, one call after the other",
    "eager product": "a product of 128 by 128, likewise",
    "graph of one": "one element added, in a CUDA graph of its own",
    "graph": "one element added, many in one CUDA graph",
    "graph product": "a product of 128 by 128, likewise",
}


def _launches(tell: Teller) -> Table:
    """Return what a launch took on two machines."""
    return Table(
        title="The smallest kernels, measured",
        columns=("What runs", "H100 and its host", "H200 and its host"),
        rows=tuple(
            (name, *(tell.say("{t}", t=(time, SECONDS)) for time in OWN_LAUNCHES[key]))
            for key, name in _LAUNCHED.items()
        ),
        caption=f"Measured by us on one GPU each, {OWN_DATE}, PyTorch 2.11: time of each. Nothing "
        "here is modeled.",
    )
