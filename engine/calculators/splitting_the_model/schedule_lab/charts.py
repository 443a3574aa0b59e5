"""Charts of the schedule lab: activation memory, bubble against memory, bubble over m."""

from collections.abc import Iterator, Sequence

from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.core import registry
from engine.core.pipeline_op import BACKWARD, FORWARD, INPUT, PAIR, WEIGHT, Op, stage_of
from engine.core.slices import Slices
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE, Ratio, Seconds
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    Grip,
    Lane,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Span,
    Timeline,
)
from engine.form.plural import pluralize
from engine.simulate.pipeline.pipeline import PACKAGE, PipelineRun
from engine.simulate.pipeline.schedule_bench import MOST_MICROBATCHES, ScheduleResult

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
    return [round(bar * (count - 1) / (_BARS - 1)) for bar in range(_BARS)]


def pareto(result: Result) -> Lines:
    """Return the bubble of every schedule over its memory, and who is beaten by none."""
    chosen, shown = result.chosen, result.shown
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
            label="weights and activations of the stage that holds most",
            quantity=BYTES,
            low=0.0,
            high=high,
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
                color="accent" if schedule.name == chosen.name else "ink",
            )
            for schedule in shown
        ),
        rules=rules,
        caption="Lower and farther left is better. The dashed line joins those that no other "
        "schedule beats in both.",
    )


def bubble_curve(result: Result) -> Slices[Lines]:
    """Return the bubble over the micro-batches: simulated, and 1F1B's closed form."""
    chosen = result.chosen
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
                label=chosen.title,
                x=tuple(m for m, _ in points),
                y=tuple(share for _, share in points),
                color="compute",
            ),
        ),
        points=(
            Point(
                key="now",
                label=say("{e}", e=(chosen.idle_share, SHARE)),
                x=chosen.setting.num_microbatches,
                y=chosen.idle_share,
            ),
        ),
        handle="num_microbatches",
        caption="Played at the corners of the line; dashed the closed form.",
    )


# Timeline of the simulated schedule: operations and waits of every stage.

# What a page can draw and a reader can follow.
_SPANS, _LANES = 640, 8
# A pass has the color of what it leaves behind: activations, gradients, the weights' gradients.
_COLOR = {
    FORWARD: "activations",
    BACKWARD: "gradients",
    INPUT: "gradients",
    WEIGHT: "parameters",
    PAIR: "optimizer",
}
_KEYS = (
    ("forward", _COLOR[FORWARD]),
    ("backward, or its part for the inputs", _COLOR[INPUT]),
    ("gradients of the weights, where separate", _COLOR[WEIGHT]),
    ("a forward under a backward", _COLOR[PAIR]),
)
_LETTER = {FORWARD: "F", BACKWARD: "B", INPUT: "B", WEIGHT: "W", PAIR: "P"}
# A pass: way ("F" or "B"), micro-batch, stage along the model.
_Pass = tuple[str, int, int]


def timeline(result: Result) -> Timeline:
    """Return the timeline of a step, truncated to its beginning and the outer stages."""
    played, run = result.chosen, result.run
    lanes = _lanes(len(run.starts))
    until = _window(run, lanes)
    whole = until >= run.length
    memory = [
        _curve(f"{rank}", steps, until, last=rank == lanes[-1])
        for rank, steps in zip((lanes[0], lanes[-1]), result.held(), strict=True)
    ]
    most = max(max(series.y) for series in memory)
    return Timeline(
        title="One step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=until * (1.01 if whole else 1.0)),
        lanes=tuple(
            Lane(key=f"s{rank}", label=f"stage {rank}", links=(f"stage:{rank}",)) for rank in lanes
        ),
        spans=tuple(_spans(played, run, lanes, until)),
        rules=_next_step_rule(run, until) if whole else (),
        caption=_caption(run, lanes, until, whole=whole),
        curves=tuple(memory),
        curve_axis=Axis(label="micro-batches held", quantity=COUNT, low=0.0, high=most * 1.05),
        keys=_KEYS,
        player=True,
        grips=_last_microbatch(result) if whole else (),
    )


def _last_microbatch(result: Result) -> tuple[Grip, ...]:
    """Return the end of the last forward pass of stage 0, by which micro-batches are added."""
    run, count = result.run, result.case.num_microbatches
    ends = [
        end
        for op, end in zip(run.program.orders[0], run.ends[0], strict=True)
        if op.kind in (FORWARD, PAIR)
    ]
    return (
        Grip(
            input="num_microbatches",
            lane="s0",
            at=max(ends),
            notch=(run.ends[0][-1] - run.starts[0][0]) / count,
            label="Last micro-batch",
            text=f"{count} {pluralize(count, 'micro-batch')}",
        ),
    )


def _lanes(ranks: int) -> tuple[int, ...]:
    """Return the ranks to draw: all, or of many the first and the last few."""
    if ranks <= _LANES:
        return tuple(range(ranks))
    half = _LANES // 2
    return (*range(half), *range(ranks - half, ranks))


def _window(run: PipelineRun, lanes: Sequence[int]) -> Seconds:
    """Return until when there are no more spans than a page can draw."""
    starts = sorted(start for rank in lanes for start in run.starts[rank])
    return run.length if len(starts) <= _SPANS else starts[_SPANS]


def _caption(run: PipelineRun, lanes: Sequence[int], until: Seconds, *, whole: bool) -> Text:
    numbers = "Numbers are micro-batches."
    if whole and len(lanes) == len(run.starts):
        return numbers
    return say(
        "Drawn are {n} of {p} stages and the first {t} of {s}; all figures come from the whole "
        "step. " + numbers,
        n=(len(lanes), COUNT),
        p=(len(run.starts), COUNT),
        t=(until, SECONDS),
        s=(run.length, SECONDS),
    )


def _next_step_rule(run: PipelineRun, until: Seconds) -> tuple[Rule, ...]:
    """Return the next step's earliest start, if some ranks are still busy by then."""
    if run.period >= run.length * (1 - 1e-9):
        return ()
    return (Rule(key="next", label="stage 0 is free again", axis="x", at=run.ends[0][-1]),)


def _curve(
    rank: str,
    memory: tuple[tuple[Seconds, ...], tuple[Ratio, ...]],
    until: Seconds,
    *,
    last: bool,
) -> Series:
    times, counts = memory
    shown = [(x, y) for x, y in zip(times, counts, strict=True) if x <= until]
    shown.append((until, shown[-1][1]))
    return Series(
        key=f"held{rank}",
        label=f"stage {rank}",
        x=tuple(x for x, _ in shown),
        y=tuple(y for _, y in shown),
        color="activations",
        dashed=last,
    )


def _passes(op: Op, rank: int, ranks: int, placement: str) -> Iterator[_Pass]:
    """Yield the passes along the model that an operation makes; a weight gradient is none."""
    if op.kind in (FORWARD, PAIR):
        yield "F", op.microbatch, stage_of(rank, op.chunk, ranks, placement)
    if op.kind in (BACKWARD, INPUT):
        yield "B", op.microbatch, stage_of(rank, op.chunk, ranks, placement)
    if op.kind == PAIR:
        yield "B", op.back_microbatch, stage_of(rank, op.back_chunk, ranks, placement)


def _key(op: Op, rank: int) -> str:
    back = f"+{op.back_microbatch}.{op.back_chunk}" if op.kind == PAIR else ""
    return f"{_LETTER[op.kind]}{op.microbatch}.{op.chunk}{back}@{rank}"


def _spans(
    played: ScheduleResult, run: PipelineRun, lanes: Sequence[int], until: Seconds
) -> Iterator[Span]:
    placement = registry.module(PACKAGE, played.name).PLACEMENT
    ranks = len(run.starts)
    drawn = [
        (rank, op, start, end)
        for rank in lanes
        for op, start, end in zip(
            run.program.orders[rank], run.starts[rank], run.ends[rank], strict=True
        )
        if start < until
    ]
    keys: dict[_Pass, str] = {
        part: _key(op, rank)
        for rank, op, _, _ in drawn
        for part in _passes(op, rank, ranks, placement)
    }
    chunked = any(op.chunk for _, op, _, _ in drawn)
    before = ("", -1)
    for rank, op, start, end in drawn:
        key = _key(op, rank)
        after = [keys[need] for need in _dependencies(op, rank, ranks, placement) if need in keys]
        if before[1] == rank:
            after.append(before[0])
        before = (key, rank)
        yield Span(
            key=key,
            lane=f"s{rank}",
            start=start,
            end=end,
            label=_label(op),
            color=_COLOR[op.kind],
            links=_links(op, rank),
            after=tuple(after),
            called=_op_name(op, chunked=chunked),
        )


def _dependencies(op: Op, rank: int, ranks: int, placement: str) -> Iterator[_Pass]:
    """Yield the passes that others make first; the ends of the model find none."""
    for direction, microbatch, stage in _passes(op, rank, ranks, placement):
        yield direction, microbatch, stage - 1 if direction == "F" else stage + 1


def _label(op: Op) -> str:
    return f"{op.microbatch}&{op.back_microbatch}" if op.kind == PAIR else str(op.microbatch)


def _op_name(op: Op, *, chunked: bool) -> str:
    if op.kind == PAIR:
        return f"F{op.microbatch}&B{op.back_microbatch}"
    name = f"{_LETTER[op.kind]}{op.microbatch}"
    return f"{name} of chunk {op.chunk}" if chunked else name


def _links(op: Op, rank: int) -> tuple[str, ...]:
    numbers = {op.microbatch, op.back_microbatch} if op.kind == PAIR else {op.microbatch}
    return (f"stage:{rank}", *(f"microbatch:{number}" for number in sorted(numbers)))
