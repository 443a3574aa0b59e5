"""Charts of the trace check: verdict, measured and predicted breakdown, and timeline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.calculators.whole_runs.trace_check.result import Inputs, Result
from engine.core.text import Sentence, joined, say
from engine.core.units import SECONDS, SHARE, Seconds
from engine.core.views import Axis, Badge, Bar, Bars, Heatmap, Lane, Segment, Span, Timeline
from engine.form.kernel_names import short_kernel
from engine.simulate.profile_analysis.account import ClassifiedTrace, TimeUse
from engine.simulate.profile_analysis.rules import (
    COMMUNICATION,
    COMMUNICATION_CLASS,
    COMPUTE_CLASS,
    COPY_CLASS,
)

_MUCH_IDLE, _MUCH_EXPOSED = 0.2, 0.1
_COLORS = {COMPUTE_CLASS: "compute", COMMUNICATION_CLASS: "communication", COPY_CLASS: "memory"}
_MOST_LANES, _MOST_SPANS, _MOST_BARS = 8, 500, 24
# Gaps below this share of the step are not seen: neighbors of one kind are drawn as one.
_UNSEEN = 1 / 1500
_WIDEST_LABEL = 1 / 25


def verdict(result: Result) -> Badge:
    """Return the largest part of the step, and the straggler."""
    use = result.shown.use
    late = _late_rank(result)
    if use.share(use.idle) > _MUCH_IDLE:
        words = "Nothing runs on the GPU for {idle} of the step: look at the host, the data, and "
        words += "whatever the GPU was waiting for." + late.words
        return _badge("The GPU waits", words, late, "communication", idle=use.share(use.idle))
    if use.share(use.exposed) > _MUCH_EXPOSED:
        words = "{exposed} of the step is communication while nothing computes." + late.words
        share = use.share(use.exposed)
        return _badge("Exposed communication", words, late, "communication", exposed=share)
    words = "{compute} of the step is computation; kernels and shapes are what is left to look at."
    share = use.share(use.compute)
    return _badge("Computing", words + late.words, late, "compute", compute=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LateRank:
    """Sentence about the straggler rank."""

    words: str
    numbers: dict[str, Seconds]


def _late_rank(result: Result) -> _LateRank:
    checked = result.checked
    straggler = checked.straggler
    if straggler is None:
        return _LateRank(words="", numbers={})
    steps = max(1, len(checked.uses[straggler]))
    others = len(checked.ranks) - 1
    name = checked.ranks[straggler].trace.called
    words = f" The others wait the longest for {name}: {{late}} of a step each"
    if others == 1:
        other = checked.ranks[1 - straggler].trace.called
        words = f" {other[:1].upper()}{other[1:]} waits for {name}: {{late}} of a step"
    words += ", in collectives that may run behind computation."
    return _LateRank(words=words, numbers={"late": checked.wait_caused(straggler) / steps / others})


def _badge(text: str, words: str, late: _LateRank, color: str, **shares: float) -> Badge:
    numbers = {name: (share, SHARE) for name, share in shares.items()}
    numbers |= {name: (time, SECONDS) for name, time in late.numbers.items()}
    return Badge(text=text, sentence=say(words, **numbers), color=color)


def with_another_job(badge: Badge, result: Result) -> Badge:
    """Return a verdict that also says why nothing is compared, where that is so."""
    if not result.another:
        return badge
    return replace(badge, sentence=joined((badge.sentence, result.another)))


def parts(result: Result) -> Bars:
    """Return measured and predicted breakdowns of the step."""
    bars = [_bar("measured", "measured", measured_parts(result.shown.use))]
    if result.job:
        predicted = _bar("predicted", "predicted", predicted_parts(result))
        bars.append(replace(predicted, low=result.job.least, high=result.job.most))
    longest = max(sum(segment.value for segment in bar.segments) for bar in bars)
    high = max(longest, result.job.most if result.job else 0.0)
    return Bars(
        title="A step, measured and predicted",
        axis=Axis(label="time of a step", quantity=SECONDS, low=0.0, high=1.05 * high),
        bars=tuple(bars),
        caption="Each moment counts once: computation first, then exposed communication, then "
        "copies alone; idle is the rest. The predicted idle time is its bubble, the host and "
        "waiting for the slowest GPU." if result.job else "Each moment counts once: computation "
        "first, then exposed communication, then copies alone; idle is the rest.",
    )  # fmt: skip


def measured_parts(use: TimeUse) -> tuple[tuple[str, str, Seconds], ...]:
    """Return (label, color, time) of each part of a step."""
    return (
        ("computing", "compute", use.compute),
        ("exposed communication", "communication", use.exposed),
        ("copies alone", "memory", use.copies),
        ("idle", "idle", use.idle),
    )


def predicted_parts(result: Result) -> tuple[tuple[str, str, Seconds], ...]:
    """Return (label, color, time) of the predicted step; the model counts no copies alone."""
    if result.job is None:
        return ()
    step = result.job.step
    return (
        ("computing", "compute", step.compute + step.optimizer),
        ("exposed communication", "communication", step.exposed),
        ("copies alone", "memory", 0.0),
        ("idle", "idle", step.bubble + step.other),
    )


def _bar(key: str, label: str, parts: Sequence[tuple[str, str, Seconds]]) -> Bar:
    segments = tuple(
        Segment(key=f"{key}-{color}", label=label, value=time, color=color)
        for label, color, time in parts
    )
    return Bar(key=key, label=label, segments=segments)


def every_step(result: Result) -> Bars:
    """Return the breakdown of each step of the chosen rank."""
    rank = result.shown.rank
    uses = result.checked.uses[rank][:_MOST_BARS]
    numbers = result.checked.steps[rank].numbers
    bars = [
        _bar(f"step-{index}", f"step {numbers[index]}", measured_parts(use))
        for index, use in enumerate(uses)
    ]
    more = len(result.checked.uses[rank]) - len(bars)
    return Bars(
        title="Every step",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=1.05 * max(use.length for use in uses) or 1.0,
        ),
        bars=tuple(bars),
        caption=_HOW[result.checked.steps[rank].by]
        + (f" The first {_MOST_BARS} are drawn." if more > 0 else ""),
    )


_HOW = {
    "device": "Steps begin where the profiler marked them on the GPU.",
    "host": "Steps begin where the profiler marked them on the host; the GPU may lag behind.",
    "repetition": "The trace marks no steps: these begin where its kernels repeat.",
    "none": "The trace marks no steps and nothing in it repeats: all of it counts as one.",
}


def timeline(inputs: Inputs, result: Result) -> Timeline:
    """Return the kernels on each stream during a step."""
    shown = result.shown
    rank, (start, end) = result.checked.ranks[shown.rank], shown.window
    end = max(end, start + 1e-9)
    uses = shown.drawn()
    kept = sorted(uses[:_MOST_LANES], key=lambda use: use.mostly == COMMUNICATION)
    lanes = tuple(Lane(key=f"stream-{use.stream}", label=f"stream {use.stream}") for use in kept)
    spans = _few_spans(rank, start, end, {use.stream for use in kept})
    number = result.checked.steps[shown.rank].numbers[shown.steps[0]]
    more = len(uses) - len(kept)
    return Timeline(
        title=f"Step {number} of {rank.trace.called}",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=(end - start) * 1.01),
        lanes=lanes or (Lane(key="none", label="no stream"),),
        spans=tuple(spans),
        caption="Kernels that follow one another closely are drawn as one. Exposed communication "
        "is marked." + (f" {more} further streams, less busy, are not drawn." if more > 0 else ""),
        keys=(("computation", "compute"), ("communication", "communication"), ("copy", "memory")),
        player=True,
    )


@dataclass(slots=True, kw_only=True)
class _Block:
    """Adjacent kernels of a kind on a stream, drawn as a block."""

    stream: int
    kind: int
    group: str
    name: str
    start: Seconds
    end: Seconds
    count: int


def _few_spans(
    rank: ClassifiedTrace, start: Seconds, end: Seconds, streams: set[int]
) -> list[Span]:
    unseen = (end - start) * _UNSEEN
    while True:
        blocks = list(_blocks(rank, start, end, streams, unseen))
        if len(blocks) <= _MOST_SPANS:
            return [_span(rank, at, block, start, end) for at, block in enumerate(blocks)]
        unseen *= 2


def _blocks(
    rank: ClassifiedTrace, start: Seconds, end: Seconds, streams: set[int], unseen: Seconds
) -> Iterator[_Block]:
    """Yield blocks to draw: neighbors merge where they or their gap are too small to see."""
    trace = rank.trace
    last: dict[int, _Block] = {}
    events = zip(trace.start, trace.end, trace.name, trace.stream, strict=True)
    for begins, ends, name, at in events:
        stream = trace.streams[at]
        if ends <= start or begins >= end or stream not in streams:
            continue
        kind, before = rank.classes[name], last.get(stream)
        small = ends - begins < 4 * unseen or (
            before is not None and before.end - before.start < 4 * unseen
        )
        if before and small and before.kind == kind and begins - before.end < unseen:
            before.end = max(before.end, ends)
            before.count += 1
            continue
        if before:
            yield before
        last[stream] = _Block(
            stream=stream,
            kind=kind,
            group=rank.groups[name],
            name=trace.names[name][1],
            start=begins,
            end=ends,
            count=1,
        )
    yield from last.values()


def _span(rank: ClassifiedTrace, at: int, block: _Block, start: Seconds, end: Seconds) -> Span:
    begins, ends = max(block.start, start), min(block.end, end)
    wide = ends - begins > _WIDEST_LABEL * (end - start)
    called = short_kernel(block.name)
    if block.count > 1:
        called = f"{block.count:,} kernels from {called} on"
    use = rank.time_use(begins, ends)
    is_exposed = block.kind == COMMUNICATION_CLASS and use.exposed > 0.5 * use.length
    return Span(
        key=f"s{at}",
        lane=f"stream-{block.stream}",
        start=begins - start,
        end=ends - start,
        label=block.group if wide and block.count == 1 else "",
        color=_COLORS[block.kind],
        exposed=is_exposed,
        called=called,
    )


def who_waits(result: Result) -> Heatmap:
    """Return the time per step that each rank waited for each other rank."""
    checked = result.checked
    names = tuple(rank.trace.called for rank in checked.ranks)
    steps = max(1, min(len(uses) for uses in checked.uses))
    return Heatmap(
        title="Who waits for whom",
        x_label="comes last",
        y_label="waits",
        x=names,
        y=names,
        values=tuple(
            tuple(
                time / steps if row != column else float("nan") for column, time in enumerate(waits)
            )
            for row, waits in enumerate(checked.waits)
        ),
        quantity=SECONDS,
        caption=_waiting(result),
    )


def _waiting(result: Result) -> Sentence:
    checked = result.checked
    if len(checked.ranks) < 2:
        return say("One file holds one rank; choose the files of several to see who waits.")
    if not checked.collectives:
        return say("No collective of these files could be matched: other steps, or other groups?")
    return say(
        f"From {len(checked.collectives):,} collectives that several files hold; seconds per step, "
        "by the lengths of their kernels, so that clocks need not agree."
    )
