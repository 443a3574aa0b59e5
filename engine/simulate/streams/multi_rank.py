"""Programs of several ranks: each computes alone, all communicate together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.core.units import Count, Ratio, Seconds
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, OpSpan, StreamOp

_SHARED = (NETWORK, SCALE_UP)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankKernel:
    """An operation in the trace of one rank.

    Attributes:
        begin: start on the rank. A collective begins on a rank as soon as that rank is
            ready, and spins until the last rank has come.
        moved: start of the actual work; later than `begin` only for collectives.
    """

    op: StreamOp
    rank: Count
    begin: Seconds
    moved: Seconds
    end: Seconds


def multi_rank_program(ops: Sequence[StreamOp], paces: Sequence[Ratio]) -> tuple[StreamOp, ...]:
    """Return the program of one rank replicated on as many ranks as there are paces.

    Rank `r` takes `paces[r]` times as long to compute. What a rank does alone is called KEY@RANK
    and belongs to "rank:RANK"; a collective keeps its key and occupies all ranks.
    """
    shared = {op.key for op in ops if op.stream in _SHARED}
    ranks = range(len(paces))
    program: list[StreamOp] = []
    for op in ops:
        if op.key in shared:
            after = tuple(
                name
                for key in op.after
                for name in ((key,) if key in shared else [_rank_key(key, rank) for rank in ranks])
            )
            program.append(replace(op, after=after, ranks=tuple(ranks)))
            continue
        for rank in ranks:
            pace = paces[rank] if op.stream == COMPUTE else 1.0
            after = tuple(key if key in shared else _rank_key(key, rank) for key in op.after)
            rank_op = replace(op, key=_rank_key(op.key, rank), time=op.time * pace, after=after)
            program.append(replace(rank_op, ranks=(rank,), links=(f"rank:{rank}", *op.links)))
    return tuple(program)


def rank_kernels(spans: Sequence[OpSpan]) -> tuple[RankKernel, ...]:
    """Return the kernels of each rank's trace, in the order of the program."""
    end_of = {span.op.key: span.end for span in spans}
    of_rank = {span.op.key: span.op.ranks for span in spans}
    free: dict[tuple[Count, str], Seconds] = {}
    kernels = []
    for span in spans:
        op = span.op
        for rank in op.ranks:
            needs = [end_of[key] for key in op.after if rank in of_rank[key]]
            begin = max([free.get((rank, op.stream), 0.0), *needs])
            begin = min(begin, span.start) if op.stream in _SHARED else span.start
            kernels.append(
                RankKernel(op=op, rank=rank, begin=begin, moved=span.start, end=span.end)
            )
            free[rank, op.stream] = span.end
    return tuple(kernels)


def _rank_key(key: str, rank: Count) -> str:
    return f"{key}@{rank}"
