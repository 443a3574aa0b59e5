"""Sequence parallelism: between the cut regions the rows too are split (Korthikanti et al. 2022).

An all-reduce becomes a reduce-scatter and an all-gather. What a region took in is kept split and
gathered again for the gradients of the weights, and the norms, which see some rows only, need
their gradients summed.
"""

from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, num_targets
from engine.tiny.layout import Parameters
from engine.tiny.matrix import flatten_rows, split_rows
from engine.tiny.result import TrainingResult
from engine.tiny.tensor_layers import Across, SplitRegion
from engine.tiny.tensor_training import train_tensor_parallel

TITLE = "Tensor and sequence parallel"
AXIS = "tensor"
RANKS: tuple[Count, ...] = (1, 2)


def train(job: TinyJob, ranks: Count) -> TrainingResult:
    """Return the run on `ranks` ranks.

    Raises:
        ValueError: the ranks do not divide heads, inner width, vocabulary and rows.
    """
    if num_targets(job) % ranks:
        raise ValueError(f"{ranks} ranks do not divide the {num_targets(job)} rows of a step")
    return train_tensor_parallel(job, ranks, _scatter_region, _sum_norms)


def _scatter_region(exchange: Exchange) -> SplitRegion:
    """Return a region entered by an all-gather of rows and left by a reduce-scatter."""

    def enter(rows: Across) -> Across:
        width = len(rows[0][0])
        gathered = exchange.all_gather(
            [flatten_rows(rank_rows) for rank_rows in rows], "activations"
        )
        return [split_rows(rank_numbers, width) for rank_numbers in gathered]

    def leave(parts: Across) -> Across:
        width = len(parts[0][0])
        sums = exchange.reduce_scatter([flatten_rows(part) for part in parts], "activations")
        return [split_rows(rank_numbers, width) for rank_numbers in sums]

    return SplitRegion(enter=enter, leave=leave)


def _sum_norms(exchange: Exchange, gradients: list[Parameters]) -> None:
    """Sum the gradients of the norms, in one buffer."""
    norms = [(part, name) for part in gradients[0] for name in gradients[0][part] if "norm" in name]
    buffers = [
        [x for part, name in norms for x in flatten_rows(rank_gradients[part][name])]
        for rank_gradients in gradients
    ]
    for rank_gradients, total in zip(
        gradients, exchange.all_reduce(buffers, "gradients"), strict=True
    ):
        start = 0
        for part, name in norms:
            width = len(rank_gradients[part][name][0])
            rank_gradients[part][name] = [total[start : start + width]]
            start += width
