"""Gradient accumulation: data parallel with one sequence at a time and one all-reduce per step."""

from dataclasses import replace

from engine.core.units import Count
from engine.tiny.job import Job, share
from engine.tiny.result import Run
from engine.tiny.schemes import data_parallel

TITLE = "Gradient accumulation"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 4)


def train(job: Job, ranks: Count) -> Run:
    """Return the run on `ranks` ranks."""
    longest = len(share(job, 0, ranks))
    return data_parallel.train(replace(job, num_microbatches=longest), ranks)
