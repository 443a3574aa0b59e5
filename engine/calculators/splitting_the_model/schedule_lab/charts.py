"""Charts of the schedule lab: activation memory, bubble against memory, bubble over m."""

from collections.abc import Sequence

from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.core.slices import Slices
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SHARE
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.simulate.pipeline.schedule_bench import MOST_MICROBATCHES

_BARS = 8


def staircase(result: Result) -> Bars:
    """Return each stage's peak number of micro-batches in activation memory."""
    peaks = result.peaks
    ranks = _evenly_spaced(len(peaks))
    return Bars(
        title="Most micro-batches held, by stage",
        axis=Axis(label="micro-batches", quantity=COUNT, low=0.0, high=max(peaks) * 1.12),
        bars=tuple(
            Bar(
                key=f"s{rank}",
                label=f"stage {rank}",
                segments=(
                    Segment(key="held", label="held", value=peaks[rank], color="activations"),
                ),
                links=(f"stage:{rank}",),
            )
            for rank in ranks
        ),
    )


def _evenly_spaced(count: int) -> Sequence[int]:
    """Return indices to draw: all, or a few at even distances including both ends."""
    if count <= _BARS:
        return range(count)
    return [round(place * (count - 1) / (_BARS - 1)) for place in range(_BARS)]


def pareto(result: Result) -> Lines:
    """Return the bubble of every schedule over its memory, and who is beaten by none."""
    own, shown = result.own, result.shown
    high = max(schedule.memory for schedule in shown) * 1.15
    top = max(schedule.idle_share for schedule in shown)
    rules = tuple(
        Rule(key="limit", label="1F1B's memory", axis="x", at=schedule.memory)
        for schedule in shown
        if schedule.name == "one_f_one_b"
    )
    edge = [(schedule.memory, schedule.idle_share) for schedule in result.best]
    return Lines(
        title="Bubble against memory",
        x=Axis(
            label="weights and activations of the fullest stage", quantity=BYTES, low=0.0, high=high
        ),
        y=Axis(
            label="bubble, share of the step", quantity=SHARE, low=0.0, high=max(top * 1.15, 0.05)
        ),
        series=(
            Series(
                key="frontier",
                label="best",
                x=tuple(x for x, _ in edge),
                y=tuple(y for _, y in edge),
                color="muted",
                dashed=True,
            ),
        )
        if len(edge) > 1
        else (),
        points=tuple(
            Point(
                key=schedule.name,
                label=schedule.title,
                x=schedule.memory,
                y=schedule.idle_share,
                color="accent" if schedule.name == own.name else "ink",
            )
            for schedule in shown
        ),
        rules=rules,
        caption="Lower and farther left is better. The dashed line joins those that no other "
        "schedule beats in both.",
    )


def bubble_curve(result: Result) -> Slices[Lines]:
    """Return the bubble over the micro-batches: simulated, and 1F1B's closed form."""
    own = result.own
    points = yield from result.played_column.rest()
    return Lines(
        title="Bubble over micro-batches",
        x=Axis(label="micro-batches", quantity=COUNT, low=1, high=MOST_MICROBATCHES, scale="log"),
        y=Axis(label="share of the step", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="closed",
                label="GPipe and 1F1B",
                x=result.column,
                y=result.closed_column,
                color="muted",
                dashed=True,
            ),
            Series(
                key="played",
                label=own.title,
                x=tuple(m for m, _ in points),
                y=tuple(share for _, share in points),
                color="compute",
            ),
        ),
        points=(
            Point(
                key="now",
                label=say("{e}", e=(own.idle_share, SHARE)),
                x=own.setting.num_microbatches,
                y=own.idle_share,
            ),
        ),
        handle="num_microbatches",
        caption="Played at the corners of the line; dashed the closed form.",
    )
