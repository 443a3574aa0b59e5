"""The tiny model trained with its sequences cut over ranks, beside one GPU."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from engine.core.units import Count
from engine.tiny import single
from engine.tiny.job import TinyJob, example_batch
from engine.tiny.result import TrainingResult, parameter_difference
from engine.tiny.schemes import context_ring, context_zig_zag

Cut = Literal["contiguous", "zigzag"]
_LENGTH: Count = 8
_SCHEMES = {"contiguous": context_ring, "zigzag": context_zig_zag}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecord:
    """A run of three steps over some ranks, and the same on one GPU.

    Attributes:
        run: over the ranks.
        alone: on one GPU.
        positions: of a sequence of eight, by rank.
    """

    run: TrainingResult
    alone: TrainingResult
    positions: tuple[tuple[Count, ...], ...]

    @property
    def off(self) -> float:
        """The largest difference of a parameter, of the largest parameter."""
        return parameter_difference(self.run, self.alone)

    @property
    def pairs(self) -> tuple[Count, ...]:
        """The pairs of query and key of each rank, in one sequence and head."""
        return tuple(
            sum(position + 1 for position in rank_positions) for rank_positions in self.positions
        )

    def sent(self, kind: str) -> Count:
        """Return the numbers of a kind that a rank sends per step."""
        return max(self.run.sent.get(kind, (0,))) // self.run.job.steps


@lru_cache(maxsize=8)
def context_record(ranks: Count, cut: Cut) -> ContextRecord:
    """Return the run of eight sequences of eight tokens."""
    scheme = _SCHEMES[cut]
    job = TinyJob(batch=example_batch(length=_LENGTH))
    return ContextRecord(
        run=scheme.train(job, ranks),
        alone=single.train(job),
        positions=tuple(tuple(scheme.positions(_LENGTH, r, ranks)) for r in range(ranks)),
    )
