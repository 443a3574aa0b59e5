"""Tensor parallelism: all ranks share every matrix (Shoeybi et al. 2019)."""

from engine.core.slices import SlicedFunction, Slices
from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob
from engine.tiny.layout import Parameters
from engine.tiny.matrix import flatten_rows, split_rows
from engine.tiny.result import TrainingResult
from engine.tiny.tensor_layers import Across, SplitRegion
from engine.tiny.tensor_training import train_tensor_parallel

TITLE = "Tensor parallel"
AXIS = "tensor"
RANKS: tuple[Count, ...] = (1, 2)


@SlicedFunction
def train(job: TinyJob, ranks: Count) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks.

    Raises:
        ValueError: the ranks do not divide heads, inner width and vocabulary.
    """
    return (yield from train_tensor_parallel.slices(job, ranks, all_reduce_region, _keep_gradients))


def _keep_gradients(exchange: Exchange, gradients: list[Parameters]) -> None:
    """Keep the gradients: those of replicated tensors agree on all ranks."""


def all_reduce_region(exchange: Exchange) -> SplitRegion:
    """Return a region entered with replicated rows and left by an all-reduce."""

    def leave(parts: Across) -> Across:
        width = len(parts[0][0])
        sums = exchange.all_reduce([flatten_rows(part) for part in parts], "activations")
        return [split_rows(rank_numbers, width) for rank_numbers in sums]

    return SplitRegion(enter=lambda rows: rows, leave=leave)
