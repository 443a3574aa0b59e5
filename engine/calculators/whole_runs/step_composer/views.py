"""What binds the composed step, whether its order runs, its timeline."""

from collections.abc import Iterator
from itertools import pairwise

from engine.calculators.whole_runs.step_composer.result import Result
from engine.core.outputs import Teller
from engine.core.units import SECONDS, SHARE
from engine.core.views import Badge, Lane, Rule, Series, Span, Timeline
from engine.simulate.streams.composed_step import Composed
from engine.simulate.streams.stream_orders import LAYERS, Plan
from engine.simulate.streams.streams import COMPUTE, NETWORK


def regime(tell: Teller, result: Result) -> Badge:
    """Return what the step waits for on its longest chain."""
    if result.step.is_least:
        return Badge(
            text="The least there is",
            sentence="No order of these operations is faster. Only other times are.",
            color="compute",
        )
    causes = result.causes
    # What differs in the last bits only is equal, and then the order comes first.
    worst = max(causes, key=lambda cause: round(causes[cause][1], 9))
    names, time = causes[worst]
    if not time:
        return Badge(
            text="Computation",
            sentence="Only the first gather and the last reduction are waited for.",
            color="compute",
        )
    title, words = {
        "order": ("Order", f"{_behind(result.step, names)}, and the step waits for both"),
        "room": ("Room", "Gathers wait until a layer is freed, and computation waits for them"),
        "wire": ("Wire", "Collectives follow one another, and the step waits for them"),
    }[worst]
    return Badge(
        text=title,
        sentence=tell.say(
            f"{words}. Such waits are {{t}}, {{s}} of the step.",
            t=(time, SECONDS),
            s=(time / result.step_time, SHARE),
        ),
        color="communication",
    )


def _behind(step: Composed, names: tuple[str, ...]) -> str:
    """Return the first of the operations that stands behind another collective on the path."""
    pairs = ((one, two) for one, two in pairwise(step.path) if two in names)
    found = (pair for pair in pairs if step.spans[pair[0]].op.stream == NETWORK)
    one, two = next(found, ("another", "A collective"))
    return f"{two} stands behind {one}"


def verdict(plan: Plan) -> Badge:
    """Return whether the order runs as asked, or what was moved and why."""
    if not plan.moved:
        return Badge(
            text="Runs as ordered",
            sentence="Whatever an operation waits for has its turn before it.",
            color="compute",
        )
    moved = plan.moved
    come = "comes" if len(moved) == 1 else "come"
    return Badge(
        text="Order repaired",
        sentence=f"As asked, nothing would run any more: {plan.why}. "
        f"So {', '.join(moved)} {come} later, as drawn.",
        color="communication",
    )


def timeline(tell: Teller, result: Result) -> Timeline:
    """Return both streams, and under them the layers that are gathered."""
    step = result.step
    times, counts = zip(*step.held, strict=True)
    return Timeline(
        title="The step in this order",
        axis=tell.axis("step_time", "time", low=0.0, high=step.length * 1.02),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=NETWORK, label="communication")),
        spans=tuple(_spans(result)),
        rules=(Rule(key="least", label="no order ends sooner", axis="x", at=step.least),),
        caption="Hatched: nothing is computed at the same time. The curve counts gathered layers.",
        curves=(
            Series(
                key="gathered",
                label="gathered",
                x=(*times, step.length),
                y=(*(float(count) for count in counts), float(counts[-1])),
                color="parameters",
            ),
        ),
        curve_axis=tell.axis("peak", "gathered layers", low=0.0, high=LAYERS * 1.1),
    )


def _spans(result: Result) -> Iterator[Span]:
    for name, pieces in result.pieces.items():
        ran = result.step.spans[name]
        for number, (start, end, exposed) in enumerate(pieces, start=1):
            yield Span(
                key=name if number == len(pieces) else f"{name} ({number})",
                lane=ran.op.stream,
                start=start,
                end=end,
                label=name,
                color="compute" if ran.op.stream == COMPUTE else "communication",
                exposed=exposed,
                links=ran.op.links,
                after=ran.op.after if number == 1 else (),
            )
