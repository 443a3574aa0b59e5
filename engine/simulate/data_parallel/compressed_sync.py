"""Gradient all-reduce of a data-parallel job: dense, top-k, and low-rank."""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Parameters, Seconds, Share
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.compression import PLACE, low_rank_numbers, top_k_bytes_sent
from engine.formulas.parameters import total_parameters
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.run import Run
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_group, rank_rates
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.memory.memory import rank_memory

# The error-feedback buffer is in single precision, whatever the wire format.
ERROR_FEEDBACK: Bytes = 4.0
# Passes of four bytes over a vector as long as the parameters, at least. Top-k: read gradient and
# what is owed, write their sum, read it for the threshold, write what is owed. A thin product also
# reads the sum for each of two products and writes and reads what was rebuilt.
_TOP_K_PASSES: Count = 5
_LOW_RANK_PASSES: Count = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncCost:
    """Traffic and time of one gradient all-reduce method.

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
        """Wire time plus compression time."""
        return self.wire + self.work


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncMethods:
    """Cost of the three methods for one job."""

    dense: SyncCost
    top_k: SyncCost
    low_rank: SyncCost


def sync_methods(run: Run, ranks: Count, value: Bytes, kept: Share, rank: Count) -> SyncMethods:
    """Return the cost of the three methods on GPUs of the run's cluster.

    Args:
        run: its model and cluster; every GPU holds the whole model.
        ranks: GPUs.
        value: bytes of a number on the wire, whichever the way.
        kept: share of top-k.
        rank: of the thin products.
    """
    device = rank_rates(run.cluster, run.training)
    group = rank_group(device, ranks, 1)
    size = total_parameters(run.model)
    factors = value * low_rank_numbers(run.model, rank)
    gathered = ranks * kept * size * (value + PLACE)
    return SyncMethods(
        dense=SyncCost(
            sent=ring_bytes_sent(size * value, ranks),
            wire=nccl_collective_time(device, group, size * value),
            work=0.0,
        ),
        top_k=SyncCost(
            sent=top_k_bytes_sent(kept, size, value, ranks),
            wire=_gather_time(gathered, group),
            work=_memory_pass_time(size, _TOP_K_PASSES, device),
        ),
        low_rank=SyncCost(
            sent=ring_bytes_sent(factors, ranks),
            wire=2 * nccl_collective_time(device, group, factors / 2),
            work=max(
                _memory_pass_time(size, _LOW_RANK_PASSES, device), 6 * rank * size / device.matmul
            ),
        ),
    )


def _gather_time(parts: Bytes, group: RankGroup) -> Seconds:
    return scatter_or_gather_time(parts, group.ranks, group.nodes, group.bandwidth, group.network)


def _memory_pass_time(size: Parameters, passes: Count, rank: RankRates) -> Seconds:
    return passes * ERROR_FEEDBACK * size / rank.memory


def error_feedback_bytes(run: Run) -> Bytes:
    """Return the error-feedback bytes per GPU."""
    return ERROR_FEEDBACK * total_parameters(run.model)


def free_memory(run: Run, *, feedback: bool) -> Bytes:
    """Return the free GPU memory with the error-feedback buffer, if any; negative: too full."""
    used = rank_memory(run.model, run.plan, run.training).total
    used += error_feedback_bytes(run) if feedback else 0.0
    return usable_bytes(run.cluster.gpu.memory) - used
