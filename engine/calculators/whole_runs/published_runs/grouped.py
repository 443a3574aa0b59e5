"""Error statistics of published runs by group, and brackets of famous runs."""

from collections.abc import Mapping, Sequence
from functools import cache

from engine.calculators.whole_runs.published_runs.read import Published, group_of, split
from engine.catalog.reported_runs import REPORTED
from engine.core.record import record
from engine.core.units import Ratio
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.result import run_estimate
from engine.simulate.numerics.error_spread import ErrorSpread, summarize_errors


@record
class Group:
    """A group of runs and their error statistics."""

    name: str
    runs: Sequence[Published]
    errors: ErrorSpread


@record
class Bracket:
    """Prediction of a famous run, with its range."""

    value: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether a value lies in the range."""
        return self.low <= value <= self.high


def groups(rows: Sequence[Published], by: str) -> tuple[Group, ...]:
    """Return the errors of the step time of each group."""
    return tuple(
        Group(name=name, runs=runs, errors=summarize_errors([row.error for row in runs]))
        for name, runs in split(rows, by).items()
    )


def memory_groups(runs: Sequence[Published]) -> tuple[Group, ...]:
    """Return the errors of the peak of memory of each source."""
    return tuple(
        Group(name=name, runs=runs, errors=summarize_errors([memory_error(row) for row in runs]))
        for name, runs in split(runs, "source").items()
    )


def memory_error(row: Published) -> Ratio:
    """Return the error of a run's peak memory."""
    return row.memory[1] / row.memory[0] - 1


def plan_errors(rows: Sequence[Published]) -> Mapping[tuple[str, str], Ratio]:
    """Return the mean absolute error for each pair of tensor and pipeline parallelism."""
    errors: dict[tuple[str, str], list[Ratio]] = {}
    for row in rows:
        key = group_of(row, "tensor"), group_of(row, "pipeline")
        errors.setdefault(key, []).append(row.error)
    return {key: summarize_errors(errors).mean for key, errors in errors.items()}


@cache
def brackets() -> Mapping[str, Bracket]:
    """Return the predictions of famous runs; a rate or MFU is inverse to the step."""
    intervals = {}
    for name, report in REPORTED.items():
        step = run_estimate(nearest_run(Inputs(**report.settings))[0])  # type: ignore[arg-type]
        value = float(getattr(step, report.figure))
        ends = ("step_time_low", "step_time_high")
        low, high = (step.estimate[end] / step.step_time for end in ends)
        if report.figure != "step_time":
            low, high = 1 / high, 1 / low
        intervals[name] = Bracket(value=value, low=value * low, high=value * high)
    return intervals
