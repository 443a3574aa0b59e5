"""The napkin of 14 buckets: their number, the time of each, and the exposed time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Annotated

from engine.core.inputs import BILLIONS, ELEMENTS, PERCENT, Number, Scalar, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text
from engine.core.units import GIGA, MEGA, SECONDS, Bytes, Count, Gbit, Seconds, Share
from engine.core.views import (
    Axis,
    Badge,
    Lane,
    Line,
    Lines,
    Published,
    Scale,
    Span,
    Timeline,
)
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.knobs import KnobPort
from engine.form.sharded.lab import LabRanks, LabTokens
from engine.simulate.data_parallel.reduce_buckets import (
    BucketedBackward,
    BucketJob,
    BucketTimes,
    bucket_times,
    bucketed_backward,
    composed_wait,
)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "0.3B: one bucket": {"parameters": 0.3 * GIGA},
    "0.3B, buckets of 25 M": {"parameters": 0.3 * GIGA, "bucket": 25 * MEGA},
    "All-reduce, as stages 1 and 2 do": {"whole": True},
    "64 GPUs, ports of 100 Gb/s": {"ranks": 64, "port": 100 * Gbit},
}
BUCKETS = (1 * MEGA, 4 * GIGA)
MODELS = (0.1 * GIGA, 100 * GIGA)
_ASSUMES = (
    "Gradients in bf16, complete at an even pace; one reduction on the wire at a time.",
    "Nodes of eight GPUs. Attention scores are left out.",
    "A bound: the pass is not slower beside reductions, and the embedding's gradient is complete "
    "with the others.",
)


def _output(label: str, note: str, color: str = "ink") -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=_ASSUMES,
        sources=("deepspeed_config",),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs; M is a million elements."""

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
        Number(
            label="MFU while computing",
            unit=PERCENT,
            low=0.1,
            high=1.0,
            step=0.01,
            help="Of the dense bf16 peak, with four operations per parameter and token in the "
            "backward pass (6P by convention, without attention scores).",
        ),
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
    """Exposed and total reduction time of full buckets over the range of an input."""

    x: tuple[float, ...]
    exposed: tuple[Seconds, ...]
    isolated: tuple[Seconds, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The buckets of a backward pass, and the curves by input."""

    pieces: Lazy[tuple[BucketTimes, ...]]
    curves: Mapping[str, Lazy[Curve]]
    buckets: Annotated[
        Count,
        Output(
            "Buckets",
            note="of {bucket} elements at most",
            assumes=("Parameters over the size of a bucket, rounded up.",),
            sources=("deepspeed_config",),
        ),
    ]
    computing: Annotated[Seconds, _output("To compute a bucket", "backward", "compute")]
    sending: Annotated[Seconds, _output("To reduce it", "alone on the wire", "communication")]
    exposed: Annotated[
        Seconds, _output("Exposed, a bound", "of {isolated} in all", "communication")
    ]
    composed: Annotated[
        Seconds,
        Output(
            "By the estimate",
            note="what a step waits for them, contention included",
            color="communication",
            assumes=(
                "A dense model of so many parameters with the proportions of the nearest Llama, "
                "under DeepSpeed's stage 2, which all-reduces unasked. Its kernels set the pace of "
                "the backward pass, not the MFU above.",
                "Equal buckets, and the embedding's behind the pass. Passes are slower beside "
                "reductions. Without overlap, all is one message.",
            ),
            sources=("deepspeed_config",),
        ),
    ]
    share: Annotated[Share, _output("Exposed share", "of all reductions", "communication")]
    isolated: Annotated[Seconds, _output("All reductions", "one after the other", "communication")]
    buffers: Annotated[
        Bytes,
        _output("Memory of the buckets", "allocated whole, however small the model", "buffers"),
    ]
    backward: Annotated[Seconds, _output("Backward pass", "alone", "compute")]


def _job(inputs: Inputs) -> BucketJob:
    """Return the job of the inputs."""
    return BucketJob(
        parameters=inputs.parameters,
        bucket=inputs.bucket,
        tokens=inputs.tokens,
        utilization=inputs.utilization,
        gpu=inputs.gpu,
        ranks=inputs.ranks,
        port=inputs.port,
        whole=inputs.whole,
        overlap=inputs.overlap,
        own_constants=inputs.own_constants,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = _job(inputs)
    ran = bucketed_backward(job)
    return Result(
        pieces=Lazy(partial(bucket_times, job)),
        curves={
            "bucket": Lazy(partial(_curve, job, "bucket", BUCKETS)),
            "parameters": Lazy(partial(_curve, job, "parameters", MODELS)),
        },
        buckets=ran.count,
        computing=ran.computing,
        sending=ran.sending,
        exposed=ran.exposed,
        composed=composed_wait(job),
        share=ran.exposed / ran.isolated,
        isolated=ran.isolated,
        buffers=ran.buffers,
        backward=ran.backward,
    )


def _curve(job: BucketJob, name: str, ends: tuple[float, float]) -> Curve:
    low, high = ends
    xs = tuple(low * (high / low) ** (i / 60) for i in range(61))
    jobs = [replace(job, **{name: x}) for x in xs]
    return Curve(
        x=xs,
        exposed=tuple(_with_full_buckets(job).exposed for job in jobs),
        isolated=tuple(bucketed_backward(job).isolated for job in jobs),
    )


def _with_full_buckets(job: BucketJob) -> BucketedBackward:
    """Return the backward pass of a job with its model size rounded to full buckets."""
    if job.bucket >= job.parameters:
        return bucketed_backward(job)
    return bucketed_backward(
        replace(job, parameters=ceil(job.parameters / job.bucket) * job.bucket)
    )


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
        spans += _reduction_spans(number, (piece.start, piece.end), ran[-1].ready, inputs, links)
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


def _reduction_spans(
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


def curve(present: Presenter, result: Result, name: str, over: str, title: str) -> Lines:
    """Return the chart of exposed time over the bucket size or the parameters."""
    points = result.curves[name]()
    low, high = min(points.exposed) / 2, max(points.isolated) * 2
    return present.curve(
        title,
        over=Scale(name, over, points.x[0], points.x[-1], log=True),
        shows=Scale("exposed", "time", low, high, log=True),
        x=points.x,
        lines=(
            Line("exposed", "exposed", points.exposed, "communication"),
            Line("whole", "all reductions", points.isolated, "ink", dashed=True),
        ),
        now="{exposed}, {buckets} buckets" if result.buckets > 1 else "{exposed}, 1 bucket",
        caption="The line is for a full last bucket; a partly filled one exposes less. Both axes "
        "are logarithmic. Drag the handle.",
    )


TITLE = "Why 14 buckets are enough"
QUESTION = "How much of the reduction of gradients is left when the backward pass ends?"
HEADLINE = "composed"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "timeline": partial(timeline, inputs, result),
        **present.values("exposed", "composed", "buckets"),
        "computing": present.value("computing", published=_published(present, inputs)),
        "sending": present.value("sending"),
        "regime": _regime(present, inputs, result),
        "curve": partial(
            curve,
            present,
            result,
            "bucket",
            "elements of a bucket",
            "Exposed reduction against the size of a bucket",
        ),
        "models": partial(
            curve,
            present,
            result,
            "parameters",
            "parameters",
            "Exposed reduction against the size of the model",
        ),
        **present.values("share", "buffers", "isolated", "backward"),
    }


def _published(present: Presenter, inputs: Inputs) -> Published:
    """Return the published napkin: 3 TFLOP per billion parameters at 1 PFLOP/s, 800 GB/s."""
    size = min(inputs.bucket, inputs.parameters)
    return Published(
        text=present.say(
            "a published page: {c} to compute a bucket, {m} to send it",
            c=(3e3 * size / 1e15, SECONDS),
            m=(2 * size / 800e9, SECONDS),
        ),
        reason="It computes at the full peak, with about 750 tokens, and counts both directions "
        "of the link.",
        source="vizuara_guides",
        claim="E1.7",
    )


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if not inputs.overlap:
        return Badge(
            text="Nothing hides",
            sentence=present.say("The backward pass stops for every bucket: {exposed} in all."),
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
            sentence=present.say(
                "A bucket takes {sending} to reduce and {computing} to compute: they queue up."
            ),
            color="communication",
        )
    return Badge(
        text="Only the last bucket is exposed",
        sentence=present.say(
            "A bucket takes {computing} to compute and {sending} to reduce. Each is gone before "
            "the next is full."
        ),
        color="compute",
    )
