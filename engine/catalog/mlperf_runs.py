"""Results of MLPerf® Training benchmarks: the measured step of each, and the run that it describes.

Step times are derived from logs: they are no results of the benchmark, whose metric is the time to
train, and they were not verified by MLCommons Association. Each row names its log, with repository
and commit. The MLPerf name and logo are registered and unregistered trademarks of MLCommons
Association in the United States and other countries.
"""

from functools import cache

from engine.catalog.mlperf_table import TEXT
from engine.core.record import record
from engine.core.units import Count, Ratio, Seconds

# Rows that a constant of the model was fitted to, by their keys.
SEEN: frozenset[str] = frozenset()


@record
class MlperfRun:
    """A result of a benchmark, as its log and its configuration describe it.

    Attributes:
        key: of the row.
        version: of the suite, as "v5.1"; all rows are of its Closed division.
        submitter, system, benchmark, accelerator: as the submission names them.
        gpu: type of GPU, in short.
        world_size: GPUs.
        step: the median step; 0 if the log tells none.
        step_p99: the 99th percentile of its samples; 0 if the log tells too few.
        block_mean: time of a step between two evaluations, pauses included; 0 where not read.
        samples: step times in the logs, each of one or of several steps.
        runs: logs read; the step is the median over them.
        time_to_train: the median of those logs from start to stop; 0 where not read.
        method: how the step was read off the log.
        precision: as the configuration names it.
        note: what had to be assumed, or why there is no run file.
        duplicate_of: key of the row whose logs these are, submitted again.
        repository, commit, log: where the first log lies.
        run_file: what the engine reads, as JSON; "" where a run file cannot say it.
    """

    key: str
    version: str
    submitter: str
    system: str
    benchmark: str
    accelerator: str
    gpu: str
    world_size: Count
    step: Seconds
    step_p99: Seconds
    block_mean: Seconds
    samples: Count
    runs: Count
    time_to_train: Seconds
    method: str
    precision: str
    note: str
    duplicate_of: str
    repository: str
    commit: str
    log: str
    run_file: str

    @property
    def log_address(self) -> str:
        """Return the URL of the first log, at the commit that was read."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.log}"

    @property
    def jitter(self) -> Ratio:
        """The 99th percentile of the step over its median; 0 if the log tells too few."""
        return self.step_p99 / self.step if self.step_p99 else 0.0

    @property
    def counted(self) -> bool:
        """Whether its step is compared: once, and if a run file can say how it ran."""
        return bool(self.run_file) and not self.duplicate_of


_NUMBERS = {
    "world_size": int,
    "step": float,
    "step_p99": float,
    "block_mean": float,
    "samples": int,
    "runs": int,
    "time_to_train": float,
}


@cache
def mlperf_runs() -> tuple[MlperfRun, ...]:
    """Return all rows, the duplicates and those without a run file included."""
    head, *lines = TEXT.splitlines()
    columns = head.split("\t")
    rows = (dict(zip(columns, line.split("\t"), strict=True)) for line in lines)
    return tuple(
        MlperfRun(**{name: _NUMBERS.get(name, str)(text or 0) if name in _NUMBERS else text
                     for name, text in row.items()})  # type: ignore[arg-type]
        for row in rows
    )  # fmt: skip
