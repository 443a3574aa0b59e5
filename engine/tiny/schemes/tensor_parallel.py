"""Tensor parallelism: all ranks share every matrix (Shoeybi et al. 2019)."""

from engine.core.slices import Sliced, Slices
from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job
from engine.tiny.layout import Parameters
from engine.tiny.matrix import flat, rows_of
from engine.tiny.result import Run
from engine.tiny.tensor_layers import Across, Region
from engine.tiny.tensor_training import train_in_columns

TITLE = "Tensor parallel"
AXIS = "tensor"
RANKS: tuple[Count, ...] = (1, 2)


@Sliced
def train(job: Job, ranks: Count) -> Slices[Run]:
    """Return the run on `ranks` ranks.

    Raises:
        ValueError: the ranks do not divide heads, inner width and vocabulary.
    """
    return (yield from train_in_columns.slices(job, ranks, region, _nothing))


def _nothing(exchange: Exchange, found: list[Parameters]) -> None:
    """Leave the gradients as they are: those of what every rank has are the same on all."""


def region(exchange: Exchange) -> Region:
    """Return: enter with what every rank has, leave by an all-reduce."""

    def leave(parts: Across) -> Across:
        width = len(parts[0][0])
        sums = exchange.all_reduce([flat(one) for one in parts], "activations")
        return [rows_of(own, width) for own in sums]

    return Region(enter=lambda rows: rows, leave=leave)
