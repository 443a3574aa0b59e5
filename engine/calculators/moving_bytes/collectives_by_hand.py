"""Collectives by hand: eight operations on small numbers, step by step, and a slow port."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import fsum
from typing import Annotated

from engine.catalog.transports import INFINIBAND
from engine.core.inputs import GBITS, GIGABYTES, MICROSECONDS, PERCENT, Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import SlicedRun, Slices
from engine.core.text import Text
from engine.core.units import GB, KB, MICRO, TB, Bytes, Count, Gbit, Ratio, Seconds
from engine.core.views import Badge, Bar, Bars, Scene, Segment, Table
from engine.draw.collective import collective_drawing
from engine.form.collective_names import algorithm_label
from engine.form.fields import FewGpus
from engine.simulate.collectives.collective_execution import (
    OPERATION_NAMES,
    expected_cell,
    initial_value,
)
from engine.simulate.collectives.collective_trace import CollectiveTrace, port_bytes
from engine.simulate.collectives.collective_walkthrough import (
    Walkthrough,
    WalkthroughSetup,
    algorithm_modules,
    algorithm_position,
    correct_cells,
    run_walkthrough,
)
from engine.simulate.network.topology import describe_link


def _options() -> dict[str, str]:
    every = {name for names in algorithm_modules().values() for name in names}
    return {name: algorithm_label(name) for name in sorted(every, key=algorithm_position)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    operation: Annotated[
        str,
        Choice(
            label="Operation",
            options={key: name.capitalize() for key, name in OPERATION_NAMES.items()},
        ),
    ] = "all_reduce"
    algorithm: Annotated[
        str,
        Choice(
            label="Algorithm",
            options=_options(),
            help="Not every operation has every algorithm; the nearest one is then shown.",
        ),
    ] = "ring"
    world_size: FewGpus = 8
    slow_share: Annotated[
        float,
        Number(
            label="Remaining speed of one port",
            unit=PERCENT,
            low=0.05,
            high=1.0,
            step=0.05,
            help="What the port of one GPU still sends, as a share of what it should.",
        ),
    ] = 1.0
    seed: Annotated[
        int,
        Number(
            label="Numbers",
            low=0,
            high=999,
            whole=True,
            help="Other numbers to start with; 0 counts up.",
        ),
    ] = 0
    slow_gpu: Annotated[
        int,
        Number(label="Slow GPU", low=0, high=15, whole=True, advanced=True),
    ] = 1
    size: Annotated[
        float,
        Number(
            label="Buffer of a GPU",
            unit=GIGABYTES,
            low=1 * KB,
            high=1 * TB,
            scale="log",
            symbol="S",
            advanced=True,
        ),
    ] = 14 * GB
    port: Annotated[
        float,
        Number(
            label="Port per GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            symbol="B",
            advanced=True,
        ),
    ] = 400 * Gbit
    latency: Annotated[
        float,
        Number(
            label="Latency of one message",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
            advanced=True,
        ),
    ] = INFINIBAND.step


def setup_of(inputs: Inputs) -> WalkthroughSetup:
    """Return the setup of the collective to run."""
    return WalkthroughSetup(
        operation=inputs.operation,
        algorithm=inputs.algorithm,
        world_size=inputs.world_size,
        seed=inputs.seed,
        slow_gpu=inputs.slow_gpu,
        slow_share=inputs.slow_share,
        size=inputs.size,
        port=inputs.port,
        latency=inputs.latency,
    )


_COUNTED = ("Counted in the run that the scene shows; the tests hold it against the closed form.",)
_SOURCES = ("patarasuk2009", "thakur2005", "sanders2009")
_WIRES = (
    "One port of {port} per GPU, of which NCCL reaches nine tenths, all on one switch that never "
    "blocks. On equal ports, what NCCL has too takes as long as there.",
    "Messages of a round start together and share ports max-min fairly; a round starts when "
    "the one before has ended.",
)
_FLUID = ("bertsekas1992", "hockney1994")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedChunk:
    """The final values of a chunk and the expected values.

    Attributes:
        ranks: the GPUs that must hold it.
        values: the different values that they do hold.
        parts: the numbers whose sum they must hold, from the first frame.
    """

    ranks: tuple[int, ...]
    values: tuple[int, ...]
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Counts and checks of the run, and its time on the network; `hand` is the run.

    `waits_for` is the link that the last message waits for, in words.
    """

    hand: Walkthrough
    rounds: Annotated[
        Count, Output("Rounds", assumes=_COUNTED, sources=_SOURCES, basis="simulated")
    ]
    busiest_port: Annotated[
        Ratio,
        Output(
            "Busiest port sends",
            "",
            "the buffer",
            "communication",
            assumes=_COUNTED,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    all_ports: Annotated[
        Ratio,
        Output(
            "All ports together send",
            "",
            "the buffer, from {world_size} GPUs",
            assumes=_COUNTED,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    time: Annotated[
        Seconds,
        Output(
            "",
            "",
            "{latency_part} of it latency",
            "communication",
            assumes=_WIRES,
            sources=_FLUID,
            basis="simulated",
        ),
    ]
    latency_part: Seconds
    even_time: Annotated[
        Seconds,
        Output(
            "With equal ports",
            "",
            "{slower} as long with the slow one",
            assumes=("The same run with no slow port.",),
            sources=_FLUID,
            basis="simulated",
        ),
    ]
    slower: Ratio
    equal: tuple[bool, ...]
    cells: Count
    wrong: Count
    ports: tuple[tuple[Bytes, Bytes], ...]
    waits_for: str
    chunks: Lazy[tuple[ExpectedChunk, ...]]


def solve(inputs: Inputs) -> Result:
    """Return the run on numbers and on wires."""
    hand = run_walkthrough(setup_of(inputs))
    sent = [out for out, _ in port_bytes(hand.trace, -1, 1.0)]
    equal = correct_cells(hand.trace)
    return Result(
        hand=hand,
        rounds=len(hand.trace.frames) - 1,
        busiest_port=max(sent),
        all_ports=fsum(sent),
        time=hand.timed.time,
        latency_part=hand.timed.latency,
        even_time=hand.even.time,
        slower=hand.timed.time / hand.even.time,
        equal=equal,
        cells=len(equal),
        wrong=equal.count(False),
        ports=port_bytes(hand.trace, -1, inputs.size),
        waits_for=describe_link(hand.timed.bottleneck[0]) if hand.timed.bottleneck else "",
        chunks=Lazy(partial(_chunks, hand.trace)),
    )


def _chunks(trace: CollectiveTrace) -> tuple[ExpectedChunk, ...]:
    return tuple(_expected_chunk(trace, chunk) for chunk in range(trace.chunks))


def _expected_chunk(trace: CollectiveTrace, chunk: int) -> ExpectedChunk:
    n, final = trace.world_size, trace.frames[-1].state
    cells = {
        rank: cell for rank in range(n) if (cell := expected_cell(trace, rank, chunk)) is not None
    }
    adders = sorted(next(iter(cells.values())).ranks)
    return ExpectedChunk(
        ranks=tuple(cells),
        values=tuple(sorted({final[rank][chunk].value for rank in cells})),
        parts=tuple(initial_value(rank, chunk, n, trace.chunks, trace.seed) for rank in adders),
    )


REDUCING_OPERATIONS = ("all_reduce", "reduce_scatter", "reduce")


def equality_badge(present: Presenter, inputs: Inputs, equal: bool) -> Badge:
    """Return the badge on whether all cells equal the directly computed values."""
    reference = (
        "sums added directly"
        if inputs.operation in REDUCING_OPERATIONS
        else "numbers looked up directly"
    )
    if equal:
        return Badge(
            text="Equal",
            sentence=present.say(
                f"Compared after the last round: all {{cells}} cells equal the {reference}."
            ),
            color="data",
        )
    return Badge(
        text="Not equal",
        sentence=present.say(f"{{wrong}} of {{cells}} cells differ from the {reference}."),
        color="communication",
    )


def result_table(inputs: Inputs, result: Result) -> Table:
    """Return the table of expected and actual values by chunk (by GPU in an all-to-all)."""
    if inputs.operation == "all_to_all":
        rows = [_received_row(result, inputs.world_size, rank) for rank in range(inputs.world_size)]
        links = tuple((f"rank:{rank}",) for rank in range(inputs.world_size))
        columns = ("GPU", "Got", "Must get", "Had for the others")
    else:
        chunks = range(len(result.chunks()))
        rows = [_chunk_row(result, chunk) for chunk in chunks]
        links = tuple((f"chunk:{chunk}",) for chunk in chunks)
        columns = ("Chunk", "At the end", "Held by", "Computed directly")
    return Table(
        title=f"The {OPERATION_NAMES[inputs.operation]}, checked",
        columns=columns,
        rows=tuple(rows),
        caption="At the end: what the run left in the cells. The last column is computed without "
        "it, from the numbers of the first frame.",
        links=links,
    )


def _chunk_row(result: Result, chunk: int) -> tuple[Text, ...]:
    owed = result.chunks()[chunk]
    direct = " + ".join(map(str, owed.parts)) + (f" = {sum(owed.parts)}" if owed.parts[1:] else "")
    who = f"GPU {owed.ranks[0]}" if len(owed.ranks) == 1 else f"all {len(owed.ranks)} GPUs"
    return (str(chunk), " and ".join(map(str, owed.values)), who, direct)


def _received_row(result: Result, n: Count, rank: int) -> tuple[Text, ...]:
    """Return the table row of a GPU's blocks: block a·n + b goes from GPU a to GPU b."""
    blocks = result.chunks()
    own, others = blocks[rank * n : (rank + 1) * n], blocks[rank::n]
    got, must = (block.values for block in others), (block.parts for block in others)
    has = (block.parts for block in own)
    return (
        str(rank),
        *(" ".join(str(block[0]) for block in column) for column in (got, must, has)),
    )


def port_bars(present: Presenter, ports: tuple[tuple[Bytes, Bytes], ...]) -> Bars:
    """Return the bars of bytes sent and received by each port."""
    most = max(max(pair) for pair in ports)
    return Bars(
        title="What every port has carried",
        axis=present.axis("size", "each way", low=0.0, high=most * 1.18 or 1.0),
        bars=tuple(
            Bar(
                key=f"gpu{rank} {direction}",
                label=f"GPU {rank} {direction}",
                segments=(Segment(key=direction, label=label, value=carried, color=color),),
                links=(f"rank:{rank}",),
            )
            for rank, pair in enumerate(ports)
            for direction, label, carried, color in (
                ("out", "sent", pair[0], "communication"),
                ("in", "received", pair[1], "muted"),
            )
        ),
        caption=present.say(
            "For a buffer of {size}. A port works both ways at once, so the longer of its two "
            "bars counts."
        ),
    )


TITLE = "Collectives by hand"
QUESTION = "How can every GPU get the sum without one of them doing all the work?"
HEADLINE = "time"
PRESETS = {
    "A star": {"algorithm": "star"},
    "Half of it: reduce-scatter": {"operation": "reduce_scatter"},
    "The other half: all-gather": {"operation": "all_gather"},
    "One port at a quarter": {"slow_share": 0.25},
    "All-to-all on four": {"operation": "all_to_all", "algorithm": "direct", "world_size": 4},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, the counts and checks of its run, and its time on the network."""
    present, hand = Presenter(inputs, result), result.hand
    note = _substitution_note(inputs, hand) or "each waits for the one before"
    return {
        "scene": partial(_scene, hand),
        "proof": equality_badge(present, inputs, all(result.equal)),
        "rounds": present.value("rounds", note=note, value=float(result.rounds)),
        **present.values("busiest_port", "all_ports"),
        "time": present.value("time", label=f"This {OPERATION_NAMES[inputs.operation]}"),
        **present.values("even_time"),
        "binding": _limit_badge(present, inputs, result),
        "meter": partial(port_bars, present, result.ports),
        "sums": partial(result_table, inputs, result),
    }


def _scene(hand: Walkthrough) -> Slices[Scene]:
    drawn = yield from _drawing(hand.trace, hasattr(hand.module, "ROOT")).rest()
    return drawn


@lru_cache(maxsize=4)
def _drawing(trace: CollectiveTrace, star: bool) -> SlicedRun[Scene]:
    return SlicedRun(_with_caption(collective_drawing(trace, star=star)))


def _with_caption(drawing: Slices[Scene]) -> Slices[Scene]:
    drawn = yield from drawing
    # A page sets the title of a figure once; what the reader chose belongs into the caption.
    return replace(drawn, title="Round by round", caption=f"{drawn.title}. {drawn.caption}")


def _substitution_note(inputs: Inputs, hand: Walkthrough) -> str:
    """Return a sentence if the chosen algorithm was substituted, else an empty string."""
    if hand.algorithm == inputs.algorithm:
        return ""
    operation, shown = OPERATION_NAMES[inputs.operation], algorithm_label(hand.algorithm).lower()
    return f'There is no such {operation} here; shown is the algorithm "{shown}".'


def _limit_badge(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the limit of the run: latency, a single port, or all ports."""
    timed, hand = result.hand.timed, result.hand
    if timed.latency > timed.time / 2:
        sentence = present.say(
            "More than half of the time is latency: {rounds} rounds, each waiting for a message."
        )
        return Badge(text="Latency", sentence=sentence)
    if hand.slow_port in timed.bottleneck and inputs.slow_share < 1:
        sentence = present.say(
            "Everybody waits for one port at {slow_share} of its speed: {slower} as long as with "
            "equal ports."
        )
        return Badge(text=f"Port of GPU {hand.slow_gpu}", sentence=sentence, color="communication")
    loads = [load for link, load in timed.loads.items() if link[0] in ("port_out", "port_in")]
    if max(loads) <= min(loads) * (1 + 1e-9) or len(timed.bottleneck) == 0:
        return Badge(
            text="All ports alike",
            sentence="Every port carries the same, in every round. No one waits for another.",
            color="data",
        )
    first = timed.bottleneck[0]
    return Badge(
        text=f"Port of GPU {first[1]}",
        sentence=f"The last message waits for the {result.waits_for}; other ports have less to do.",
        color="communication",
    )
