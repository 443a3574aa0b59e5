"""Breakdown of peak FLOPs from a job's readings, and of a simulated healthy job."""

from dataclasses import dataclass

from engine.core.units import Bandwidth, Ratio, Share
from engine.simulate.data_parallel.trace_hunt import CASES, simulate_case

# Repeating the whole forward pass adds a third to the six operations per parameter and token.
_FORWARD: Ratio = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReadings:
    """Monitoring readings of a typical step of one job.

    Attributes:
        mfu: model operations over peak and time.
        loading: share of the step in which all GPUs wait for a batch.
        gaps: share in which the GPU has nothing to run, because the CPU is late.
        bubble: share in which a pipeline stage waits for another.
        exposed: share in which a collective runs and nothing is computed.
        recomputed: share of the forward pass that is computed twice.
        clock: clock under load over the highest.
        sm_active: DCGM 1002.
        tensor_active: DCGM 1004.
        utilization: of nvidia-smi.
        skew: by how much the slowest rank computes longer than the median one.
        busbw: of a large all-reduce alone.
        ports: of a node together.
        link_errors: of the worst port in an hour.
    """

    mfu: Share
    loading: Share
    gaps: Share
    bubble: Share
    exposed: Share
    recomputed: Share
    clock: Share
    sm_active: Share
    tensor_active: Share
    utilization: Share
    skew: Share
    busbw: Bandwidth
    ports: Bandwidth
    link_errors: Ratio

    @property
    def computing(self) -> Share:
        """The share of the step in which kernels compute."""
        return max(0.0, 1 - self.loading - self.gaps - self.bubble - self.exposed)

    @property
    def repeated(self) -> Share:
        """The share of the peak that goes into operations done twice."""
        return self.mfu * self.recomputed * _FORWARD

    @property
    def slowed(self) -> Share:
        """The share of the peak that a lower clock takes."""
        return self.computing * (1 - self.clock)

    @property
    def kernels(self) -> Share:
        """The share of the peak that kernels leave unused while they run; 0 if readings clash."""
        return max(0.0, self.computing - self.slowed - self.repeated - self.mfu)

    @property
    def efficiency(self) -> Share:
        """Share of the peak reached while computing, at the actual clock."""
        speed = self.computing * self.clock
        return (self.mfu + self.repeated) / speed if speed else 1.0

    @property
    def inconsistent(self) -> bool:
        """Whether the readings leave less time to compute than the MFU needs."""
        return self.mfu + self.repeated + self.slowed > self.computing + 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthyJob:
    """Breakdown of the peak of a job without a fault."""

    mfu: Share
    kernels: Share
    exposed: Share
    gaps: Share


def healthy_job() -> HealthyJob:
    """Return the breakdown of the trace hunt's job without its fault, on 128 H100."""
    played = simulate_case("1", frozenset(CASES["1"]))
    busy = played.ranks[0].computing / played.step
    waiting = played.ranks[0].exposed / played.step
    return HealthyJob(
        mfu=played.mfu,
        kernels=busy - played.mfu,
        exposed=waiting,
        gaps=1 - busy - waiting,
    )


def repaired_mfu(measures: JobReadings, loss: Share, *, of_time: bool) -> Share:
    """Return the MFU after removing a loss, of time or of achieved FLOPs.

    At most 1, for readings that clash may promise more.
    """
    if of_time:
        return min(1.0, measures.mfu / max(1 - loss, measures.mfu))
    return min(1.0, measures.mfu + loss)
