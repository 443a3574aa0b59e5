"""Three utilization meters of a GPU that waits in a collective for a late rank."""

from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS
from engine.core.units import MILLI, Count, Seconds, Share
from engine.simulate.streams.multi_rank import RankKernel, rank_kernels
from engine.simulate.streams.streams import COMPUTE, NETWORK, StreamOp, run_program

ALL_REDUCE_TIME = 20 * MILLI  # time of the collective once both ranks have arrived


@dataclass(frozen=True, slots=True, kw_only=True)
class LateRank:
    """Two ranks that compute, all-reduce and compute again; the second is late.

    Attributes:
        compute: computation before and after the all-reduce.
        late: delay of the second rank.
        taken: multiprocessors of the collective's kernel: one for each channel of NCCL.
        tensor: share of cycles in which the tensor pipe is active while a rank computes.
        sm_busy: share of the multiprocessors that hold a warp while a rank computes.
        sms: multiprocessors of the GPU.
    """

    compute: Seconds = 1.0
    late: Seconds = 8.0
    taken: Count = 16
    tensor: Share = 0.5
    sm_busy: Share = 0.95
    sms: Count = ACCELERATORS["H100-SXM"].sms


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Readings of the meters from `start` to `end`.

    Attributes:
        utilization: at least one kernel runs (NVML).
        sm_active: multiprocessors that hold a warp, spinning ones included (DCGM field 1002).
        tensor_active: cycles in which the tensor pipe is active (DCGM field 1004).
    """

    start: Seconds
    end: Seconds
    utilization: Share
    sm_active: Share
    tensor_active: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Meters:
    """Kernels of both ranks, readings of rank 0, and their means over the whole time.

    Attributes:
        spun: time that rank 0 spins inside the collective before the other rank arrives.
    """

    kernels: tuple[RankKernel, ...]
    readings: tuple[Reading, ...]
    end: Seconds
    spun: Seconds
    utilization: Share
    sm_active: Share
    tensor_active: Share

    @property
    def waiting(self) -> Share:
        """Share of the time that rank 0 spends waiting."""
        return self.spun / self.end


def read_meters(job: LateRank) -> Meters:
    """Return the meter readings of the waiting rank, per kernel and in the mean.

    Sources: NVML `nvmlUtilization_t` (a share of time in which a kernel ran); DCGM fields 1002
    and 1004 (profiling metrics). No kernel but these three runs.
    """
    kernels = rank_kernels(run_program(_program(job)))
    first_rank = [kernel for kernel in kernels if kernel.rank == 0]
    readings = tuple(_kernel_reading(job, kernel) for kernel in first_rank)
    return Meters(
        kernels=kernels,
        readings=readings,
        end=first_rank[-1].end,
        spun=next(
            kernel.moved - kernel.begin for kernel in first_rank if kernel.op.stream == NETWORK
        ),
        utilization=_mean_reading(readings, "utilization"),
        sm_active=_mean_reading(readings, "sm_active"),
        tensor_active=_mean_reading(readings, "tensor_active"),
    )


def _program(job: LateRank) -> tuple[StreamOp, ...]:
    times = (job.compute, job.compute + job.late)
    ranks = tuple(range(len(times)))
    before = tuple(
        StreamOp(key=f"before@{r}", stream=COMPUTE, time=times[r], ranks=(r,), label="computing")
        for r in ranks
    )
    all_reduce = StreamOp(
        key="sum",
        stream=NETWORK,
        time=ALL_REDUCE_TIME,
        after=tuple(op.key for op in before),
        ranks=ranks,
        label="all-reduce",
    )
    after = tuple(
        StreamOp(
            key=f"after@{r}",
            stream=COMPUTE,
            time=job.compute,
            after=(all_reduce.key,),
            ranks=(r,),
            label="computing",
        )
        for r in ranks
    )
    return (*before, all_reduce, *after)


def _kernel_reading(job: LateRank, kernel: RankKernel) -> Reading:
    """Return the readings while a kernel runs; both kinds of kernel count as utilization."""
    communicates = kernel.op.stream == NETWORK
    return Reading(
        start=kernel.begin,
        end=kernel.end,
        utilization=1.0,
        sm_active=job.taken / job.sms if communicates else job.sm_busy,
        tensor_active=0.0 if communicates else job.tensor,
    )


def _mean_reading(readings: tuple[Reading, ...], meter: str) -> Share:
    area: float = sum((r.end - r.start) * getattr(r, meter) for r in readings)
    return min(1.0, area / readings[-1].end)
