"""A layer's kernel trace: CPU launches, GPU kernels and the gaps between them."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.catalog.measured_timings import OWN_DATE, OWN_LAUNCHES
from engine.catalog.models import MODELS
from engine.core.inputs import MICROSECONDS, Choice, Number, Switch
from engine.core.outputs import Output, Presenter, Views
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
from engine.simulate.streams.kernel_trace import (
    KernelTrace,
    LaunchInterval,
    TracedKernel,
    launch_intervals,
    trace_kernels,
)

_MODEL, GPU = MODELS["llama-3-8b"], ACCELERATORS["H100-SXM"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
    """The kernel trace and its summary figures."""

    end: Annotated[
        Seconds,
        Output("One layer, forward", color="compute", assumes=("Until the last kernel ends.",)),
    ]
    busy: Annotated[
        Share,
        Output(
            "GPU utilization",
            note="as nvidia-smi counts: some kernel runs",
            assumes=("The time with a kernel over the time.",),
            sources=("nvml_utilization",),
        ),
    ]
    used: Annotated[
        Share,
        Output(
            "Of the peak",
            assumes=("All operations over the time and the dense 16-bit peak.",),
        ),
    ]
    launching: Annotated[
        Seconds, Output("Launching", assumes=("All launches, one after the other.",))
    ]
    kernels: Annotated[Count, Output("Kernels", assumes=("One for each operator.",))]
    trace: KernelTrace
    notes: tuple[LaunchInterval, ...]
    idle: Annotated[
        Seconds,
        Output("GPU idle", assumes=("The time of the layer without any kernel.",)),
    ]
    ahead: Annotated[
        Seconds,
        Output(
            "CPU ahead, at most",
            note="from the end of a launch to the start of its kernel",
            assumes=("The largest wait of a launched kernel in the queue.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    reached = achieved_shares(GPU)
    rates = GPU.peak["fp16"] * reached.matmul, GPU.memory_bandwidth * reached.memory
    operators = layer_operators(
        _MODEL, inputs.tokens, inputs.tokens, fused=inputs.fused, flash=True
    )
    lengths = tuple(
        roofline_time(operator.operations, operator.moved, *rates) for operator in operators
    )
    played = trace_kernels(operators, lengths, inputs.launch)
    return Result(
        end=played.end,
        busy=played.busy,
        used=played.operations / played.end / GPU.peak["fp16"],
        launching=len(operators) * inputs.launch,
        kernels=len(operators),
        trace=played,
        notes=(notes := launch_intervals(played)),
        idle=sum(interval.idle for interval in notes),
        ahead=max(interval.ahead for interval in notes),
    )


TITLE = "A trace of one layer"
QUESTION = "What does a profiler show of one layer, and which row is worth your time?"
HEADLINE = "end"
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
    present = Presenter(result, inputs)
    return {
        **present.values("end"),
        "verdict": _verdict(present, result),
        "timeline": partial(_timeline, present, inputs, result),
        **present.values("busy", "idle", "ahead", "used", "launching", "kernels"),
        "notes": partial(_interval_table, present, result),
        "rows": partial(_kernel_table, present, result),
        "launches": partial(_launch_table, present),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.busy < 0.9:
        return Badge(
            text="Waiting for the CPU",
            sentence="Some kernels end before the next one is launched.",
            color="communication",
        )
    return Badge(
        text="The GPU is busy",
        sentence=present.say("Launches are ahead of the GPU; it reaches {used} of its peak."),
        color="compute",
    )


def _timeline(present: Presenter, inputs: Inputs, result: Result) -> Timeline:
    end = result.end * (1.0 if inputs.shown == "all" else 0.5)
    drawn = [span for item in result.trace.kernels for span in _kernel_spans(item)]
    drawn += [_interval_span(number, item) for number, item in enumerate(result.notes)]
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
        "says why the kernels above it start when they do. Choose an idle place to see what it "
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


def _interval_span(number: int, interval: LaunchInterval) -> Span:
    """Return the timeline span that marks a launch-bound or queued stretch."""
    name = _LATE if interval.late else _QUEUED
    return Span(
        key=f"note-{number}",
        lane="notes",
        start=interval.start,
        end=interval.end,
        label=name,
        color="muted" if interval.late else "ink",
        called=f"{name}, {interval.kernels} kernel{'s' if interval.kernels > 1 else ''}",
    )


def _interval_table(present: Presenter, result: Result) -> Table:
    """Return the table of stretches in the order of the trace."""
    rows = []
    for interval in result.notes:
        length = interval.end - interval.start
        rows.append(
            (
                _LATE if interval.late else _QUEUED,
                present.say("{t}", t=(interval.start, SECONDS)),
                present.say("{t}", t=(length, SECONDS)),
                present.say("{n}", n=(interval.kernels, COUNT)),
                present.say(
                    "{t}, {s}", t=(interval.idle, SECONDS), s=(interval.idle / length, SHARE)
                ),
                present.say("{t}", t=(interval.ahead, SECONDS)),
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


def _kernel_spans(kernel: TracedKernel) -> tuple[Span, ...]:
    key, name = kernel.operator.key, _NAMES[kernel.operator.key]
    launch = Span(
        key=f"launch-{key}",
        lane="cpu",
        start=kernel.launched,
        end=kernel.ready,
        label="",
        color="communication",
        called=f"launch of {name}",
        links=(f"kernel:{key}",),
    )
    run = Span(
        key=key,
        lane="gpu",
        start=kernel.start,
        end=kernel.end,
        label=name,
        color="compute" if kernel.operator.is_product else "memory",
        after=(f"launch-{key}",),
        links=(f"kernel:{key}",),
    )
    return launch, run


def _kernel_table(present: Presenter, result: Result) -> Table:
    """Return the trace's rows as a profiler lists them."""
    peak, bandwidth = GPU.peak["fp16"], GPU.memory_bandwidth
    rows = []
    for kernel in result.trace.kernels:
        rate = kernel.operator.operations / kernel.length
        moved = kernel.operator.moved / kernel.length
        rows.append(
            (
                _NAMES[kernel.operator.key],
                present.say("{t}", t=(kernel.length, SECONDS)),
                present.say("{g}", g=(kernel.start - kernel.ready, SECONDS)),
                present.say("{r}, {s}", r=(rate, FLOP_RATE), s=(rate / peak, SHARE)),
                present.say("{b}, {s}", b=(moved, BANDWIDTH), s=(moved / bandwidth, SHARE)),
            )
        )
    return Table(
        title="The rows of the trace",
        columns=("Kernel", "Runs", "Waited in the queue", "Computes", "Moves"),
        rows=tuple(rows),
        links=tuple((f"kernel:{kernel.operator.key}",) for kernel in result.trace.kernels),
        caption="A product that computes at two thirds of the peak is limited by computation, a "
        "kernel that moves at nine tenths of the bandwidth by memory: more is seldom reached.",
    )


_LAUNCH_KINDS = {
    "host alone": "one element added, until the call returns",
    "eager": "one element added, one call after the other",
    "eager product": "a product of 128 by 128, likewise",
    "graph of one": "one element added, in a CUDA graph of its own",
    "graph": "one element added, many in one CUDA graph",
    "graph product": "a product of 128 by 128, likewise",
}


def _launch_table(present: Presenter) -> Table:
    """Return the table of measured launch times on two machines."""
    return Table(
        title="The smallest kernels, measured",
        columns=("What runs", "H100 and its host", "H200 and its host"),
        rows=tuple(
            (name, *(present.say("{t}", t=(time, SECONDS)) for time in OWN_LAUNCHES[key]))
            for key, name in _LAUNCH_KINDS.items()
        ),
        caption=f"Measured by us on one GPU each, {OWN_DATE}, PyTorch 2.11: time of each. Nothing "
        "here is modeled.",
    )
