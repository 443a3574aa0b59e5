"""A composed step, simulated: its spans, the chain that sets its length, what is gathered."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from engine.core.units import Count, Seconds
from engine.formulas.issue_order import layered_end, least_step, streamed_end
from engine.simulate.streams.stream_account import Account, account
from engine.simulate.streams.stream_orders import LAYERS, Plan, freed_by, gathers_again
from engine.simulate.streams.streams import COMPUTE, NETWORK, Op, Span, run

_KINDS = {
    "AG": "all-gather",
    "RS": "reduce-scatter",
    "F": "forward",
    "B": "backward",
    "Opt": "optimizer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Times of the operations of one layer, each alone."""

    gather: Seconds
    reduction: Seconds
    forward: Seconds
    backward: Seconds
    optimizer: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One step.

    Attributes:
        plan: the orders that ran.
        spans: of every operation, by name.
        seen: what they add up to.
        path: operations that follow one another without a pause from the start to the end.
        held: (time, gathered layers from then on).
        least: what no order of these operations beats.
        parts: symbol of the bound -> its value.
    """

    plan: Plan
    spans: dict[str, Span]
    seen: Account
    path: tuple[str, ...]
    held: tuple[tuple[Seconds, Count], ...]
    least: Seconds
    parts: dict[str, Seconds]

    @property
    def length(self) -> Seconds:
        """The step."""
        return self.seen.length

    @property
    def is_least(self) -> bool:
        """Whether the bound is reached."""
        return self.length <= self.least * (1 + 1e-9)

    def kind(self, name: str) -> str:
        """Return the kind of an operation, as `kind_of` does."""
        return kind_of(name)


def kind_of(name: str) -> str:
    """Return "AG", "RS", "F", "B" or "Opt"."""
    return name.rstrip("b123")


def title_of(name: str) -> str:
    """Return what an operation is, in words."""
    again = ", again" if name.endswith("b") else ""
    return f"{_KINDS[kind_of(name)]}, layer {name.rstrip('b')[-1]}{again}"


def composed(plan: Plan, times: Times, room: Count, *, clipped: bool) -> Composed:
    """Return the step in an order that can run, simulated.

    `room`: layers that may be gathered at once; `clipped`: the optimizer waits for all gradients.
    """
    each = {
        "AG": times.gather,
        "RS": times.reduction,
        "F": times.forward,
        "B": times.backward,
        "Opt": times.optimizer,
    }
    streams = ((COMPUTE, plan.orders.compute), (NETWORK, plan.orders.communication))
    ops = [
        Op(
            key=name,
            stream=stream,
            time=each[kind_of(name)],
            after=tuple(plan.needs[name]),
            label=title_of(name),
            links=(f"op:{name}",),
        )
        for stream, names in streams
        for name in names
    ]
    spans = run(ops)
    by_name = {span.op.key: span for span in spans}
    least, parts = bound(times, room, clipped=clipped)
    return Composed(
        plan=plan,
        spans=by_name,
        seen=account(spans),
        path=_path(spans),
        held=_held(by_name, room),
        least=least,
        parts=parts,
    )


def bound(times: Times, room: Count, *, clipped: bool) -> tuple[Seconds, dict[str, Seconds]]:
    """Return what no order beats, and the parts of the formula."""
    gathers = 2 * LAYERS - 1 if gathers_again(room) else LAYERS
    passes = times.gather, times.forward, times.backward, times.reduction
    parts = {
        "a": layered_end(*passes, LAYERS),
        "m": streamed_end(times.gather, gathers, times.backward, times.reduction, LAYERS),
        "u": times.optimizer * (LAYERS if clipped else 1),
        "g": times.gather,
        "c": LAYERS * (times.forward + times.backward + times.optimizer),
    }
    return least_step(parts["a"], parts["m"], parts["u"], parts["g"], parts["c"]), parts


def _path(spans: Sequence[Span]) -> tuple[str, ...]:
    """Return what the end waited for, back to the start; of equal ends the compute stream's."""
    by_name = {span.op.key: span for span in spans}
    last = max(spans, key=lambda span: (span.end, span.op.stream == COMPUTE, span.start))
    path = [last.op.key]
    while by_name[path[-1]].waited_for:
        path.append(by_name[path[-1]].waited_for)
    return tuple(reversed(path))


def _held(spans: dict[str, Span], room: Count) -> tuple[tuple[Seconds, Count], ...]:
    """Return how many layers have room taken, from the start of a gather to its last use."""
    gathers = [name for name in spans if kind_of(name) == "AG"]
    events = [(spans[name].start, 1) for name in gathers]
    events += [(spans[freed_by(name, room)].end, -1) for name in gathers]
    found: dict[Seconds, Count] = {}
    count = 0
    for at, change in sorted(events):  # what is freed goes first
        count += change
        found[at] = count
    return tuple(found.items())


def waits(step: Composed) -> dict[str, tuple[str, ...]]:
    """Return the communication on the path by cause; what cannot be avoided is left out.

    A gather and the reduction before it are a matter of "order", and so is an operation that was
    ready while its stream stood still for the one before it. A gather that waits for a layer to be
    freed is one of "room"; what else follows its like is one of "wire".
    """
    found: dict[str, list[str]] = {"order": [], "room": [], "wire": []}
    for at, name in enumerate(step.path):
        cause = _cause(step, at)
        if cause:
            found[cause].append(name)
    return {cause: tuple(names) for cause, names in found.items()}


def time_of(step: Composed, names: Sequence[str]) -> Seconds:
    """Return how long the operations take together."""
    return fsum(step.spans[name].end - step.spans[name].start for name in names)


def _cause(step: Composed, at: int) -> str:
    kind = kind_of(step.path[at])
    before = kind_of(step.path[at - 1]) if at else ""
    after = kind_of(step.path[at + 1]) if at + 1 < len(step.path) else ""
    if kind not in ("AG", "RS") or not at:
        return ""
    if (before, kind) == ("RS", "AG") or (kind, after) == ("RS", "AG") or _stood(step, at):
        return "order"
    if before in ("AG", "RS"):
        # The last reduction is there whatever the order.
        return "wire" if after in ("AG", "RS") or kind == "AG" else ""
    return "room" if kind == "AG" else "wire" if after == "RS" else ""


def _stood(step: Composed, at: int) -> bool:
    """Return whether the stream stood still before the collectives that lead here on the path."""
    first = at
    while first and kind_of(step.path[first - 1]) in ("AG", "RS"):
        first -= 1
    name = step.path[at]
    ready = max((step.spans[other].end for other in step.plan.needs[name]), default=0.0)
    return first < at and ready < step.spans[step.path[first]].start - 1e-9
