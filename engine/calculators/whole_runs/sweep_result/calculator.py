"""The result of a sweep: the best plan of every job, their frontier, what differs."""

from functools import partial
from math import nan

from engine.calculators.whole_runs.sweep_result import charts
from engine.calculators.whole_runs.sweep_result.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.sweep_result.inputs import Inputs as Inputs
from engine.calculators.whole_runs.sweep_result.inputs import Result as Result
from engine.calculators.whole_runs.sweep_result.inputs import read
from engine.core.outputs import Teller, Views
from engine.core.views import Value
from engine.run.sweep_table import SweptJob, front, in_order, matching

TITLE = "Read my sweep"
QUESTION = "Which of many jobs is fast or cheap enough, and what changes from one to another?"
EQUATIONS = ()


def solve(inputs: Inputs) -> Result:
    """Return the jobs that are left, in their order, and the numbers of the chosen one."""
    every = read(inputs.table)
    left = in_order(matching(every, inputs.only), inputs.order)
    place = min(inputs.row, len(left))
    one = left[place - 1] if left else None
    numbered = enumerate(left, start=1)
    alike = tuple((number, job) for number, job in numbered if one and _alike(job, one))
    x = [job.cost if inputs.against == "cost" else float(job.world_size) for _, job in alike]
    points = tuple(zip(x, (job.step for _, job in alike), strict=True))
    return Result(
        jobs=tuple(left),
        all_jobs=len(every),
        fitting=sum(bool(job.plan) for job in left),
        place=place,
        chosen=one,
        alike=alike,
        points=points,
        front=tuple(front(points)),
        num_jobs=len(left),
        step=one.step if one else 0.0,
        low=one.low if one else 0.0,
        high=one.high if one else 0.0,
        rate=one.rate if one else 0.0,
        held=one.memory if one else 0.0,
        time=one.time if one else 0.0,
        cost=one.cost if one else 0.0,
    )


def _alike(one: SweptJob, other: SweptJob) -> bool:
    """Return whether a job has a plan, and trains the same as another."""
    names = ("model", "sequence_length", "global_batch_size")
    same = all(getattr(one, name) == getattr(other, name) for name in names)
    return bool(one.plan) and same and one.settings.get("tokens") == other.settings.get("tokens")


def _of_chosen(tell: Teller, result: Result) -> dict[str, Value]:
    """Return the chosen job's numbers; of no job, or of one without a plan, why there are none."""
    names = "step", "time", "cost", "rate", "held"
    if result.chosen and result.chosen.plan:
        return tell.values(*names)
    why = "no plan fits" if result.chosen else "no job matches"
    return {name: tell.value(name, value=nan, note=why) for name in names}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "best": charts.best(result),
        **_of_chosen(tell, result),
        **tell.values("num_jobs"),
        "jobs": partial(charts.jobs, result),
        "frontier": partial(charts.frontier, inputs, result),
        "changes": partial(charts.changes, result),
    }
