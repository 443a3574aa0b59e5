"""The charts of the schedule lab: held activations, bubble against memory, bubble over m."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.basis import discover
from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, SHARE
from engine.basis.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.calculators.splitting_the_model.schedule_lab.inputs import Inputs
from engine.calculators.splitting_the_model.schedule_lab.model import (
    Played,
    measured,
    play,
    setting_of,
)
from engine.formulas.pipeline import bubble_share
from engine.simulate.pipeline import PACKAGE, Run
from engine.simulate.pipeline_measures import peak_activations

_BARS = 8
# Operations that the curve over the micro-batches may take to play.
_BUDGET = 2500
_LONGEST = 256


def staircase(run: Run) -> Bars:
    """Return how many micro-batches' activations each stage holds at most."""
    peaks = peak_activations(run)
    ranks = _spread(len(peaks))
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


def _spread(count: int) -> Sequence[int]:
    """Return which of so many to draw: all, or a few at even distances with both ends."""
    if count <= _BARS:
        return range(count)
    return [round(place * (count - 1) / (_BARS - 1)) for place in range(_BARS)]


def pareto(inputs: Inputs, found: Mapping[str, Played | str], own: Played) -> Lines:
    """Return the bubble of every schedule over its memory, and who is beaten by none."""
    # One micro-batch at a time is out of every scale, unless it is what the reader looks at.
    shown = [
        one
        for one in found.values()
        if isinstance(one, Played) and (one.name != "naive" or one.name == own.name)
    ] or [own]
    best = frontier(shown)
    high = max(one.memory for one in shown) * 1.15
    top = max(one.share for one in shown)
    rules = tuple(
        Rule(key="limit", label="1F1B's memory", axis="x", at=one.memory)
        for one in shown
        if one.name == "one_f_one_b"
    )
    edge = [(one.memory, one.share) for one in best]
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
                key=one.name,
                label=one.title,
                x=one.memory,
                y=one.share,
                color="accent" if one.name == own.name else "ink",
            )
            for one in shown
        ),
        rules=rules,
        caption="Lower and further left is better. The dashed line joins those that no other "
        "schedule beats in both.",
    )


def frontier(found: Sequence[Played]) -> list[Played]:
    """Return those that no other beats in memory and in bubble, by memory."""
    best: list[Played] = []
    for one in sorted(found, key=lambda played: (played.memory, played.share)):
        if not best or one.share < best[-1].share - 1e-12:
            best.append(one)
    return best


def over_microbatches(inputs: Inputs, own: Played) -> Lines:
    """Return the bubble over the micro-batches: played, and 1F1B's closed form beside it."""
    p = own.setting.pipeline_parallel
    points = _points(inputs, own)
    column = sorted({round(2 ** (exponent / 4)) for exponent in range(33)})
    return Lines(
        title="Bubble over micro-batches",
        x=Axis(label="micro-batches", quantity=COUNT, low=1, high=_LONGEST, scale="log"),
        y=Axis(label="share of the step", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="closed",
                label="GPipe and 1F1B",
                x=tuple(column),
                y=tuple(bubble_share(p, m) for m in column),
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
                label=say("{e}", e=(own.share, SHARE)),
                x=own.setting.num_microbatches,
                y=own.share,
            ),
        ),
        handle="num_microbatches",
        caption="Played at the corners of the line; dashed the closed form.",
    )


def _points(inputs: Inputs, own: Played) -> list[tuple[float, float]]:
    """Return (micro-batches, bubble) of played steps, as many as there is time for.

    They end where the next is too far to draw a line to it.
    """
    p, v = own.setting.pipeline_parallel, own.setting.num_chunks
    schedule = discover.module(PACKAGE, own.name)
    left = _BUDGET
    found = {own.setting.num_microbatches: own.share}
    for m in sorted({2**exponent for exponent in range(9)} | {p, 2 * p, 4 * p}):
        if m in found or m > _LONGEST or schedule.obstacle(p, m):
            continue
        left -= 2 * p * m * v
        if left < 0:
            break
        theirs = replace(inputs, num_microbatches=m, pipeline_parallel=p)
        setting = setting_of(theirs)
        found[m] = measured(theirs, setting, play(theirs, setting)).share
    points = [(float(m), found[m]) for m in sorted(found)]
    far = [i for i in range(1, len(points)) if points[i][0] > 2.5 * points[i - 1][0]]
    return points[: far[0]] if far else points
