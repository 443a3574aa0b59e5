"""Sweep results: the best plan of every job, their frontier, and differences."""

from functools import partial
from math import nan

from engine.calculators.whole_runs.sweep_result import charts
from engine.calculators.whole_runs.sweep_result.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.sweep_result.inputs import Inputs as Inputs
from engine.calculators.whole_runs.sweep_result.inputs import Result as Result
from engine.calculators.whole_runs.sweep_result.inputs import parse_sweep
from engine.core.outputs import Presenter, Views
from engine.core.views import Value
from engine.run.sweep_table import SweptJob, filter_jobs, pareto_front, sort_jobs

TITLE = "Read my sweep"
QUESTION = "Which of many jobs is fast or cheap enough, and what changes from one to another?"
EQUATIONS = ()


def solve(inputs: Inputs) -> Result:
    """Return the remaining jobs, sorted, and the numbers of the chosen job."""
    every = parse_sweep(inputs.table)
    left = sort_jobs(filter_jobs(every, inputs.only), inputs.order)
    place = min(inputs.row, len(left))
    chosen = left[place - 1] if left else None
    numbered = enumerate(left, start=1)
    alike = tuple(
        (number, job) for number, job in numbered if chosen and _same_training(job, chosen)
    )
    x = [job.cost if inputs.against == "cost" else float(job.world_size) for _, job in alike]
    points = tuple(zip(x, (job.step for _, job in alike), strict=True))
    return Result(
        jobs=tuple(left),
        all_jobs=len(every),
        fitting=sum(bool(job.plan) for job in left),
        place=place,
        chosen=chosen,
        alike=alike,
        points=points,
        front=tuple(pareto_front(points)),
        num_jobs=len(left),
        step=chosen.step if chosen else 0.0,
        low=chosen.low if chosen else 0.0,
        high=chosen.high if chosen else 0.0,
        rate=chosen.rate if chosen else 0.0,
        held=chosen.memory if chosen else 0.0,
        time=chosen.time if chosen else 0.0,
        cost=chosen.cost if chosen else 0.0,
    )


def _same_training(job: SweptJob, other: SweptJob) -> bool:
    """Return whether a job has a plan, and the same training as another."""
    names = ("model", "sequence_length", "global_batch_size")
    same = all(getattr(job, name) == getattr(other, name) for name in names)
    return bool(job.plan) and same and job.settings.get("tokens") == other.settings.get("tokens")


def _chosen_values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the chosen job's values, or the reason why it has none."""
    names = "step", "time", "cost", "rate", "held"
    if result.chosen and result.chosen.plan:
        return present.values(*names)
    why = "no plan fits" if result.chosen else "no job matches"
    return {name: present.value(name, value=nan, note=why) for name in names}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "best": charts.chosen_verdict(result),
        **_chosen_values(present, result),
        **present.values("num_jobs"),
        "jobs": partial(charts.jobs, result),
        "frontier": partial(charts.frontier, inputs, result),
        "changes": partial(charts.changes, result),
    }
