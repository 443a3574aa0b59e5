"""Inputs and charts of the ZeRO-2 and ZeRO-3 labs at real scale."""

from collections.abc import Mapping
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, Choice, Number
from engine.core.outputs import Output, Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, Gbit
from engine.core.views import Axis, Badge, Lane, Rule, Segment, Series, Span, Timeline, Value
from engine.form.run.prediction_text import no_range_assumptions
from engine.run.parallelism import Framework, GradientPrecision
from engine.run.software import GRADIENT_BYTES, SOFTWARE
from engine.simulate.data_parallel.sharded_step import CLOSING, ShardedStep
from engine.simulate.memory.allocator import Verdict
from engine.simulate.step.prediction_evidence import Evidence
from engine.simulate.streams.exposed_time import SpanPart
from engine.simulate.streams.streams import COMPUTE, StreamOp

OFFERED = ("llama-3-8b", "llama-2-13b", "llama-3-70b", "llama-3-405b", "gpt-3-175b")
LabModel = Annotated[
    str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in OFFERED})
]
LabRanks = Annotated[
    int, Number(label="GPUs", low=2, high=4096, scale="log2", whole=True, symbol="N")
]
LabTokens = Annotated[
    int,
    Number(
        label="Tokens of a micro-batch",
        low=512,
        high=131_072,
        scale="log2",
        whole=True,
        symbol="t",
        help="On one GPU, in one forward and backward pass.",
    ),
]
LabMicro = Annotated[int, Number(label="Micro-batches per step", low=1, high=8, whole=True)]
LabPort = Annotated[
    float,
    Number(
        label="Network port per GPU",
        unit=GBITS,
        low=3.125 * Gbit,
        high=1600 * Gbit,
        scale="log",
        help="Line rate, one way. One port of 100 Gb/s for eight GPUs is 12.5 Gb/s for each.",
    ),
]
LabGradients = Annotated[
    GradientPrecision,
    Choice(
        label="Gradients are reduced in",
        options={"fp32": "fp32", "bf16": "bf16"},
        help="torchtitan reduces in fp32 unasked; fms-fsdp, LLM Foundry (PURE) and DeepSpeed in "
        "the type of the parameters.",
    ),
]


def gradient_setting(framework: Framework, gradient: GradientPrecision) -> GradientPrecision:
    """Return the run's setting for this type of gradients: "" where it is the default."""
    usual = GRADIENT_BYTES[gradient] == SOFTWARE[framework].gradient
    return "" if usual else gradient


SIMULATED: tuple[str, ...] = (
    "The step of the estimate, played: its passes, collectives, optimizer, host and slowest GPU.",
    "Units are equal: embedding and output layer are taken as one of them. Collectives as NCCL "
    "runs them, one at a time on the wire.",
)


def simulated_output(sources: tuple[str, ...], label: str, note: str, color: str = "ink") -> Output:
    """Return the output declaration for a number of a simulated step."""
    return Output(
        label, note=note, color=color, assumes=SIMULATED, sources=sources, basis="simulated"
    )


def step_segments(step: ShardedStep) -> tuple[Segment, ...]:
    """Return the segments of a step's bar: passes, exposed communication, and what closes it."""
    waits = step.account.exposed
    return (
        Segment(
            key="compute",
            label="computing",
            value=step.step - waits - step.closing,
            color="compute",
        ),
        Segment(key="exposed", label="exposed", value=waits, color="communication"),
        Segment(
            key="closing",
            label="optimizer, host, slowest GPU",
            value=step.closing,
            color="optimizer",
        ),
    )


def simulated_step(present: Presenter, evidence: Evidence) -> Value:
    """Return the simulated step, with nearby measured runs."""
    return present.value("step_time", assumes=(*SIMULATED, *no_range_assumptions(evidence)))


_LANES: Mapping[str, str] = {
    COMPUTE: "compute",
    "gather": "all-gather",
    "reduce": "reduce",
    "across": "all-reduce of shards",
}


def lane_of(key: str, stream: str) -> str:
    """Return the lane of an operation: FSDP2 has a stream for each kind of collective."""
    if stream == COMPUTE:
        return COMPUTE
    if key.endswith(":replicas"):
        return "across"
    return "gather" if key.startswith("gather") or key.endswith(":parameters") else "reduce"


def step_timeline(title: str, step: ShardedStep, caption: Text) -> Timeline:
    """Return the step on its streams, memory below."""
    end = step.step
    lanes = {lane_of(span.op.key, span.op.stream) for span in step.spans}
    xs = tuple(at for at, _ in step.memory)
    ys = tuple(size for _, size in step.memory)
    high = max(step.peak, min(step.capacity, 2 * step.peak)) * 1.1
    return Timeline(
        title=title,
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.01),
        lanes=tuple(Lane(key=key, label=name) for key, name in _LANES.items() if key in lanes),
        spans=tuple(_drawn(part, step) for part in step.parts),
        curves=(
            Series(
                key="memory",
                label="states and buffers",
                x=(*xs, end),
                y=(*ys, ys[-1]),
                color="buffers",
            ),
        ),
        curve_axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        caption=caption,
        player=True,
    )


def _drawn(part: SpanPart, step: ShardedStep) -> Span:
    op = part.ran.op
    return Span(
        key=part.key,
        lane=lane_of(op.key, op.stream),
        start=part.start,
        end=part.end,
        label=unit_label(op.label, step),
        color=_color(op),
        exposed=part.exposed,
        links=op.links[:2],
        after=op.after if part.number == 1 else (),
    )


def _color(op: StreamOp) -> str:
    if op.key in CLOSING:
        return "optimizer"
    return "compute" if op.stream == COMPUTE else "communication"


def unit_label(label: str, step: ShardedStep) -> str:
    """Return the label with what a unit is: layers, embedding with output layer, or a bucket."""
    head, separator, number = label.rpartition("layer ")
    layers, units = step.job.unit, step.job.work.layers
    if not separator or not number.isdigit():
        return label
    if not layers:
        return f"{head}bucket {number} of {units}" if units > 1 else head.rstrip(", ")
    if units == 1:
        return f"{head}the whole model"
    if int(number) == units:
        return f"{head}embedding and output layer"
    last = int(number) * layers
    return label if layers == 1 else f"{head}layers {last - layers + 1}\N{EN DASH}{last}"


_FITS: Mapping[Verdict, str] = {
    "fits": "The states fit",
    "tight": "The states are tight",
    "does not fit": "The states do not fit",
}


def fit_badge(present: Presenter, step: ShardedStep) -> Badge:
    """Return whether states and buffers fit on the GPU."""
    fit = step.fit
    needs = say(
        "{m} at most for states, buffers and what the process holds beside tensors, of {r} that "
        "may be filled and {d} on the GPU; activations come on top.",
        m=(fit.needed, BYTES),
        r=(fit.usable, BYTES),
        d=(fit.device, BYTES),
    )
    return Badge(
        text=_FITS[fit.verdict],
        sentence=needs,
        color="optimizer" if fit.verdict == "fits" else "communication",
    )


def capacity_rule(step: ShardedStep) -> Rule:
    """Return the reference line of usable GPU memory."""
    return Rule(key="room", label=say("{r}", r=(step.capacity, BYTES)), axis="x", at=step.capacity)
