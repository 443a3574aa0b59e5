"""The trace of a step, as a profiler would show it, and what each rank's part adds up to."""

from collections.abc import Iterable

from engine.core.text import say
from engine.core.units import SECONDS, SHARE
from engine.core.views import Axis, Cell, Lane, Span, Table, Timeline
from engine.simulate.data_parallel.trace_hunt import SHOWN, Played
from engine.simulate.streams.multi_rank import Kernel
from engine.simulate.streams.streams import COMPUTE, COPY, LAUNCH, NETWORK

_COLORS = {COMPUTE: "compute", NETWORK: "communication", COPY: "memory", LAUNCH: "muted"}
_NAMES = {COMPUTE: "compute", NETWORK: "network", COPY: "copies", LAUNCH: "launches"}


def timeline(played: Played, *, everyone: bool, high: float) -> Timeline:
    """Return the trace of all ranks that are played, or of rank 0 alone, up to `high`."""
    shown = range(SHOWN) if everyone else range(1)
    lanes = [(0, LAUNCH), (0, COPY), *((r, kind) for r in shown for kind in (COMPUTE, NETWORK))]
    return Timeline(
        title="One step, as the profiler of each rank records it",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high * 1.02),
        lanes=tuple(
            Lane(key=f"{rank}:{kind}", label=f"{_NAMES[kind]} {rank}", links=(f"rank:{rank}",))
            for rank, kind in lanes
        ),
        spans=tuple(_spans(played, set(lanes))),
        caption="Numbers are ranks. Hatched: a collective runs here, or waits for other ranks, "
        "beside no computing. Launches are those of the CPU.",
        player=True,
    )


def _spans(played: Played, lanes: set[tuple[int, str]]) -> Iterable[Span]:
    every = zip(played.kernels, played.pieces(), strict=True)
    seen = [(one, pieces) for one, pieces in every if (one.rank, one.op.stream) in lanes]
    drawn = {_key(one) for one, _ in seen}
    for one, pieces in seen:
        kept = [piece for piece in pieces if piece[1] - piece[0] > 1e-9]
        waits = tuple(
            key for name in one.op.after for key in (name, f"{name}@{one.rank}") if key in drawn
        )
        for number, (start, end, exposed) in enumerate(kept, start=1):
            last = number == len(kept)
            yield Span(
                key=_key(one) if last else f"{_key(one)} ({number})",
                lane=f"{one.rank}:{one.op.stream}",
                start=start,
                end=end,
                label=one.op.label,
                color=_COLORS[one.op.stream],
                exposed=exposed,
                links=(f"rank:{one.rank}",),
                after=waits if number == 1 else (),
            )


def _key(one: Kernel) -> str:
    return one.op.key if "@" in one.op.key else f"{one.op.key}@{one.rank}"


def ranks(played: Played, *, everyone: bool) -> Table:
    """Return what the trace of each rank adds up to."""
    shown = played.ranks if everyone else played.ranks[:1]
    rows: list[tuple[Cell, ...]] = []
    for rank, one in enumerate(shown):
        times = (one.computing, one.communicating, one.spun, one.exposed)
        share = say("{s}", s=(one.utilization, SHARE))
        rows.append((f"rank {rank}", *(say("{t}", t=(t, SECONDS)) for t in times), share))
    return Table(
        title="What each trace adds up to",
        columns=("Rank", "Computing", "Collectives", "Spinning", "Exposed", "Any kernel"),
        rows=tuple(rows),
        caption="Spinning: inside a collective, until the last rank has come. No profiler shows it "
        "separately; the ranks have to be compared.",
        links=tuple((f"rank:{rank}",) for rank in range(len(shown))),
    )
