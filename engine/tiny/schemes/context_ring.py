"""Context parallelism, contiguous: rank r has the r-th piece of each sequence (Liu et al. 2023)."""

from engine.core.units import Count
from engine.tiny.context_layers import train_context_parallel
from engine.tiny.job import TinyJob
from engine.tiny.result import TrainingResult

TITLE = "Context parallel, contiguous ring"
AXIS = "context"
RANKS: tuple[Count, ...] = (1, 2, 4)


def positions(length: Count, rank: int, ranks: Count) -> list[int]:
    """Return the positions of a rank.

    Raises:
        ValueError: the sequence does not split evenly.
    """
    if length % ranks:
        raise ValueError(f"{ranks} ranks do not divide a sequence of {length} tokens")
    each = length // ranks
    return list(range(rank * each, (rank + 1) * each))


def train(job: TinyJob, ranks: Count) -> TrainingResult:
    """Return the run on `ranks` ranks."""
    return train_context_parallel(job, ranks, positions)
