"""Collectives by hand: the proof that the sums are right, and the meters of the ports."""

from engine.calculators.moving_bytes.collectives_by_hand.inputs import Inputs
from engine.calculators.moving_bytes.collectives_by_hand.result import Result
from engine.core.outputs import Teller
from engine.core.text import Text
from engine.core.units import Bytes, Count
from engine.core.views import Badge, Bar, Bars, Segment, Table
from engine.simulate.collectives.collective_execution import OPERATIONS

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


def sums(inputs: Inputs, result: Result) -> Table:
    """Return what was promised and what is held, by chunk (by GPU in an all-to-all)."""
    if inputs.operation == "all_to_all":
        rows = [_received(result, inputs.world_size, rank) for rank in range(inputs.world_size)]
        links = tuple((f"rank:{rank}",) for rank in range(inputs.world_size))
        columns = ("GPU", "Got", "Must get", "Had for the others")
    else:
        chunks = range(len(result.chunks()))
        rows = [_chunk(result, chunk) for chunk in chunks]
        links = tuple((f"chunk:{chunk}",) for chunk in chunks)
        columns = ("Chunk", "At the end", "Held by", "Computed directly")
    return Table(
        title=f"The {OPERATIONS[inputs.operation]}, checked",
        columns=columns,
        rows=tuple(rows),
        caption="At the end: what the run left in the cells. The last column is computed without "
        "it, from the numbers of the first frame.",
        links=links,
    )


def _chunk(result: Result, chunk: int) -> tuple[Text, ...]:
    one = result.chunks()[chunk]
    direct = " + ".join(map(str, one.parts)) + (f" = {sum(one.parts)}" if one.parts[1:] else "")
    who = f"GPU {one.ranks[0]}" if len(one.ranks) == 1 else f"all {len(one.ranks)} GPUs"
    return (str(chunk), " and ".join(map(str, one.held)), who, direct)


def _received(result: Result, n: Count, rank: int) -> tuple[Text, ...]:
    """Return the blocks of a GPU: block a·n + b is what GPU a has for GPU b."""
    blocks = result.chunks()
    own, others = blocks[rank * n : (rank + 1) * n], blocks[rank::n]
    got, must = (one.held for one in others), (one.parts for one in others)
    has = (one.parts for one in own)
    return (str(rank), *(" ".join(str(one[0]) for one in column) for column in (got, must, has)))


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
