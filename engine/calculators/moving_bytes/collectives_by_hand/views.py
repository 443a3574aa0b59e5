"""Collectives by hand: the proof that the sums are right, and the meters of the ports."""

from engine.basis.text import Text
from engine.basis.told import Teller
from engine.basis.units import Bytes
from engine.basis.views import Badge, Bar, Bars, Segment, Table
from engine.calculators.moving_bytes.collectives_by_hand.inputs import Inputs
from engine.simulate.by_hand import Hand
from engine.simulate.collective import OPERATIONS, part, promise

ADDING = ("all_reduce", "reduce_scatter", "reduce")


def proof(tell: Teller, inputs: Inputs, equal: bool) -> Badge:
    """Return whether every GPU ended with what was computed directly, cell by cell."""
    what = "sums added directly" if inputs.operation in ADDING else "numbers looked up directly"
    if equal:
        return Badge(
            text="Equal",
            sentence=tell.say(
                f"Compared after the last round: all {{cells}} cells equal the {what}."
            ),
            color="data",
        )
    return Badge(
        text="Not equal",
        sentence=tell.say(f"{{wrong}} of {{cells}} cells differ from the {what}."),
        color="communication",
    )


def sums(inputs: Inputs, hand: Hand) -> Table:
    """Return what was promised and what is held, by chunk (by GPU in an all-to-all)."""
    if inputs.operation == "all_to_all":
        rows = [_received(hand, rank) for rank in range(inputs.world_size)]
        links = tuple((f"rank:{rank}",) for rank in range(inputs.world_size))
        columns = ("GPU", "Got", "Must get", "Had for the others")
    else:
        rows = [_chunk(inputs, hand, chunk) for chunk in range(hand.trace.chunks)]
        links = tuple((f"chunk:{chunk}",) for chunk in range(hand.trace.chunks))
        columns = ("Chunk", "At the end", "Held by", "Computed directly")
    return Table(
        title=f"The {OPERATIONS[inputs.operation]}, checked",
        columns=columns,
        rows=tuple(rows),
        caption="At the end: what the run left in the cells. The last column is computed without "
        "it, from the numbers of the first frame.",
        links=links,
    )


def _chunk(inputs: Inputs, hand: Hand, chunk: int) -> tuple[Text, ...]:
    trace = hand.trace
    ranks = [r for r in range(trace.world_size) if promise(trace, r, chunk) is not None]
    cell = promise(trace, ranks[0], chunk)
    parts = [
        part(rank, chunk, trace.world_size, trace.chunks, trace.seed)
        for rank in sorted(cell.ranks if cell else ())
    ]
    direct = " + ".join(map(str, parts)) + (f" = {sum(parts)}" if len(parts) > 1 else "")
    held = {trace.frames[-1].state[rank][chunk].value for rank in ranks}
    who = f"GPU {ranks[0]}" if len(ranks) == 1 else f"all {len(ranks)} GPUs"
    return (str(chunk), " and ".join(map(str, sorted(held))), who, direct)


def _received(hand: Hand, rank: int) -> tuple[Text, ...]:
    trace, n = hand.trace, hand.trace.world_size
    ranks = range(n)
    final = trace.frames[-1].state[rank]
    has = [part(rank, rank * n + other, n, trace.chunks, trace.seed) for other in ranks]
    must = [part(other, other * n + rank, n, trace.chunks, trace.seed) for other in ranks]
    got = [final[other * n + rank].value for other in ranks]
    return (str(rank), *(" ".join(map(str, numbers)) for numbers in (got, must, has)))


def meter(tell: Teller, ports: tuple[tuple[Bytes, Bytes], ...]) -> Bars:
    """Return the bytes of every port, out and in beside one another."""
    most = max(max(pair) for pair in ports)
    return Bars(
        title="What every port has carried",
        axis=tell.axis("size", "each way", low=0.0, high=most * 1.18 or 1.0),
        bars=tuple(
            Bar(
                key=f"gpu{rank} {way}",
                label=f"GPU {rank} {way}",
                segments=(Segment(key=way, label=label, value=carried, color=color),),
                links=(f"rank:{rank}",),
            )
            for rank, pair in enumerate(ports)
            for way, label, carried, color in (
                ("out", "sent", pair[0], "communication"),
                ("in", "received", pair[1], "muted"),
            )
        ),
        caption=tell.say(
            "For a buffer of {size}. A port works both ways at once, so the longer of its two "
            "bars counts."
        ),
    )
