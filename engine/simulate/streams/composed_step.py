"""Simulation of a composed step: spans, critical path, gathered layers and lower bound."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum

from engine.core.units import Count, Seconds
from engine.formulas.issue_order import layered_end, least_step, streamed_end
from engine.simulate.streams.stream_account import StepAccount, step_account
from engine.simulate.streams.streams import COMPUTE, NETWORK, OpSpan, StreamOp, run_program

# Orders of two streams: dependencies, deadlocks, and repair of orders that deadlock.
#
# Streams work in order. An operation whose turn it is may wait for one behind it in its own stream,
# or the heads of both streams may wait for one another through what stands behind them; then
# nothing runs any more. Such an order is repaired: an operation that cannot run in its turn comes
# later.

LAYERS = 3
# The suffix b marks a gather for the backward pass: the layer was freed after its forward pass.
REGATHERS = ("AG2b", "AG1b")
COMPUTE_ITEMS = ("F1", "F2", "F3", "B3", "B2", "B1", "Opt3", "Opt2", "Opt1")
COMMUNICATION_ITEMS = ("AG1", "AG2", "AG3", "RS3", "AG2b", "RS2", "AG1b", "RS1")
# Operation -> operation that it waits for -> reason, "data" or "room".
Dependencies = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOrders:
    """Operations of each stream, in the order of issue."""

    compute: tuple[str, ...]
    communication: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPlan:
    """Orders without deadlock, and the changes made to the requested orders.

    Attributes:
        orders: executed orders.
        needs: dependencies of every operation, beside its own stream.
        moved: operations that run later than requested.
        why: description of the deadlock; empty if nothing was moved.
    """

    orders: StreamOrders
    needs: Dependencies
    moved: tuple[str, ...] = ()
    why: str = ""


def frees_after_forward(room: Count) -> bool:
    """Return whether layers are freed after their forward pass, since not all have room."""
    return room < LAYERS


def last_use(gather: str, room: Count) -> str:
    """Return the last operation that uses a gathered layer; the top layer is kept in between."""
    layer = gather[2]
    first = frees_after_forward(room) and not gather.endswith("b") and int(layer) < LAYERS
    return f"{'F' if first else 'B'}{layer}"


def dependencies_of(orders: StreamOrders, room: Count, *, clipped: bool) -> Dependencies:
    """Return the dependencies of every operation; room depends on the order of the gathers."""
    dependencies: dict[str, dict[str, str]] = {}
    for name in orders.compute:
        kind, layer = name[:-1], int(name[-1])
        dependencies[name] = dict.fromkeys(
            _data_dependencies(kind, layer, room, clipped=clipped), "data"
        )
    gathers = [name for name in orders.communication if name.startswith("AG")]
    frees = {last_use(name, room) for name in gathers}
    in_turn = [name for name in orders.compute if name in frees]
    for name in orders.communication:
        if name.startswith("RS"):
            dependencies[name] = {f"B{name[2]}": "data"}
            continue
        # Each of `room` places is taken again by the gather that is so many gathers later.
        late = gathers.index(name) - room
        dependencies[name] = {in_turn[late]: "room"} if late >= 0 else {}
        if name in REGATHERS:
            dependencies[name].setdefault(f"F{name[2]}", "room")
    return dependencies


def _data_dependencies(kind: str, layer: int, room: Count, *, clipped: bool) -> list[str]:
    if kind == "F":
        return [f"AG{layer}", *([f"F{layer - 1}"] if layer > 1 else [])]
    if kind == "B":
        above = f"B{layer + 1}" if layer < LAYERS else f"F{layer}"
        regathered = frees_after_forward(room) and layer < LAYERS
        return [f"AG{layer}b" if regathered else f"AG{layer}", above]
    return [f"RS{number}" for number in range(1, LAYERS + 1)] if clipped else [f"RS{layer}"]


def deadlocked_heads(orders: StreamOrders, needs: Dependencies) -> tuple[str, ...]:
    """Return the deadlocked heads of the streams; none if all operations run."""
    streams = [list(orders.compute), list(orders.communication)]
    finished: set[str] = set()
    progressed = True
    while progressed:
        progressed = False
        for stream in streams:
            while stream and needs[stream[0]].keys() <= finished:
                finished.add(stream.pop(0))
                progressed = True
    return tuple(stream[0] for stream in streams if stream)


def plan_orders(compute: str, communication: str, room: Count, *, clipped: bool) -> OrderPlan:
    """Return the requested orders, repaired where they deadlock."""
    requested = StreamOrders(
        compute=tuple(compute.split("-")),
        communication=needed_gathers(communication.split("-"), room),
    )
    needs = dependencies_of(requested, room, clipped=clipped)
    stuck = deadlocked_heads(requested, needs)
    if not stuck:
        return OrderPlan(orders=requested, needs=needs)

    def runs(computing: tuple[str, ...], communicating: tuple[str, ...]) -> bool:
        orders = StreamOrders(compute=computing, communication=communicating)
        return not deadlocked_heads(orders, dependencies_of(orders, room, clipped=clipped))

    # Late gathers and early reductions let every order of the compute stream run that can.
    late = needed_gathers(COMMUNICATION_ITEMS, room)
    computing, delayed_compute = _repair_order(
        requested.compute, COMPUTE_ITEMS, lambda order: runs(order, late)
    )
    communicating, delayed_communication = _repair_order(
        requested.communication, late, lambda order: runs(computing, order)
    )
    orders = StreamOrders(compute=computing, communication=communicating)
    moved = (*delayed_compute, *delayed_communication)
    return OrderPlan(
        orders=orders,
        needs=dependencies_of(orders, room, clipped=clipped),
        moved=moved,
        why=_describe_deadlock(
            requested, needs, next((name for name in moved if name in stuck), stuck[-1])
        ),
    )


def needed_gathers(communication: Sequence[str], room: Count) -> tuple[str, ...]:
    """Return the communication operations that exist with `room` for gathered layers."""
    return tuple(
        name for name in communication if frees_after_forward(room) or name not in REGATHERS
    )


def _repair_order(
    requested: Sequence[str], fallback: Sequence[str], runs: Callable[[tuple[str, ...]], bool]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the closest order without deadlock, and the operations that run later than requested.

    At each place stands the first operation left with which the rest, in an order that is
    `fallback`, still runs; the first of the sound order always does.
    """
    repaired: list[str] = []
    remaining = list(requested)
    moved: list[str] = []
    while remaining:
        for name in remaining:
            others = [other for other in fallback if other in remaining and other != name]
            if runs((*repaired, name, *others)):
                break
            moved.append(name)
        repaired.append(name)
        remaining.remove(name)
    return tuple(repaired), tuple(dict.fromkeys(moved))


def _describe_deadlock(orders: StreamOrders, needs: Dependencies, first: str) -> str:
    """Return a description of the wait cycle that starts at an operation."""
    stuck = deadlocked_heads(orders, needs)
    stream_of = {
        name: index
        for index, stream in enumerate((orders.compute, orders.communication))
        for name in stream
    }
    head_of = {stream_of[name]: name for name in stuck}
    position_of = {
        name: index for index, name in enumerate(chain(orders.compute, orders.communication))
    }
    clauses: list[str] = []
    seen: set[str] = set()
    current = first
    while current not in seen:
        seen.add(current)
        # What has ended stands before its stream's head.
        waits = {
            other: why
            for other, why in needs[current].items()
            if stream_of[other] in head_of
            and position_of[other] >= position_of[head_of[stream_of[other]]]
        }
        other, why = next(iter(waits.items()))
        clause = f"{current} waits for {'room, which ' if why == 'room' else ''}{other}"
        clause += " makes" if why == "room" else ""
        head = head_of[stream_of[other]]
        clauses.append(clause + (f", and {other} stands behind {head}" if other != head else ""))
        current = head
    return "; ".join(clauses)


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
