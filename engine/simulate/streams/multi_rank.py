"""The program of one rank played by several: each computes alone, all communicate together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.core.units import Count, Ratio, Seconds
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, Op, Span

_SHARED = (NETWORK, SCALE_UP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What a trace of one rank shows of an operation.

    Attributes:
        begin: the rank has launched it. A collective begins on a rank as soon as that rank is
            ready, and spins until the last rank has come.
        moved: from when on it does its work; later than `begin` only for collectives.
    """

    op: Op
    rank: Count
    begin: Seconds
    moved: Seconds
    end: Seconds


def on_ranks(ops: Sequence[Op], paces: Sequence[Ratio]) -> tuple[Op, ...]:
    """Return the program of as many ranks as there are paces.

    Rank `r` takes `paces[r]` times as long to compute. What a rank does alone is called KEY@RANK
    and belongs to "rank:RANK"; a collective keeps its key and occupies all ranks.
    """
    shared = {op.key for op in ops if op.stream in _SHARED}
    ranks = range(len(paces))
    found: list[Op] = []
    for op in ops:
        if op.key in shared:
            after = tuple(
                name
                for key in op.after
                for name in ((key,) if key in shared else [_own(key, rank) for rank in ranks])
            )
            found.append(replace(op, after=after, ranks=tuple(ranks)))
            continue
        for rank in ranks:
            pace = paces[rank] if op.stream == COMPUTE else 1.0
            after = tuple(key if key in shared else _own(key, rank) for key in op.after)
            own = replace(op, key=_own(op.key, rank), time=op.time * pace, after=after)
            found.append(replace(own, ranks=(rank,), links=(f"rank:{rank}", *op.links)))
    return tuple(found)


def kernels(spans: Sequence[Span]) -> tuple[Kernel, ...]:
    """Return what each rank's trace shows, in the order of the program."""
    end_of = {span.op.key: span.end for span in spans}
    of_rank = {span.op.key: span.op.ranks for span in spans}
    free: dict[tuple[Count, str], Seconds] = {}
    found = []
    for span in spans:
        op = span.op
        for rank in op.ranks:
            needs = [end_of[key] for key in op.after if rank in of_rank[key]]
            begin = max([free.get((rank, op.stream), 0.0), *needs])
            begin = min(begin, span.start) if op.stream in _SHARED else span.start
            found.append(Kernel(op=op, rank=rank, begin=begin, moved=span.start, end=span.end))
            free[rank, op.stream] = span.end
    return tuple(found)


def _own(key: str, rank: Count) -> str:
    return f"{key}@{rank}"
