"""How often large jobs failed, and how much of their time was useful: as published."""

from dataclasses import dataclass

from engine.core.units import DAY, HOUR, Count, Ratio, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureReport:
    """A published rate of failures.

    Attributes:
        name: of the run or the cluster.
        world_size: GPUs of the job.
        window: in which so many `failures` were counted; or their mean distance, with one.
        effective: share of the time that was useful, at least; 0 where nothing is said.
        said: what the source says, in short.
        source: key of the bibliography.
    """

    name: str
    world_size: Count
    window: Seconds
    failures: Ratio
    effective: Share = 0.0
    said: str
    source: str

    @property
    def mtbf(self) -> Seconds:
        """Mean time between failures of the job."""
        return self.window / self.failures

    @property
    def gpu_mtbf(self) -> Seconds:
        """Mean time between failures of one GPU."""
        return self.mtbf * self.world_size


FAILURE_REPORTS: tuple[FailureReport, ...] = (
    # The blog on BLOOM's training: 1 to 2 a week, on about 400 GPUs, a checkpoint every 3 hours.
    FailureReport(
        name="BLOOM 176B, 2022",
        world_size=384,
        window=7 * DAY,
        failures=1.5,
        said="1 to 2 GPU failures a week",
        source="bloom_blog",
    ),
    # Section 2.5; two months are taken as 60 days.
    FailureReport(
        name="OPT-175B, 2022",
        world_size=992,
        window=60 * DAY,
        failures=105.0,
        said="at least 35 manual and an estimated 70 automatic restarts in two months",
        source="zhang2022_opt",
    ),
    FailureReport(
        name="Meta RSC-1, 2024",
        world_size=1024,
        window=7.9 * HOUR,
        failures=1.0,
        effective=0.9,
        said="7.9 h to the failure of a job of 1,024 GPUs; ETTR of large jobs about 0.9",
        source="kokolis2024",
    ),
    # Section 3.3.4: 419 of 466 interruptions were unexpected.
    FailureReport(
        name="Llama 3 405B, 2024",
        world_size=16_384,
        window=54 * DAY,
        failures=419.0,
        effective=0.9,
        said="419 unexpected interruptions in 54 days; effective time above 90 %",
        source="dubey2024",
    ),
)
