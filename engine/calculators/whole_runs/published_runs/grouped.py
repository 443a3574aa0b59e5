"""What the errors of published runs amount to, group by group, and the brackets of famous ones."""

from collections.abc import Mapping, Sequence
from functools import cache

from engine.calculators.whole_runs.published_runs.read import Published, group_of, split
from engine.catalog.reported_runs import REPORTED
from engine.core.record import record
from engine.core.units import Ratio
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import run_of
from engine.form.run.result import estimated
from engine.simulate.numerics.error_spread import Spread, spread


@record
class Group:
    """Runs that have something in common, and what their errors amount to."""

    name: str
    runs: Sequence[Published]
    errors: Spread


@record
class Bracket:
    """What is predicted of a famous run, and the range of it."""

    value: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether a value lies in the range."""
        return self.low <= value <= self.high


def groups(rows: Sequence[Published], by: str) -> tuple[Group, ...]:
    """Return the errors of the step time of each group."""
    return tuple(
        Group(name=name, runs=runs, errors=spread([row.error for row in runs]))
        for name, runs in split(rows, by).items()
    )


def memory_groups(held: Sequence[Published]) -> tuple[Group, ...]:
    """Return the errors of the peak of memory of each source."""
    return tuple(
        Group(name=name, runs=runs, errors=spread([memory_error(row) for row in runs]))
        for name, runs in split(held, "source").items()
    )


def memory_error(row: Published) -> Ratio:
    """Return the error of the peak of a run that has one."""
    return row.memory[1] / row.memory[0] - 1


def plan_errors(rows: Sequence[Published]) -> Mapping[tuple[str, str], Ratio]:
    """Return the mean absolute error for each pair of tensor and pipeline parallelism."""
    found: dict[tuple[str, str], list[Ratio]] = {}
    for row in rows:
        key = group_of(row, "tensor"), group_of(row, "pipeline")
        found.setdefault(key, []).append(row.error)
    return {key: spread(errors).mean for key, errors in found.items()}


@cache
def brackets() -> Mapping[str, Bracket]:
    """Return what is predicted of famous runs; a rate or an MFU goes with one over the step."""
    found = {}
    for name, one in REPORTED.items():
        step = estimated(run_of(Inputs(**one.settings))[0])  # type: ignore[arg-type]
        value = float(getattr(step, one.figure))
        ends = ("step_time_low", "step_time_high")
        low, high = (step.estimate[end] / step.step_time for end in ends)
        if one.figure != "step_time":
            low, high = 1 / high, 1 / low
        found[name] = Bracket(value=value, low=value * low, high=value * high)
    return found
