"""The pictures of the saving: against GPUs, by stage, and the bytes sent against micro-batches."""

from engine.calculators.data_parallelism.zero_saving.inputs import STAGES, Inputs
from engine.calculators.data_parallelism.zero_saving.result import BATCHES, RANKS, Result
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SHARE
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series

# The highest saving of a stage belongs to what it shards last.
COLORS = {0: "ink", 1: "optimizer", 2: "gradients", 3: "parameters"}
NAMES = {0: "DDP", 1: "ZeRO-1", 2: "ZeRO-2", 3: "ZeRO-3"}


def curve(inputs: Inputs, result: Result) -> Lines:
    """Return the saving of every stage against the number of GPUs."""
    series = tuple(
        Series(
            key=f"stage{stage}",
            label=NAMES[stage],
            x=tuple(map(float, RANKS)),
            y=saved,
            color=COLORS[stage],
        )
        for stage, saved in zip(STAGES[1:], result.over_ranks(), strict=True)
    )
    two = result.published[1]
    points = [
        Point(
            key="published", label=say("published: {s}", s=(two, SHARE)), x=2.0, y=two, color="ink"
        )
    ]
    if result.stage:
        now = result.saving
        points.append(
            Point(key="now", label=say("{s}", s=(now, SHARE)), x=float(inputs.ranks), y=now)
        )
    even = result.even if result.stage else 0.0
    rule = Rule(key="even", label=say("equal"), axis="x", at=even, color="muted")
    return Lines(
        title="States saved on each GPU",
        x=Axis(label="GPUs", quantity=COUNT, low=1.0, high=1024.0, scale="log"),
        y=Axis(label="saved", quantity=SHARE, low=0.0, high=1.05),
        series=series,
        points=tuple(points),
        rules=(rule,) if 1.0 < even <= 1024.0 else (),
        handle="ranks",
        caption="The axis of GPUs is logarithmic. On the dashed line a GPU's share weighs as much "
        "as what it keeps whole.",
    )


def bars(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    """Return the bars of states per GPU by stage, against the memory."""
    high = max(result.usable, *(sharding.states.total for sharding in result.stages)) * 1.1
    return Bars(
        title="States on each GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"stage{stage}",
                label=NAMES[stage],
                segments=tuple(
                    Segment(key=name, label=name, value=getattr(sharding.states, name), color=name)
                    for name in ("parameters", "gradients", "optimizer")
                ),
            )
            for stage, sharding in zip(STAGES, result.stages, strict=True)
        ),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {c}", c=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
        caption="Activations come on top; the line is what may be filled.",
    )


def volume(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the bytes sent in a step against the micro-batches that it accumulates."""
    columns = result.over_batches
    # ZeRO-1 lies on plain data parallelism where gradients and parameters have as many bytes.
    series = tuple(
        Series(
            key=f"stage{stage}",
            label=NAMES[stage],
            x=tuple(map(float, BATCHES)),
            y=column,
            color=COLORS[stage],
            dashed=stage == 0,
        )
        for stage, column in zip(STAGES, columns, strict=True)
    )
    high = max(*map(max, columns), 1.0)
    low = min((y for column in columns for y in column if y > 0), default=high / 10)
    now = result.sent
    return Lines(
        title="Bytes that each GPU sends in a step",
        x=Axis(label="micro-batches per step", quantity=COUNT, low=1.0, high=64.0, scale="log"),
        y=Axis(label="sent", quantity=BYTES, low=low / 2, high=high * 2, scale="log"),
        series=series if high > 1.0 else (),
        points=(
            Point(
                key="now", label=say("{s}", s=(now, BYTES)), x=float(inputs.num_microbatches), y=now
            ),
        )
        if now > 0
        else (),
        handle="num_microbatches",
        caption=present.say(
            "Both axes are logarithmic. Micro-batches: {num_microbatches}. ZeRO-1 sends {one}, "
            "ZeRO-2 {two} and ZeRO-3 {three}: stages 2 and 3 keep no place for a sum that is not "
            "their own.",
            **{
                key: (result.stages[stage].sent, BYTES)
                for stage, key in ((1, "one"), (2, "two"), (3, "three"))
            },
        ),
    )
