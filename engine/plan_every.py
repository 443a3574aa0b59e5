"""Every plan of a job, by as many processes as there are processors: `engine plan --every`."""

import multiprocessing
from dataclasses import dataclass
from functools import partial

from engine.core.units import Count
from engine.run.plan_space import Job
from engine.simulate.planner.survey import Survey, joined, survey

# Parts of a job for each process: shapes differ in how many plans they have.
_PARTS: Count = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """All plans of a job, and how many processes computed them."""

    found: Survey
    workers: Count


def every(job: Job, count: Count, workers: Count) -> Every:
    """Return all plans of a job; 0 workers are as many as there are processors."""
    workers = workers or multiprocessing.cpu_count()
    found = survey(job, count) if workers == 1 else _shared(job, count, workers)
    return Every(found=found, workers=workers)


def _shared(job: Job, count: Count, workers: Count) -> Survey:
    parts = workers * _PARTS
    one = partial(_part, job, count, parts)
    # A copy of this process starts at once; elsewhere the engine has to be imported again.
    way = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    with multiprocessing.get_context(way).Pool(workers) as pool:
        return joined(pool.imap_unordered(one, range(parts)), count)


def _part(job: Job, count: Count, parts: Count, part: Count) -> Survey:
    return survey(job, count, part, parts)
