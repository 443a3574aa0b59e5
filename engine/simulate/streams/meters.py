"""What three meters of a GPU show while it waits in a collective for a rank that is late."""

from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS
from engine.core.units import MILLI, Count, Seconds, Share
from engine.simulate.streams.multi_rank import Kernel, kernels
from engine.simulate.streams.streams import COMPUTE, NETWORK, Op, run

SUM = 20 * MILLI  # what the collective takes once both ranks have come


@dataclass(frozen=True, slots=True, kw_only=True)
class LateRank:
    """Two ranks compute, sum and compute again; the second comes late to the sum.

    Attributes:
        compute: before and after the sum.
        late: by which the second rank comes later.
        taken: multiprocessors that the collective's kernel holds: one for each channel of NCCL.
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
    """What the meters show from `start` to `end`.

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
    """Both ranks' kernels, the readings of rank 0, and their means over the whole time.

    Attributes:
        spun: that rank 0 spends inside the collective before the other rank has come.
    """

    kernels: tuple[Kernel, ...]
    readings: tuple[Reading, ...]
    end: Seconds
    spun: Seconds
    utilization: Share
    sm_active: Share
    tensor_active: Share

    @property
    def waiting(self) -> Share:
        """Of the time, what rank 0 spends waiting."""
        return self.spun / self.end


def read_meters(job: LateRank) -> Meters:
    """Return what the meters of the rank that waits show, kernel by kernel and in the mean.

    Sources: NVML `nvmlUtilization_t` (a share of time in which a kernel ran); DCGM fields 1002
    and 1004 (profiling metrics). No kernel but these three runs.
    """
    seen = kernels(run(_program(job)))
    own = [one for one in seen if one.rank == 0]
    readings = tuple(_read(job, one) for one in own)
    return Meters(
        kernels=seen,
        readings=readings,
        end=own[-1].end,
        spun=next(one.moved - one.begin for one in own if one.op.stream == NETWORK),
        utilization=_mean(readings, "utilization"),
        sm_active=_mean(readings, "sm_active"),
        tensor_active=_mean(readings, "tensor_active"),
    )


def _program(job: LateRank) -> tuple[Op, ...]:
    times = (job.compute, job.compute + job.late)
    ranks = tuple(range(len(times)))
    before = tuple(
        Op(key=f"before@{r}", stream=COMPUTE, time=times[r], ranks=(r,), label="computing")
        for r in ranks
    )
    total = Op(
        key="sum",
        stream=NETWORK,
        time=SUM,
        after=tuple(one.key for one in before),
        ranks=ranks,
        label="all-reduce",
    )
    after = tuple(
        Op(
            key=f"after@{r}",
            stream=COMPUTE,
            time=job.compute,
            after=(total.key,),
            ranks=(r,),
            label="computing",
        )
        for r in ranks
    )
    return (*before, total, *after)


def _read(job: LateRank, one: Kernel) -> Reading:
    """Return the meters while this kernel runs; both kinds of kernel count as utilization."""
    sums = one.op.stream == NETWORK
    return Reading(
        start=one.begin,
        end=one.end,
        utilization=1.0,
        sm_active=job.taken / job.sms if sums else job.sm_busy,
        tensor_active=0.0 if sums else job.tensor,
    )


def _mean(readings: tuple[Reading, ...], meter: str) -> Share:
    area: float = sum((r.end - r.start) * getattr(r, meter) for r in readings)
    return min(1.0, area / readings[-1].end)
