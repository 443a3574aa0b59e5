"""The numbers of the composed step, what binds it, whether its order runs, its timeline."""

from collections.abc import Iterator
from itertools import pairwise

from engine.basis.text import Text, say
from engine.basis.units import COUNT, SECONDS, SHARE
from engine.basis.views import Axis, Badge, Lane, Receipt, Rule, Series, Span, Timeline, Value
from engine.calculators.whole_runs.step_composer.inputs import LAYERS
from engine.calculators.whole_runs.step_composer.model import Composed, time_of, waits
from engine.formulas.issue_order import LEAST_STEP
from engine.simulate.stream_account import exposed_pieces
from engine.simulate.streams import COMPUTE, NETWORK

_RULES: tuple[Text, ...] = (
    "Each stream works in order, one operation at a time. A forward pass waits for its gather and "
    "the layer before, a backward pass for its gather and the layer behind, a reduction for its "
    "backward pass.",
    "The top layer is kept from its forward to its backward pass. Collectives slow nothing down.",
)
_SIMULATED = Receipt(basis="simulated", assumptions=_RULES, sources=("rajbhandari2020", "zhao2023"))


def values(step: Composed) -> dict[str, Value]:
    """Return the numbers."""
    peak = max(count for _, count in step.held)
    return {
        "step_time": Value(
            label="Step",
            value=step.length,
            quantity=SECONDS,
            receipt=_SIMULATED,
            note=say("{c} of it computing", c=(step.seen.compute / step.length, SHARE)),
        ),
        "exposed": Value(
            label="Exposed communication",
            value=step.seen.exposed,
            quantity=SECONDS,
            receipt=_SIMULATED,
            note="a collective runs and nothing is computed",
            color="communication",
        ),
        "peak": Value(
            label="Gathered layers, at most",
            value=float(peak),
            quantity=COUNT,
            receipt=Receipt(
                basis="simulated",
                assumptions=(
                    "A layer takes its room from the start of its gather to the end of its last "
                    "use.",
                    *_RULES,
                ),
                sources=("zhao2023",),
            ),
            note=f"of {LAYERS}, at one time",
            color="parameters",
        ),
        "least": Value(
            label="No order is faster than",
            value=step.least,
            quantity=SECONDS,
            receipt=Receipt(
                equation=LEAST_STEP,
                symbols={
                    "T": (step.least, SECONDS),
                    **{key: (value, SECONDS) for key, value in step.parts.items()},
                },
                assumptions=(
                    "A lower bound: with little room even the best order may stay above it.",
                ),
                sources=("rajbhandari2020",),
            ),
            note="with these times",
        ),
    }


def regime(step: Composed) -> Badge:
    """Return what the step waits for on its longest chain."""
    if step.is_least:
        return Badge(
            text="The least there is",
            sentence="No order of these operations is faster. Only other times are.",
            color="compute",
        )
    causes = waits(step)
    times = {cause: time_of(step, names) for cause, names in causes.items()}
    # What differs in the last bits only is equal, and then the order comes first.
    worst = max(times, key=lambda cause: round(times[cause], 9))
    if not times[worst]:
        return Badge(
            text="Computation",
            sentence="Only the first gather and the last reduction are waited for.",
            color="compute",
        )
    title, words = {
        "order": ("Order", f"{_behind(step, causes['order'])}, and the step waits for both"),
        "room": ("Room", "Gathers wait until a layer is freed, and computation waits for them"),
        "wire": ("Wire", "Collectives follow one another, and the step waits for them"),
    }[worst]
    return Badge(
        text=title,
        sentence=say(
            f"{words}. Such waits are {{t}}, {{s}} of the step.",
            t=(times[worst], SECONDS),
            s=(times[worst] / step.length, SHARE),
        ),
        color="communication",
    )


def _behind(step: Composed, names: tuple[str, ...]) -> str:
    """Return the first of the operations that stands behind another collective on the path."""
    pairs = ((one, two) for one, two in pairwise(step.path) if two in names)
    found = (pair for pair in pairs if step.spans[pair[0]].op.stream == NETWORK)
    one, two = next(found, ("another", "A collective"))
    return f"{two} stands behind {one}"


def verdict(step: Composed) -> Badge:
    """Return whether the order runs as asked, or what was moved and why."""
    if not step.plan.moved:
        return Badge(
            text="Runs as ordered",
            sentence="Whatever an operation waits for has its turn before it.",
            color="compute",
        )
    moved = step.plan.moved
    come = "comes" if len(moved) == 1 else "come"
    return Badge(
        text="Order repaired",
        sentence=f"As asked, nothing would run any more: {step.plan.why}. "
        f"So {', '.join(moved)} {come} later, as drawn.",
        color="communication",
    )


def timeline(step: Composed) -> Timeline:
    """Return both streams, and under them the layers that are gathered."""
    times, counts = zip(*step.held, strict=True)
    return Timeline(
        title="The step in this order",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=step.length * 1.02),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=NETWORK, label="communication")),
        spans=tuple(_spans(step)),
        rules=(Rule(key="least", label="no order ends sooner", axis="x", at=step.least),),
        caption="Hatched: nothing is computed meanwhile. The curve counts gathered layers.",
        curves=(
            Series(
                key="gathered",
                label="gathered",
                x=(*times, step.length),
                y=(*(float(count) for count in counts), float(counts[-1])),
                color="parameters",
            ),
        ),
        curve_axis=Axis(label="gathered layers", quantity=COUNT, low=0.0, high=LAYERS * 1.1),
    )


def _spans(step: Composed) -> Iterator[Span]:
    everything = tuple(step.spans.values())
    for ran in everything:
        name = ran.op.key
        computes = ran.op.stream == COMPUTE
        pieces = [(ran.start, ran.end, False)]
        if not computes and ran.end > ran.start:
            pieces = exposed_pieces(ran, everything)
        kept = [piece for piece in pieces if piece[1] - piece[0] > 1e-9]
        for number, (start, end, exposed) in enumerate(kept, start=1):
            yield Span(
                key=name if number == len(kept) else f"{name} ({number})",
                lane=ran.op.stream,
                start=start,
                end=end,
                label=name,
                color="compute" if computes else "communication",
                exposed=exposed,
                links=ran.op.links,
                after=ran.op.after if number == 1 else (),
            )
