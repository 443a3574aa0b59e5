"""The pictures of the bucket lab: two streams, the sizes of buckets, what each bucket holds."""

from itertools import groupby

from engine.calculators.data_parallelism.bucket_lab.inputs import Inputs
from engine.calculators.data_parallelism.bucket_lab.result import SIZES, Result
from engine.core.outputs import Teller
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, MiB
from engine.core.views import Badge, Lane, Lines, Point, Rule, Series, Span, Table, Timeline
from engine.simulate.data_parallel.gradient_buckets import BUCKET, Bucket
from engine.simulate.streams.streams import COMPUTE, NETWORK
from engine.simulate.streams.streams import Span as Ran

_ROWS = 9


def timeline(tell: Teller, result: Result) -> Timeline:
    """Return both streams: layers above, buckets below."""
    ran = result.ran
    computing = [span for span in ran.spans if span.op.stream == COMPUTE]
    return Timeline(
        title="One step on two streams",
        axis=tell.axis("step_time", "time", low=0.0, high=result.step_time * 1.01),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=NETWORK, label="network")),
        spans=(*_layers(result, computing), *_buckets(result)),
        caption="Above, the passes of the layers; below, the all-reduces of the buckets. Hatched: "
        "nothing is computed meanwhile. Save the figure as a trace to open it in Perfetto.",
        player=True,
    )


def _layers(result: Result, computing: list[Ran]) -> list[Span]:
    """Return the compute stream, the tensors of a layer as one span."""
    found = []
    for name, group in groupby(computing, key=lambda span: _part(result, span)):
        spans = list(group)
        start, end = spans[0].start, spans[-1].end
        if end <= start:
            continue
        after = tuple(key for span in spans for key in span.op.after if key.startswith("bucket"))
        found.append(
            Span(
                key=name,
                lane=COMPUTE,
                start=start,
                end=end,
                label=name,
                color="compute",
                links=spans[0].op.links,
                after=after,
            )
        )
    return found


def _part(result: Result, span: Ran) -> str:
    """Return what a span belongs to: a pass of a layer, or the optimizer."""
    links = span.op.links
    if not links:
        return span.op.label
    layer = int(links[0].partition(":")[2])
    if layer == 0:
        return "backward, embedding"
    return f"backward, layer {layer}" if layer <= result.layers else "backward, output"


def _buckets(result: Result) -> list[Span]:
    ran = result.ran
    spans = {span.op.key: span for span in ran.spans}
    buckets = {f"bucket {bucket.number}": bucket for bucket in ran.buckets}
    found = []
    for part in ran.parts:
        op = part.ran.op
        if op.key not in buckets:
            continue
        bucket = buckets[op.key]
        waits = _part(result, spans[op.after[0]])
        found.append(
            Span(
                key=part.key,
                lane=NETWORK,
                start=part.start,
                end=part.end,
                label=f"{bucket.number}",
                called=f"all-reduce of bucket {bucket.number}: {_names(bucket)}",
                color="communication",
                exposed=part.exposed,
                links=op.links,
                after=(waits,) if part.number == 1 else (),
            )
        )
    return found


def _names(bucket: Bucket) -> str:
    """Return what a bucket holds, in few words."""
    first, last = bucket.tensors[0], bucket.tensors[-1]
    count = len(bucket.tensors)
    return first.title if count == 1 else f"{count} tensors, {first.title} to {last.title}"


def curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return what is exposed, and what contention adds, against the limit of a bucket."""
    cost = result.curve()
    exposed = tuple(one.exposed for one in cost)
    lost = tuple(one.exposed + one.contention for one in cost)
    high = max(*lost, result.exposed + result.contention) * 1.15
    x = tuple(size * MiB for size in SIZES)
    series = [Series(key="exposed", label="exposed", x=x, y=exposed, color="communication")]
    if inputs.slow_down:
        series.append(Series(key="lost", label="and contention", x=x, y=lost, color="compute"))
    now = result.exposed + result.contention
    return Lines(
        title="What communication costs the step, against the size of a bucket",
        x=tell.axis("bucket", "bucket", low=1 * MiB, high=500 * MiB, scale="log"),
        y=tell.axis("exposed", "added to the step", low=0.0, high=high),
        series=tuple(series),
        points=(Point(key="now", label=say("{t}", t=(now, SECONDS)), x=inputs.bucket, y=now),),
        rules=(Rule(key="default", label="PyTorch: 25 MiB", axis="x", at=BUCKET, color="muted"),),
        handle="bucket",
        caption="The axis of sizes is logarithmic.",
    )


def contents(result: Result) -> Table:
    """Return what the first buckets and the last one hold."""
    buckets = result.ran.buckets
    spans = {span.op.key: span for span in result.ran.spans}
    shown = buckets if len(buckets) <= _ROWS else (*buckets[: _ROWS - 2], *buckets[-2:])
    rows: list[tuple[Text, ...]] = []
    for bucket in shown:
        ran = spans[f"bucket {bucket.number}"]
        rows.append(
            (
                f"{bucket.number}",
                _names(bucket),
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


def regime(tell: Teller, result: Result) -> Badge:
    """Return what is exposed, and why."""
    ran = result.ran
    if not result.setting.overlap or ran.tail >= ran.isolated * 0.999:
        return Badge(
            text="Nothing hides",
            sentence="The first bucket is complete only when the backward pass ends."
            if result.setting.overlap
            else "All buckets wait for the end of the backward pass.",
            color="communication",
        )
    ends = next(span for span in ran.spans if span.op.key == f"bucket {len(ran.buckets)}")
    if ends.waited_for.startswith("B"):
        return Badge(
            text="Only the last bucket is exposed",
            sentence=tell.say("It holds {last_size}, {last_share} of the gradient."),
            color="compute",
        )
    return Badge(
        text="Buckets queue at the end",
        sentence="When the backward pass ends, the network still works on earlier buckets.",
        color="communication",
    )


def fits(tell: Teller, result: Result) -> Badge:
    """Return whether plain data parallelism has room for all states."""
    if result.states <= result.room:
        return Badge(
            text="The states fit",
            sentence=tell.say(
                "{states} of states on each GPU, of {room} that can be used; activations come on "
                "top."
            ),
            color="optimizer",
        )
    return Badge(
        text="The states do not fit",
        sentence=tell.say(
            "{states} of states on each GPU, of {room} that can be used: plain data parallelism "
            "cannot train this model here. Shard the states."
        ),
        color="communication",
    )
