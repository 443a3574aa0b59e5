"""Gradient accumulation: data parallel with one sequence at a time and one all-reduce per step."""

from dataclasses import replace

from engine.core.units import Count
from engine.tiny.job import TinyJob, rank_sequences
from engine.tiny.result import TrainingResult
from engine.tiny.schemes import data_parallel

TITLE = "Gradient accumulation"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 4)


def train(job: TinyJob, ranks: Count) -> TrainingResult:
    """Return the run on `ranks` ranks."""
    longest = len(rank_sequences(job, 0, ranks))
    return data_parallel.train(replace(job, num_microbatches=longest), ranks)
