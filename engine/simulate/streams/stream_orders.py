"""Orders of two streams that can run: what every operation waits for, and orders that cannot.

Streams work in order. An operation whose turn it is may wait for one behind it in its own stream,
or the heads of both streams may wait for one another through what stands behind them; then nothing
runs any more. Such an order is repaired: an operation that cannot run in its turn comes later.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from engine.core.units import Count

LAYERS = 3
# The b marks a gather for the backward pass: the layer was freed after its forward pass.
AGAIN = ("AG2b", "AG1b")
COMPUTE_ITEMS = ("F1", "F2", "F3", "B3", "B2", "B1", "Opt3", "Opt2", "Opt1")
COMMUNICATION_ITEMS = ("AG1", "AG2", "AG3", "RS3", "AG2b", "RS2", "AG1b", "RS1")
# Operation -> what it waits for -> why: "data" or "room".
Needs = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The operations of each stream, in the order in which they are issued."""

    compute: tuple[str, ...]
    communication: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Orders that can run, and what was changed for it.

    Attributes:
        orders: as they run.
        needs: what every operation waits for, besides its own stream.
        moved: operations that come later than asked.
        why: what would have happened, in words; empty if nothing was moved.
    """

    orders: Orders
    needs: Needs
    moved: tuple[str, ...] = ()
    why: str = ""


def gathers_again(room: Count) -> bool:
    """Return whether layers are freed after their forward pass: where not all have room."""
    return room < LAYERS


def freed_by(gather: str, room: Count) -> str:
    """Return the last operation that uses what was gathered; the top layer is kept in between."""
    layer = gather[2]
    first = gathers_again(room) and not gather.endswith("b") and int(layer) < LAYERS
    return f"{'F' if first else 'B'}{layer}"


def needs_of(orders: Orders, room: Count, *, clipped: bool) -> Needs:
    """Return what every operation waits for; room depends on the order of the gathers."""
    found: dict[str, dict[str, str]] = {}
    for name in orders.compute:
        kind, layer = name[:-1], int(name[-1])
        found[name] = dict.fromkeys(_inputs_of(kind, layer, room, clipped=clipped), "data")
    gathers = [name for name in orders.communication if name.startswith("AG")]
    frees = {freed_by(name, room) for name in gathers}
    in_turn = [name for name in orders.compute if name in frees]
    for name in orders.communication:
        if name.startswith("RS"):
            found[name] = {f"B{name[2]}": "data"}
            continue
        # Each of `room` places is taken again by the gather that is so many gathers later.
        late = gathers.index(name) - room
        found[name] = {in_turn[late]: "room"} if late >= 0 else {}
        if name in AGAIN:
            found[name].setdefault(f"F{name[2]}", "room")
    return found


def _inputs_of(kind: str, layer: int, room: Count, *, clipped: bool) -> list[str]:
    if kind == "F":
        return [f"AG{layer}", *([f"F{layer - 1}"] if layer > 1 else [])]
    if kind == "B":
        above = f"B{layer + 1}" if layer < LAYERS else f"F{layer}"
        again = gathers_again(room) and layer < LAYERS
        return [f"AG{layer}b" if again else f"AG{layer}", above]
    return [f"RS{one}" for one in range(1, LAYERS + 1)] if clipped else [f"RS{layer}"]


def heads(orders: Orders, needs: Needs) -> tuple[str, ...]:
    """Return the operations that never start though it is their turn; none if all run."""
    streams = [list(orders.compute), list(orders.communication)]
    ended: set[str] = set()
    going = True
    while going:
        going = False
        for stream in streams:
            while stream and needs[stream[0]].keys() <= ended:
                ended.add(stream.pop(0))
                going = True
    return tuple(stream[0] for stream in streams if stream)


def plan(compute: str, communication: str, room: Count, *, clipped: bool) -> Plan:
    """Return the orders asked for, repaired where they cannot run."""
    asked = Orders(
        compute=tuple(compute.split("-")),
        communication=present(communication.split("-"), room),
    )
    needs = needs_of(asked, room, clipped=clipped)
    stuck = heads(asked, needs)
    if not stuck:
        return Plan(orders=asked, needs=needs)

    def runs(computing: tuple[str, ...], communicating: tuple[str, ...]) -> bool:
        orders = Orders(compute=computing, communication=communicating)
        return not heads(orders, needs_of(orders, room, clipped=clipped))

    # Late gathers and early reductions let every order of the compute stream run that can.
    late = present(COMMUNICATION_ITEMS, room)
    computing, held = _mended(asked.compute, COMPUTE_ITEMS, lambda order: runs(order, late))
    communicating, kept = _mended(asked.communication, late, lambda order: runs(computing, order))
    orders = Orders(compute=computing, communication=communicating)
    moved = (*held, *kept)
    return Plan(
        orders=orders,
        needs=needs_of(orders, room, clipped=clipped),
        moved=moved,
        why=_circle(asked, needs, next((name for name in moved if name in stuck), stuck[-1])),
    )


def present(communication: Sequence[str], room: Count) -> tuple[str, ...]:
    """Return the operations of the communication stream that there are with so much room."""
    return tuple(name for name in communication if gathers_again(room) or name not in AGAIN)


def _mended(
    asked: Sequence[str], sound: Sequence[str], runs: Callable[[tuple[str, ...]], bool]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the order nearest to the one asked that runs, and what comes later than asked.

    At each place stands the first operation left with which the rest, in an order that is `sound`,
    still runs; the first of the sound order always does.
    """
    done: list[str] = []
    left = list(asked)
    moved: list[str] = []
    while left:
        for name in left:
            rest = [other for other in sound if other in left and other != name]
            if runs((*done, name, *rest)):
                break
            moved.append(name)
        done.append(name)
        left.remove(name)
    return tuple(done), tuple(dict.fromkeys(moved))


def _circle(orders: Orders, needs: Needs, first: str) -> str:
    """Return in words what the first operation would wait for, until the circle closes."""
    stuck = heads(orders, needs)
    stream_of = {
        name: index
        for index, stream in enumerate((orders.compute, orders.communication))
        for name in stream
    }
    head_of = {stream_of[name]: name for name in stuck}
    place = {name: at for at, name in enumerate(chain(orders.compute, orders.communication))}
    clauses: list[str] = []
    seen: set[str] = set()
    at = first
    while at not in seen:
        seen.add(at)
        # What has ended stands before its stream's head.
        waits = {
            other: why
            for other, why in needs[at].items()
            if stream_of[other] in head_of and place[other] >= place[head_of[stream_of[other]]]
        }
        other, why = next(iter(waits.items()))
        clause = f"{at} waits for {'room, which ' if why == 'room' else ''}{other}"
        clause += " makes" if why == "room" else ""
        head = head_of[stream_of[other]]
        clauses.append(clause + (f", and {other} stands behind {head}" if other != head else ""))
        at = head
    return "; ".join(clauses)
