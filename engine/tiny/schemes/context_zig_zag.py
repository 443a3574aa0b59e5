"""Context parallelism, zig-zag: of 2n pieces, rank r has the r-th and the r-th from the end.

So every rank has as many pairs of query and key to work on, though each token sees only those
before it (Dubey et al. 2024).
"""

from engine.core.slices import SlicedFunction, Slices
from engine.core.units import Count
from engine.tiny.context_layers import train_context_parallel
from engine.tiny.job import TinyJob
from engine.tiny.result import TrainingResult

TITLE = "Context parallel, zig-zag ring"
AXIS = "context"
RANKS: tuple[Count, ...] = (1, 2, 4)


def positions(length: Count, rank: int, ranks: Count) -> list[int]:
    """Return the positions of a rank.

    Raises:
        ValueError: the sequence does not split evenly.
    """
    if length % (2 * ranks):
        raise ValueError(f"{2 * ranks} pieces do not divide a sequence of {length} tokens")
    each = length // (2 * ranks)
    early, late = rank * each, length - (rank + 1) * each
    return [*range(early, early + each), *range(late, late + each)]


@SlicedFunction
def train(job: TinyJob, ranks: Count) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks."""
    return (yield from train_context_parallel.slices(job, ranks, positions))
