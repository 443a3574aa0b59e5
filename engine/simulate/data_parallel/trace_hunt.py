"""The job of the trace hunt, the faults that can be planted in it, and its step with some of them.

Llama-like, but small enough for plain data parallelism: gradients, optimizer and parameters of
1.5 billion parameters fit one GPU. Four of its 128 ranks are played; every collective is timed for
all 128.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import fsum

from engine.catalog.accelerators import ACCELERATORS
from engine.core.lazy import Lazy
from engine.core.units import GB, MICRO, MILLI, Count, FlopRate, Parameters, Seconds, Share, Tokens
from engine.simulate.programs import bucketed_data_parallel, flat_data_parallel, fully_sharded
from engine.simulate.streams.multi_rank import RankKernel, multi_rank_program, rank_kernels
from engine.simulate.streams.stream_account import Interval, Piece, merge_intervals, split_interval
from engine.simulate.streams.streams import (
    COMPUTE,
    COPY,
    NETWORK,
    StreamOp,
    run_program,
    with_launches,
)
from engine.simulate.streams.workload import Workload, ring_group

# Totals of one rank's trace: computation, collectives, spinning and exposed time.


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAccount:
    """Time totals of one rank's kernels.

    Attributes:
        computing: time in which compute kernels run.
        communicating: time in which a collective runs or spins.
        spun: time spent spinning in collectives until the last rank arrives.
        exposed: time in which a collective runs or spins without computation.
        utilization: share of the step in which any kernel runs.
    """

    computing: Seconds
    communicating: Seconds
    spun: Seconds
    exposed: Seconds
    utilization: Share


def rank_account(kernels: Sequence[RankKernel], rank: Count, step: Seconds) -> RankAccount:
    """Return the time totals of a rank's kernels in a step."""
    busy, communication = (
        compute_intervals(kernels, rank),
        _stream_intervals(kernels, rank, NETWORK),
    )
    pieces = [piece for interval in communication for piece in split_interval(interval, busy)]
    return RankAccount(
        computing=_total_time(busy),
        communicating=_total_time(communication),
        spun=fsum(kernel.moved - kernel.begin for kernel in kernels if kernel.rank == rank),
        exposed=fsum(end - start for start, end, alone in pieces if alone),
        utilization=_total_time(merge_intervals([*busy, *communication])) / step,
    )


def compute_intervals(kernels: Sequence[RankKernel], rank: Count) -> list[Interval]:
    """Return the disjoint intervals in which the rank computes, in order."""
    return _stream_intervals(kernels, rank, COMPUTE)


def _stream_intervals(kernels: Sequence[RankKernel], rank: Count, stream: str) -> list[Interval]:
    return merge_intervals(
        (kernel.begin, kernel.end)
        for kernel in kernels
        if kernel.rank == rank and kernel.op.stream == stream
    )


def _total_time(intervals: Iterable[Interval]) -> Seconds:
    return fsum(end - start for start, end in intervals)


PARAMETERS: Parameters = 1.5e9
TOKENS: Tokens = 16_384
RANKS, SIMULATED_RANKS, LAYERS, TENSORS, SLOW_RANK = 128, 4, 8, 8, 2
UTILIZATION: Share = 0.6  # of the peak, while matrix kernels run; assumed
BANDWIDTH, LATENCY = 46 * GB, 7 * MICRO
LAUNCH, COPY_TIME, SLOW_DOWN = 1 * MILLI, 1 * MILLI, 0.05
BUCKET, TINY_BUCKET = 180e6, 1e6

FAULTS = {
    "straggler": "A slow rank",
    "blocking": "A blocking collective",
    "tiny": "Buckets too small",
    "loader": "A starving data loader",
    "launches": "Launches slower than kernels",
    "link": "A slow link",
    "prefetch": "No prefetch of parameters",
}
CASES: dict[str, tuple[str, ...]] = {
    "1": ("loader",),
    "2": ("link",),
    "3": ("straggler",),
    "4": ("tiny",),
    "5": ("prefetch",),
    "6": ("blocking",),
    "7": ("launches",),
    "8": ("straggler", "loader"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HuntStep:
    """A simulated step with its trace.

    Attributes:
        kernels: of the ranks that are played.
        pieces: of each kernel, exposed or not.
        step: its time.
        mfu: of the job.
        ranks: what the trace of each rank adds up to.
    """

    kernels: tuple[RankKernel, ...]
    pieces: Lazy[tuple[list[Piece], ...]]
    step: Seconds
    mfu: Share
    ranks: tuple[RankAccount, ...]


def gpu_peak() -> FlopRate:
    """Return the dense peak of the GPU that the job runs on."""
    return ACCELERATORS["H100-SXM"].peak["bf16"]


def is_sharded(case: str) -> bool:
    """Return whether the case has sharded parameters."""
    return "prefetch" in CASES[case]


@cache
def simulate_case(case: str, repaired: frozenset[str] = frozenset()) -> HuntStep:
    """Return the simulated step of a case, with some faults repaired."""
    faults = [fault for fault in CASES[case] if fault not in repaired]
    ops = with_launches(_program(faults, shards=is_sharded(case)), _launch_time(faults))
    loaded = _with_batch_copy(ops, 110 * MILLI if "loader" in faults else COPY_TIME)
    paces = [1.0] * SIMULATED_RANKS
    if "straggler" in faults:
        paces[SLOW_RANK] = 1.35
    kernel_list = rank_kernels(run_program(multi_rank_program(loaded, paces)))
    step = max(kernel.end for kernel in kernel_list)
    return HuntStep(
        kernels=kernel_list,
        pieces=Lazy(partial(_pieces, kernel_list)),
        step=step,
        mfu=6 * PARAMETERS * TOKENS / gpu_peak() / step,
        ranks=tuple(rank_account(kernel_list, rank, step) for rank in range(SIMULATED_RANKS)),
    )


def _pieces(kernel_list: tuple[RankKernel, ...]) -> tuple[list[Piece], ...]:
    busy = {rank: compute_intervals(kernel_list, rank) for rank in range(SIMULATED_RANKS)}
    return tuple(
        split_interval((kernel.begin, kernel.end), busy[kernel.rank])
        if kernel.op.stream == NETWORK
        else [(kernel.begin, kernel.end, False)]
        for kernel in kernel_list
    )


def _program(faults: Collection[str], *, shards: bool) -> tuple[StreamOp, ...]:
    work = _workload(BANDWIDTH / 3 if "link" in faults else BANDWIDTH)
    if shards:
        return fully_sharded.program(replace(work, prefetch=0 if "prefetch" in faults else 1))
    if "blocking" in faults:
        return flat_data_parallel.program(work)
    return bucketed_data_parallel.program(
        replace(work, bucket=TINY_BUCKET if "tiny" in faults else BUCKET)
    )


def _workload(bandwidth: float) -> Workload:
    forward = 2 * PARAMETERS * TOKENS / (UTILIZATION * gpu_peak()) / LAYERS
    return Workload(
        layers=LAYERS,
        forward=forward,
        backward=2 * forward,
        parameters=PARAMETERS / LAYERS,
        data=ring_group(RANKS, bandwidth, LATENCY),
        tensors=TENSORS,
        slow_down=SLOW_DOWN,
        optimizer=4 * MILLI,
    )


def _launch_time(faults: Collection[str]) -> Seconds:
    return 9 * MILLI if "launches" in faults else LAUNCH


def _with_batch_copy(ops: tuple[StreamOp, ...], time: Seconds) -> tuple[StreamOp, ...]:
    """Return the step with its batch: the first computation waits until it is on the GPU."""
    batch = StreamOp(key="batch", stream=COPY, time=time, label="batch from the data loader")
    first = next(op for op in ops if op.stream == COMPUTE)
    waiting = replace(first, after=(*first.after, batch.key))
    return (batch, *(waiting if op is first else op for op in ops))
