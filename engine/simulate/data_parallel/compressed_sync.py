"""The sum of all gradients of a data-parallel job: whole, as top-k, and as thin products."""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Parameters, Seconds, Share
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.compression import PLACE, low_rank_numbers, top_k_bytes_sent
from engine.formulas.parameters import total_parameters
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.run import Run
from engine.simulate.layer.device_model import Group, Rank, group_of, rank_of
from engine.simulate.layer.layer_exchange import all_reduced
from engine.simulate.memory.allocator import usable
from engine.simulate.memory.memory import memory

# What is owed is kept in single precision, whatever travels.
OWED: Bytes = 4.0
# Passes of four bytes over a vector as long as the parameters, at least. Top-k: read gradient and
# what is owed, write their sum, read it for the threshold, write what is owed. A thin product also
# reads the sum for each of two products and writes and reads what was rebuilt.
_TOP_K_PASSES: Count = 5
_LOW_RANK_PASSES: Count = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """One way to sum the gradients of a step.

    Attributes:
        sent: by each GPU.
        wire: time on the wire, with nothing beside.
        work: time to compress and to rebuild, at the memory's or the products' rate.
    """

    sent: Bytes
    wire: Seconds
    work: Seconds

    @property
    def total(self) -> Seconds:
        """Both, one after the other."""
        return self.wire + self.work


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """The three ways, for one job."""

    dense: Sync
    top_k: Sync
    low_rank: Sync


def ways(run: Run, ranks: Count, value: Bytes, kept: Share, rank: Count) -> Ways:
    """Return the three ways on so many GPUs of the run's cluster.

    Args:
        run: its model and cluster; every GPU holds the whole model.
        ranks: GPUs.
        value: bytes of a number on the wire, whichever the way.
        kept: share of top-k.
        rank: of the thin products.
    """
    able = rank_of(run.cluster, run.training)
    group = group_of(able, ranks, 1)
    size = total_parameters(run.model)
    factors = value * low_rank_numbers(run.model, rank)
    parts = ranks * kept * size * (value + PLACE)
    return Ways(
        dense=Sync(
            sent=ring_bytes_sent(size * value, ranks),
            wire=all_reduced(size * value, group, able),
            work=0.0,
        ),
        top_k=Sync(
            sent=top_k_bytes_sent(kept, size, value, ranks),
            wire=_gathered(parts, group),
            work=_passes(size, _TOP_K_PASSES, able),
        ),
        low_rank=Sync(
            sent=ring_bytes_sent(factors, ranks),
            wire=2 * all_reduced(factors / 2, group, able),
            work=max(_passes(size, _LOW_RANK_PASSES, able), 6 * rank * size / able.matmul),
        ),
    )


def _gathered(parts: Bytes, group: Group) -> Seconds:
    return scatter_or_gather_time(parts, group.ranks, group.nodes, group.bandwidth, group.network)


def _passes(size: Parameters, passes: Count, rank: Rank) -> Seconds:
    return passes * OWED * size / rank.memory


def owed_bytes(run: Run) -> Bytes:
    """Return what error feedback keeps on every GPU."""
    return OWED * total_parameters(run.model)


def spare(run: Run, *, feedback: bool) -> Bytes:
    """Return what is left of a GPU's memory beside the job and what it owes; below 0: too full."""
    held = memory(run.model, run.plan, run.training).total
    held += owed_bytes(run) if feedback else 0.0
    return usable(run.cluster.gpu.memory, run.training) - held
