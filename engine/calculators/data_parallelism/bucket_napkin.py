"""The napkin of 14 buckets: how many there are, what each takes, and what sticks out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Annotated

from engine.core.inputs import BILLIONS, ELEMENTS, PERCENT, Number, Scalar, Switch
from engine.core.lazy import Later
from engine.core.outputs import Teller, Told, Views
from engine.core.text import Text
from engine.core.units import GIGA, MEGA, SECONDS, Bytes, Count, Gbit, Seconds, Share
from engine.core.views import Axis, Badge, Lane, Lines, Point, Published, Series, Span, Timeline
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.knobs import KnobPort
from engine.form.sharded.lab import LabRanks, LabTokens
from engine.simulate.data_parallel.reduce_buckets import Job, Piece, Reduced, pieces, reduced

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "0.3B: one bucket": {"parameters": 0.3 * GIGA},
    "0.3B, buckets of 25 M": {"parameters": 0.3 * GIGA, "bucket": 25 * MEGA},
    "All-reduce, as stages 1 and 2 do": {"whole": True},
    "64 GPUs, ports of 100 Gb/s": {"ranks": 64, "port": 100 * Gbit},
}
BUCKETS = (1 * MEGA, 4 * GIGA)
MODELS = (0.1 * GIGA, 100 * GIGA)
_ASSUMED = (
    "Gradients in bf16, complete at an even pace; one reduction on the wire at a time.",
    "Nodes of eight GPUs. Attention scores are left out.",
)


def _told(label: str, note: str, color: str = "ink") -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=_ASSUMED,
        sources=("deepspeed_config",),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change; M is a million elements."""

    bucket: Annotated[
        float,
        Number(
            label="reduce_bucket_size",
            unit=ELEMENTS,
            low=BUCKETS[0],
            high=BUCKETS[1],
            scale="log",
            help="Elements, not bytes.",
        ),
    ] = 500 * MEGA
    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=MODELS[0], high=MODELS[1], scale="log"),
    ] = 7 * GIGA
    tokens: LabTokens = 4096
    utilization: Annotated[
        float,
        Number(label="MFU while computing", unit=PERCENT, low=0.1, high=1.0, step=0.01),
    ] = 0.4
    ranks: LabRanks = 8
    overlap: Annotated[
        bool, Switch(label="overlap_comm", help="Off, the backward pass stops for each bucket.")
    ] = True
    whole: Annotated[
        bool,
        Switch(
            label="All-reduce",
            help="What stages 1 and 2 send by default (use_multi_rank_bucket_allreduce).",
        ),
    ] = False
    port: KnobPort = 400 * Gbit
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What is exposed of full buckets, and all reductions, over the range of an input."""

    x: tuple[float, ...]
    exposed: tuple[Seconds, ...]
    isolated: tuple[Seconds, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The buckets of one backward pass, and input -> its curve."""

    pieces: Later[tuple[Piece, ...]]
    curves: Mapping[str, Later[Curve]]
    buckets: Annotated[
        Count,
        Told(
            "Buckets",
            note="of {bucket} elements at most",
            assumes=("Parameters over the size of a bucket, rounded up.",),
            sources=("deepspeed_config",),
        ),
    ]
    computing: Annotated[Seconds, _told("To compute a bucket", "backward", "compute")]
    sending: Annotated[Seconds, _told("To reduce it", "alone on the wire", "communication")]
    exposed: Annotated[Seconds, _told("Exposed", "of {isolated} in all", "communication")]
    share: Annotated[Share, _told("Exposed share", "of all reductions", "communication")]
    isolated: Annotated[Seconds, _told("All reductions", "one after the other", "communication")]
    buffers: Annotated[
        Bytes, _told("Memory of the buckets", "allocated whole, however small the model", "buffers")
    ]
    backward: Annotated[Seconds, _told("Backward pass", "alone", "compute")]


def _job(inputs: Inputs) -> Job:
    """Return the job of the inputs."""
    return Job(
        parameters=inputs.parameters,
        bucket=inputs.bucket,
        tokens=inputs.tokens,
        utilization=inputs.utilization,
        gpu=inputs.gpu,
        ranks=inputs.ranks,
        port=inputs.port,
        whole=inputs.whole,
        overlap=inputs.overlap,
        own=inputs.own_constants,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = _job(inputs)
    ran = reduced(job)
    return Result(
        pieces=Later(partial(pieces, job)),
        curves={
            "bucket": Later(partial(_curve, job, "bucket", BUCKETS)),
            "parameters": Later(partial(_curve, job, "parameters", MODELS)),
        },
        buckets=ran.count,
        computing=ran.computing,
        sending=ran.sending,
        exposed=ran.exposed,
        share=ran.exposed / ran.isolated,
        isolated=ran.isolated,
        buffers=ran.buffers,
        backward=ran.backward,
    )


def _curve(job: Job, name: str, ends: tuple[float, float]) -> Curve:
    low, high = ends
    xs = tuple(low * (high / low) ** (i / 60) for i in range(61))
    jobs = [replace(job, **{name: x}) for x in xs]
    return Curve(
        x=xs,
        exposed=tuple(_with_full_buckets(one).exposed for one in jobs),
        isolated=tuple(reduced(one).isolated for one in jobs),
    )


def _with_full_buckets(job: Job) -> Reduced:
    """Return the pass of a model whose last bucket is full too, if there are several."""
    if job.bucket >= job.parameters:
        return reduced(job)
    return reduced(replace(job, parameters=ceil(job.parameters / job.bucket) * job.bucket))


_SHOWN = 16


def timeline(inputs: Inputs, result: Result) -> Timeline:
    """Return the last buckets of the backward pass."""
    ran = result.pieces()
    first = max(0, len(ran) - _SHOWN)
    shown = ran[first:]
    begin = ran[first - 1].ready if first else 0.0
    spans: list[Span] = []
    previous = begin
    for number, piece in enumerate(shown, first + 1):
        links = (f"bucket:{number}",)
        spans.append(_span(f"B{number}", "compute", (previous, piece.ready), links))
        spans += _sent(number, (piece.start, piece.end), ran[-1].ready, inputs, links)
        previous = piece.end if not inputs.overlap else piece.ready
    end = ran[-1].end
    caption: Text = "Hatched: nothing is computed meanwhile."
    if first:
        caption = f"The last {_SHOWN} buckets. Hatched: nothing is computed meanwhile."
    return Timeline(
        title="The backward pass and its buckets",
        axis=Axis(label="time", quantity=SECONDS, low=begin, high=end + (end - begin) * 0.02),
        lanes=(Lane(key="compute", label="compute"), Lane(key="reduce", label="reduce")),
        spans=tuple(spans),
        caption=caption,
        player=True,
    )


def _span(
    key: str,
    lane: str,
    times: tuple[Seconds, Seconds],
    links: tuple[str, ...],
    *,
    exposed: bool = False,
) -> Span:
    number = key.split()[0].lstrip("BR")
    return Span(
        key=key,
        lane=lane,
        start=times[0],
        end=times[1],
        label=number,
        color="compute" if lane == "compute" else "communication",
        exposed=exposed,
        links=links,
        called=f"bucket {number}, " + ("backward" if lane == "compute" else "reduction"),
    )


def _sent(
    number: int,
    times: tuple[Seconds, Seconds],
    backward: Seconds,
    inputs: Inputs,
    links: tuple[str, ...],
) -> list[Span]:
    """Return a reduction in up to two parts: beside computation, and exposed."""
    start, end = times
    if not inputs.overlap or start >= backward:
        return [_span(f"R{number}", "reduce", times, links, exposed=True)]
    if end <= backward:
        return [_span(f"R{number}", "reduce", times, links)]
    return [
        _span(f"R{number} (1)", "reduce", (start, backward), links),
        _span(f"R{number}", "reduce", (backward, end), links, exposed=True),
    ]


def curve(tell: Teller, inputs: Inputs, result: Result, name: str) -> Lines:
    """Return what is exposed over the range of an input: the bucket or the parameters."""
    found = result.curves[name]()
    xs, exposed, whole = found.x, found.exposed, found.isolated
    return Lines(
        title="Exposed reduction against the size of a bucket"
        if name == "bucket"
        else "Exposed reduction against the size of the model",
        x=tell.axis(
            name,
            "elements of a bucket" if name == "bucket" else "parameters",
            low=xs[0],
            high=xs[-1],
            scale="log",
        ),
        y=tell.axis("exposed", "time", low=min(exposed) / 2, high=max(whole) * 2, scale="log"),
        series=(
            Series(key="exposed", label="exposed", x=xs, y=exposed, color="communication"),
            Series(key="whole", label="all reductions", x=xs, y=whole, color="ink", dashed=True),
        ),
        points=(
            Point(
                key="now",
                label=tell.say(
                    "{exposed}, {buckets} buckets" if result.buckets > 1 else "{exposed}, 1 bucket"
                ),
                x=getattr(inputs, name),
                y=result.exposed,
            ),
        ),
        handle=name,
        caption="The line is for a full last bucket; a partly filled one exposes less. Both axes "
        "are logarithmic. Drag the handle.",
    )


TITLE = "Why 14 buckets are enough"
QUESTION = "How much of the reduction of gradients is left when the backward pass ends?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "timeline": partial(timeline, inputs, result),
        **tell.values("exposed", "buckets"),
        "computing": tell.value("computing", published=_published(tell, inputs)),
        "sending": tell.value("sending"),
        "regime": _regime(tell, inputs, result),
        "curve": partial(curve, tell, inputs, result, "bucket"),
        "models": partial(curve, tell, inputs, result, "parameters"),
        **tell.values("share", "buffers", "isolated", "backward"),
    }


def _published(tell: Teller, inputs: Inputs) -> Published:
    """Return the published napkin: 3 TFLOP per billion parameters at 1 PFLOP/s, 800 GB/s."""
    size = min(inputs.bucket, inputs.parameters)
    return Published(
        text=tell.say(
            "a published page: {c} to compute a bucket, {m} to send it",
            c=(3e3 * size / 1e15, SECONDS),
            m=(2 * size / 800e9, SECONDS),
        ),
        reason="It computes at the full peak, with about 750 tokens, and counts both directions "
        "of the link.",
        source="vizuara_guides",
        claim="E1.7",
    )


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if not inputs.overlap:
        return Badge(
            text="Nothing hides",
            sentence=tell.say("The backward pass stops for every bucket: {exposed} in all."),
            color="communication",
        )
    if result.buckets == 1:
        return Badge(
            text="One bucket, no overlap",
            sentence="The bucket is complete only when the backward pass is over. "
            "A smaller bucket is what helps.",
            color="communication",
        )
    if result.sending > result.computing:
        return Badge(
            text="The wire is slower",
            sentence=tell.say(
                "A bucket takes {sending} to reduce and {computing} to compute: they queue up."
            ),
            color="communication",
        )
    return Badge(
        text="Only the last bucket is exposed",
        sentence=tell.say(
            "A bucket takes {computing} to compute and {sending} to reduce. Each is gone before "
            "the next is full."
        ),
        color="compute",
    )
