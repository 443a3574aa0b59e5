"""The bucket lab: a real model's gradients in buckets, behind its backward pass."""

import math
from collections.abc import Mapping
from functools import partial
from itertools import groupby

from engine.calculators.data_parallelism.bucket_lab.result import SIZES, Inputs, Result
from engine.calculators.data_parallelism.bucket_lab.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, MILLI, SECONDS, Gbit, MiB, with_digits
from engine.core.views import (
    Badge,
    Challenge,
    Condition,
    Grip,
    Lane,
    Line,
    Lines,
    Published,
    Rule,
    Scale,
    Span,
    Table,
    Timeline,
)
from engine.form.run.prediction_text import no_range_assumptions, value_with_range
from engine.run.software import DDP_BUCKET
from engine.simulate.data_parallel.gradient_buckets import GradientBucket
from engine.simulate.streams.streams import COMPUTE, NETWORK
from engine.simulate.streams.streams import OpSpan as StreamSpan

FORMERLY = {"utilization": ""}
TITLE = "The bucket lab"
QUESTION = "What does a step wait for, with buckets of this size?"
HEADLINE = "step_time"
PRESETS = {
    "Contention as measured": {"slow_down": 0.19},
    "One machine, 8 GPUs": {"world_size": 8},
    "One port of 100 Gb/s per node": {"port": 100 * Gbit, "ports": 1},
    "8B on B200: too large for 80 GB": {"model": "llama-3-8b", "gpu": "b200"},
    "Buckets of 250 MiB": {"bucket": 250 * MiB, "slow_down": 0.19},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    eta = Published(
        text=present.say("a published page's overlap efficiency: {published_overlap}"),
        reason="It divides communication by the backward pass, so it is small where all of it "
        "hides.",
        source="pingdo_pipeline",
        claim="E4.42",
    )
    return {
        "step_time": present.value("step_time", assumes=no_range_assumptions(result.evidence)),
        "exposed": present.value("exposed"),
        "hidden": present.value("hidden", published=eta),
        "regime": regime(present, result),
        "timeline": partial(timeline, present, result),
        "curve": partial(curve, present, inputs, result),
        "estimate": value_with_range(present, "estimate", result.evidence),
        **present.values(
            "output_first",
            "optimizer",
            "other",
            "contention",
            "num_buckets",
            "last_size",
            "last_share",
            "isolated",
        ),
        "fits": fits_badge(present, result),
        "contents": partial(bucket_table, result),
        **present.values("first_layer", "layers", "bucket_parameters", "even_buckets", "states"),
        "challenge": partial(challenge, inputs, result),
    }


# Views of the bucket lab: two streams, the bucket-size curve, and the bucket contents.

_ROWS = 9


def timeline(present: Presenter, result: Result) -> Timeline:
    """Return both streams: layers above, buckets below."""
    ran = result.ran
    computing = [span for span in ran.spans if span.op.stream == COMPUTE]
    return Timeline(
        title="One step on two streams",
        axis=present.axis("step_time", "time", low=0.0, high=result.step_time * 1.01),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=NETWORK, label="network")),
        spans=(*_layer_spans(result, computing), *_bucket_spans(result)),
        caption="Above, the passes of the layers; below, the all-reduces of the buckets. Hatched: "
        "nothing is computed meanwhile. Drag the end of a bucket to change the size of all. Save "
        "the figure as a trace to open it in Perfetto.",
        player=True,
        grips=_size_grip(present, result),
    )


# Marks of a decade on the logarithmic scale of sizes, and the least share of the axis for one.
_MARKS, _LEAST_NOTCH = 180, 0.004


def _size_grip(present: Presenter, result: Result) -> tuple[Grip, ...]:
    """Return the end of the first bucket of several gradients, later the larger it is."""
    ran = result.ran
    # One that a single gradient overfills is as large at any limit.
    several = (bucket for bucket in ran.buckets if len(bucket.tensors) > 1)
    filled = next(several, ran.buckets[0])
    end = max(part.end for part in ran.parts if part.ran.op.key == f"bucket {filled.number}")
    begin = min(span.start for span in ran.spans if span.op.stream == COMPUTE)
    return (
        Grip(
            input="bucket",
            lane=NETWORK,
            at=end,
            notch=max((end - begin) * math.log(10) / _MARKS, _LEAST_NOTCH * result.step_time),
            label=f"End of bucket {filled.number}",
            text=say("buckets of {n} MiB", n=(present.number("bucket")[0] / MiB, COUNT)),
        ),
    )


def _layer_spans(result: Result, computing: list[StreamSpan]) -> list[Span]:
    """Return the spans of the compute stream, the tensors of a layer merged."""
    spans = []
    for name, group in groupby(computing, key=lambda span: _pass_name(result, span)):
        tensor_spans = list(group)
        start, end = tensor_spans[0].start, tensor_spans[-1].end
        if end <= start:
            continue
        after = tuple(
            key for span in tensor_spans for key in span.op.after if key.startswith("bucket")
        )
        spans.append(
            Span(
                key=name,
                lane=COMPUTE,
                start=start,
                end=end,
                label=name,
                color="compute",
                links=tensor_spans[0].op.links,
                after=after,
            )
        )
    return spans


def _pass_name(result: Result, span: StreamSpan) -> str:
    """Return the name of a span's pass: of a layer, or the optimizer."""
    links = span.op.links
    if not links:
        return span.op.label
    layer = int(links[0].partition(":")[2])
    if layer == 0:
        return "backward, embedding"
    return f"backward, layer {layer}" if layer <= result.layers else "backward, output"


def _bucket_spans(result: Result) -> list[Span]:
    ran = result.ran
    span_by_key = {span.op.key: span for span in ran.spans}
    buckets = {f"bucket {bucket.number}": bucket for bucket in ran.buckets}
    spans = []
    for part in ran.parts:
        op = part.ran.op
        if op.key not in buckets:
            continue
        bucket = buckets[op.key]
        waits = _pass_name(result, span_by_key[op.after[0]])
        spans.append(
            Span(
                key=part.key,
                lane=NETWORK,
                start=part.start,
                end=part.end,
                label=f"{bucket.number}",
                called=f"all-reduce of bucket {bucket.number}: {_bucket_words(bucket)}",
                color="communication",
                exposed=part.exposed,
                links=op.links,
                after=(waits,) if part.number == 1 else (),
            )
        )
    return spans


def _bucket_words(bucket: GradientBucket) -> str:
    """Return a short description of a bucket's tensors."""
    first, last = bucket.tensors[0], bucket.tensors[-1]
    count = len(bucket.tensors)
    return first.title if count == 1 else f"{count} tensors, {first.title} to {last.title}"


def curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the chart of exposed time and contention over the bucket size."""
    cost = result.curve()
    exposed = tuple(step.account.exposed for step in cost)
    lost = tuple(step.account.exposed + step.contention for step in cost)
    high = max(*lost, result.exposed + result.contention) * 1.15
    now = result.exposed + result.contention
    return present.curve(
        "What communication costs the step, against the size of a bucket",
        over=Scale("bucket", "bucket", 1 * MiB, 500 * MiB, log=True),
        shows=Scale("exposed", "added to the step", 0.0, high),
        x=(size * MiB for size in SIZES),
        lines=(
            Line("exposed", "exposed", exposed, "communication"),
            Line("lost", "and contention", lost, "compute"),
        ),
        at=now,
        rules=(
            Rule(key="default", label="PyTorch: 25 MiB", axis="x", at=DDP_BUCKET, color="muted"),
        ),
        caption="The axis of sizes is logarithmic.",
    )


def bucket_table(result: Result) -> Table:
    """Return the table of the first buckets and the last bucket."""
    buckets = result.ran.buckets
    spans = {span.op.key: span for span in result.ran.spans}
    shown = buckets if len(buckets) <= _ROWS else (*buckets[: _ROWS - 2], *buckets[-2:])
    rows: list[tuple[Text, ...]] = []
    for bucket in shown:
        ran = spans[f"bucket {bucket.number}"]
        rows.append(
            (
                f"{bucket.number}",
                _bucket_words(bucket),
                say("{s}", s=(bucket.parameters * result.element, BYTES)),
                say("{t}", t=(spans[ran.op.after[0]].end, SECONDS)),
                say("{t}", t=(ran.start, SECONDS)),
                say("{t}", t=(ran.end, SECONDS)),
            )
        )
    left = len(buckets) - len(shown)
    return Table(
        title="What each bucket holds",
        columns=("Bucket", "Gradients", "Size", "Complete", "Starts", "Ends"),
        rows=tuple(rows),
        caption=f"{left} buckets between them are left out." if left else "",
        links=tuple((f"bucket:{bucket.number}",) for bucket in shown),
    )


def regime(present: Presenter, result: Result) -> Badge:
    """Return the badge on the exposed time and its cause."""
    ran = result.ran
    if not result.setting.overlap or ran.tail >= ran.isolated * 0.999:
        return Badge(
            text="Nothing hides",
            sentence="The first bucket is complete only when the backward pass ends."
            if result.setting.overlap
            else "All buckets wait for the end of the backward pass.",
            color="communication",
        )
    spans = {span.op.key: span for span in ran.spans}
    before, ends = (spans[f"bucket {len(ran.buckets) - back}"] for back in (1, 0))
    # A bucket that is on its way when the last one is full is no queue.
    if before.start <= spans[ends.op.after[0]].end:
        return Badge(
            text="Only the last bucket is exposed",
            sentence=present.say("It holds {last_size}, {last_share} of the gradient."),
            color="compute",
        )
    return Badge(
        text="Buckets queue at the end",
        sentence="When the backward pass ends, the network still works on earlier buckets.",
        color="communication",
    )


def fits_badge(present: Presenter, result: Result) -> Badge:
    """Return whether plain data parallelism has room for all states."""
    if result.states <= result.room:
        return Badge(
            text="The states fit",
            sentence=present.say(
                "{states} of states on each GPU, of {room} that can be used; activations come on "
                "top."
            ),
            color="optimizer",
        )
    return Badge(
        text="The states do not fit",
        sentence=present.say(
            "{states} of states on each GPU, of {room} that can be used: plain data parallelism "
            "cannot train this model here. Shard the states."
        ),
        color="communication",
    )


# The challenge of the bucket lab: the fastest step on a machine with contention.

START: Mapping[str, Scalar] = {"slow_down": 0.19, "tokens": 1024, "world_size": 512}
SOLUTION: Mapping[str, Scalar] = {**START, "bucket": 400 * MiB}
_TARGET = 160 * MILLI


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    fixed = (inputs.model, inputs.gpu, inputs.dtype, inputs.tokens, inputs.world_size)
    links = (inputs.port, inputs.ports, inputs.slow_down)
    conditions = (
        Condition(
            text="Llama 3.2 3B with gradients in fp32 on 512 H100, 1,024 tokens per GPU",
            met=fixed == ("llama-3.2-3b", "h100", "fp32", 1024, 512),
        ),
        Condition(
            text="eight ports of 400 Gb/s, 19 % contention",
            met=links == (400 * Gbit, 8, 0.19),
        ),
        Condition(
            text=say("a step of at most {t}", t=(_TARGET, with_digits(SECONDS))),
            met=result.step_time <= _TARGET,
        ),
    )
    return Challenge(
        title="Challenge: the right size",
        goal=say(
            "Few tokens on many GPUs, with contention. Bring the step to {t}.",
            t=(_TARGET, with_digits(SECONDS)),
        ),
        conditions=conditions,
        hints=(
            "Each all-reduce has its latency, and while it waits the multiprocessors are taken.",
            "Too large a bucket leaves a long tail. Too many small ones keep the wire busy longer.",
        ),
        start=START,
        solution=SOLUTION,
    )
