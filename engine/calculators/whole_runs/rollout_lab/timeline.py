"""Timeline of two steps: work and waits of some engines and the trainers."""

from collections.abc import Iterator

from engine.core.units import SECONDS, Seconds
from engine.core.views import Axis, Lane, Span, Timeline
from engine.simulate.job.reinforcement import RlStep

_SHOWN = 6


def timeline(step: RlStep) -> Timeline:
    """Return the timeline of two steps; engines in order of completion."""
    ends = sorted(engine.end for engine in step.engines)
    count = min(_SHOWN, len(ends))
    shown = [ends[round(i * (len(ends) - 1) / max(1, count - 1))] for i in range(count)]
    if step.mode == "stream":
        shown = [step.total - step.update] * count
    apart = step.mode != "colocated"
    names = [f"engine {i + 1}" for i in range(count)]
    lanes = [Lane(key=name, label=name) for name in names]
    if apart:
        lanes.append(Lane(key="train", label="training"))
    spans: list[Span] = []
    for number in range(2):
        start = number * step.total
        spans += _step(step, number, start, list(zip(names, shown, strict=True)))
    return Timeline(
        title="Two steps",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=2.04 * step.total),
        lanes=tuple(lanes),
        spans=tuple(spans),
        caption="Six engines, from the one that is done first to the one that is done last. "
        "Hatched: a GPU that waits.",
        keys=(
            ("generating", "communication"),
            ("log-probabilities and training", "compute"),
            ("new weights", "parameters"),
        ),
        player=True,
    )


def _step(
    step: RlStep, number: int, start: Seconds, engines: list[tuple[str, Seconds]]
) -> Iterator[Span]:
    learning = step.forwards + step.training
    begin = start + (step.generation if step.mode in ("colocated", "separate") else 0.0)
    end = start + step.total
    for name, generated in engines:
        yield _span(
            f"g{number}{name}", name, (start, start + generated), "generate", "communication"
        )
        if step.mode == "colocated":
            yield _span(f"t{number}{name}", name, (begin, begin + learning), "train", "compute")
        yield _span(f"u{number}{name}", name, (end - step.update, end), "", "parameters")
    if step.mode != "colocated":
        which = f"train on step {number if step.mode != 'separate' else number + 1}"
        yield _span(f"t{number}", "train", (begin, begin + learning), which, "compute")
        yield _span(f"u{number}", "train", (end - step.update, end), "", "parameters")


def _span(key: str, lane: str, when: tuple[Seconds, Seconds], label: str, color: str) -> Span:
    return Span(
        key=key,
        lane=lane,
        start=when[0],
        end=when[1],
        label=label,
        color=color,
        called=label or "new weights",
    )
