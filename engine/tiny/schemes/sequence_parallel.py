"""Sequence parallelism: between the cut regions the rows too are split (Korthikanti et al. 2022).

An all-reduce becomes a reduce-scatter and an all-gather. What a region took in is kept split and
gathered again for the gradients of the weights, and the norms, which see some rows only, need
their gradients summed.
"""

from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, num_targets
from engine.tiny.layout import Parameters
from engine.tiny.matrix import flat, rows_of
from engine.tiny.result import Run
from engine.tiny.tensor_layers import Across, Region
from engine.tiny.tensor_training import train_in_columns

TITLE = "Tensor and sequence parallel"
AXIS = "tensor"
RANKS: tuple[Count, ...] = (1, 2)


def train(job: Job, ranks: Count) -> Run:
    """Return the run on `ranks` ranks.

    Raises:
        ValueError: the ranks do not divide heads, inner width, vocabulary and rows.
    """
    if num_targets(job) % ranks:
        raise ValueError(f"{ranks} ranks do not divide the {num_targets(job)} rows of a step")
    return train_in_columns(job, ranks, _region, _sum_norms)


def _region(exchange: Exchange) -> Region:
    """Return: enter by an all-gather of rows, leave by a reduce-scatter of them."""

    def enter(rows: Across) -> Across:
        width = len(rows[0][0])
        gathered = exchange.all_gather([flat(one) for one in rows], "activations")
        return [rows_of(own, width) for own in gathered]

    def leave(parts: Across) -> Across:
        width = len(parts[0][0])
        sums = exchange.reduce_scatter([flat(one) for one in parts], "activations")
        return [rows_of(own, width) for own in sums]

    return Region(enter=enter, leave=leave)


def _sum_norms(exchange: Exchange, found: list[Parameters]) -> None:
    """Sum the gradients of the norms, in one buffer."""
    places = [(part, name) for part in found[0] for name in found[0][part] if "norm" in name]
    buffers = [[x for part, name in places for x in flat(own[part][name])] for own in found]
    for own, total in zip(found, exchange.all_reduce(buffers, "gradients"), strict=True):
        start = 0
        for part, name in places:
            width = len(own[part][name][0])
            own[part][name] = [total[start : start + width]]
            start += width
