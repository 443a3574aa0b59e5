"""Exhaustive plan search over processes: `engine plan --every`."""

import multiprocessing
from dataclasses import dataclass
from functools import partial

from engine.core.units import Count
from engine.run.plan_space import PlanningJob
from engine.simulate.planner.survey import Survey, merge_surveys, survey

# Parts of a job for each process: shapes differ in how many plans they have.
_PARTS: Count = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class AllPlans:
    """The survey of all plans of a job, and the number of worker processes."""

    survey: Survey
    workers: Count


def all_plans(job: PlanningJob, count: Count, workers: Count) -> AllPlans:
    """Return the survey of all plans of a job; 0 workers means one per processor."""
    workers = workers or multiprocessing.cpu_count()
    surveyed = survey(job, count) if workers == 1 else _survey_in_processes(job, count, workers)
    return AllPlans(survey=surveyed, workers=workers)


def _survey_in_processes(job: PlanningJob, count: Count, workers: Count) -> Survey:
    parts = workers * _PARTS
    survey_part = partial(_survey_part, job, count, parts)
    # A copy of this process starts at once; elsewhere the engine has to be imported again.
    start_method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    with multiprocessing.get_context(start_method).Pool(workers) as pool:
        return merge_surveys(pool.imap_unordered(survey_part, range(parts)), count)


def _survey_part(job: PlanningJob, count: Count, parts: Count, part: Count) -> Survey:
    return survey(job, count, part, parts)
