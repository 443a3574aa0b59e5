"""Simulation of a composed step: spans, critical path, gathered layers and lower bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from engine.core.units import Count, Seconds
from engine.formulas.issue_order import layered_end, least_step, streamed_end
from engine.simulate.streams.stream_account import StepAccount, step_account
from engine.simulate.streams.stream_orders import LAYERS, OrderPlan, frees_after_forward, last_use
from engine.simulate.streams.streams import COMPUTE, NETWORK, OpSpan, StreamOp, run_program

_KINDS = {
    "AG": "all-gather",
    "RS": "reduce-scatter",
    "F": "forward",
    "B": "backward",
    "Opt": "optimizer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTimes:
    """Times of the operations of one layer, each run alone."""

    gather: Seconds
    reduction: Seconds
    forward: Seconds
    backward: Seconds
    optimizer: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedStep:
    """A simulated step.

    Attributes:
        plan: executed stream orders.
        spans: span of every operation, by name.
        account: account of the spans.
        path: critical path: operations without a pause from the start to the end.
        gathered_layers: (time, number of gathered layers from then on).
        least: lower bound of the step over all orders.
        parts: symbol of the bound -> value.
    """

    plan: OrderPlan
    spans: dict[str, OpSpan]
    account: StepAccount
    path: tuple[str, ...]
    gathered_layers: tuple[tuple[Seconds, Count], ...]
    least: Seconds
    parts: dict[str, Seconds]

    @property
    def length(self) -> Seconds:
        """Length of the step."""
        return self.account.length

    @property
    def reaches_bound(self) -> bool:
        """Whether the step reaches the lower bound."""
        return self.length <= self.least * (1 + 1e-9)

    def kind(self, name: str) -> str:
        """Return the kind of an operation, as `operation_kind` does."""
        return operation_kind(name)


def operation_kind(name: str) -> str:
    """Return the kind of an operation: "AG", "RS", "F", "B" or "Opt"."""
    return name.rstrip("b123")


def operation_title(name: str) -> str:
    """Return the display name of an operation."""
    again = ", again" if name.endswith("b") else ""
    return f"{_KINDS[operation_kind(name)]}, layer {name.rstrip('b')[-1]}{again}"


def compose_step(plan: OrderPlan, times: LayerTimes, room: Count, *, clipped: bool) -> ComposedStep:
    """Return the simulated step of a plan.

    `room`: layers that may be gathered at once; `clipped`: the optimizer waits for all gradients.
    """
    times_by_kind = {
        "AG": times.gather,
        "RS": times.reduction,
        "F": times.forward,
        "B": times.backward,
        "Opt": times.optimizer,
    }
    streams = ((COMPUTE, plan.orders.compute), (NETWORK, plan.orders.communication))
    ops = [
        StreamOp(
            key=name,
            stream=stream,
            time=times_by_kind[operation_kind(name)],
            after=tuple(plan.needs[name]),
            label=operation_title(name),
            links=(f"op:{name}",),
        )
        for stream, names in streams
        for name in names
    ]
    spans = run_program(ops)
    by_name = {span.op.key: span for span in spans}
    bound, parts = lower_bound(times, room, clipped=clipped)
    return ComposedStep(
        plan=plan,
        spans=by_name,
        account=step_account(spans),
        path=_critical_path(spans),
        gathered_layers=_gathered_layers(by_name, room),
        least=bound,
        parts=parts,
    )


def lower_bound(
    times: LayerTimes, room: Count, *, clipped: bool
) -> tuple[Seconds, dict[str, Seconds]]:
    """Return the lower bound of the step, and the parts of its formula."""
    gathers = 2 * LAYERS - 1 if frees_after_forward(room) else LAYERS
    passes = times.gather, times.forward, times.backward, times.reduction
    parts = {
        "a": layered_end(*passes, LAYERS),
        "m": streamed_end(times.gather, gathers, times.backward, times.reduction, LAYERS),
        "u": times.optimizer * (LAYERS if clipped else 1),
        "g": times.gather,
        "c": LAYERS * (times.forward + times.backward + times.optimizer),
    }
    return least_step(parts["a"], parts["m"], parts["u"], parts["g"], parts["c"]), parts


def _critical_path(spans: Sequence[OpSpan]) -> tuple[str, ...]:
    """Return the critical path, start first; of equal ends the compute stream's counts."""
    by_name = {span.op.key: span for span in spans}
    last = max(spans, key=lambda span: (span.end, span.op.stream == COMPUTE, span.start))
    path = [last.op.key]
    while by_name[path[-1]].waited_for:
        path.append(by_name[path[-1]].waited_for)
    return tuple(reversed(path))


def _gathered_layers(spans: dict[str, OpSpan], room: Count) -> tuple[tuple[Seconds, Count], ...]:
    """Return (time, gathered layers): a layer counts from its gather's start to its last use."""
    gathers = [name for name in spans if operation_kind(name) == "AG"]
    events = [(spans[name].start, 1) for name in gathers]
    events += [(spans[last_use(name, room)].end, -1) for name in gathers]
    counts: dict[Seconds, Count] = {}
    count = 0
    for time, change in sorted(events):  # what is freed goes first
        count += change
        counts[time] = count
    return tuple(counts.items())


def path_communication(step: ComposedStep) -> dict[str, tuple[str, ...]]:
    """Return cause -> avoidable communication on the critical path.

    A gather and the reduction before it are a matter of "order", and so is an operation that was
    ready while its stream stood still for the one before it. A gather that waits for a layer to be
    freed is one of "room"; what else follows its like is one of "wire".
    """
    names_by_cause: dict[str, list[str]] = {"order": [], "room": [], "wire": []}
    for index, name in enumerate(step.path):
        cause = _wait_cause(step, index)
        if cause:
            names_by_cause[cause].append(name)
    return {cause: tuple(names) for cause, names in names_by_cause.items()}


def operations_time(step: ComposedStep, names: Sequence[str]) -> Seconds:
    """Return the total time of some operations."""
    return fsum(step.spans[name].end - step.spans[name].start for name in names)


def _wait_cause(step: ComposedStep, index: int) -> str:
    kind = operation_kind(step.path[index])
    before = operation_kind(step.path[index - 1]) if index else ""
    after = operation_kind(step.path[index + 1]) if index + 1 < len(step.path) else ""
    if kind not in ("AG", "RS") or not index:
        return ""
    if (
        (before, kind) == ("RS", "AG")
        or (kind, after) == ("RS", "AG")
        or _stream_was_idle(step, index)
    ):
        return "order"
    if before in ("AG", "RS"):
        # The last reduction is there whatever the order.
        return "wire" if after in ("AG", "RS") or kind == "AG" else ""
    return "room" if kind == "AG" else "wire" if after == "RS" else ""


def _stream_was_idle(step: ComposedStep, index: int) -> bool:
    """Return whether the stream was idle before the collectives that lead here on the path."""
    first = index
    while first and operation_kind(step.path[first - 1]) in ("AG", "RS"):
        first -= 1
    name = step.path[index]
    ready = max((step.spans[other].end for other in step.plan.needs[name]), default=0.0)
    return first < index and ready < step.spans[step.path[first]].start - 1e-9
