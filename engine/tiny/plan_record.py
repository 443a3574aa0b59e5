"""One training of the tiny model under every plan of a few ranks: what each holds and sends."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.core.slices import Running, Sliced, Slices, retold, steps_done, whole
from engine.core.units import Bytes, Count
from engine.formulas.states import MIXED_PRECISION
from engine.tiny import single
from engine.tiny.job import Job, example_batch
from engine.tiny.result import Run, difference
from engine.tiny.schemes import (
    context_zig_zag,
    data_parallel,
    pipeline_parallel,
    tensor_parallel,
    zero_1,
    zero_2,
    zero_3,
)

# Eight sequences of eight predicted tokens, so that four ranks have two pieces of each.
BATCH = example_batch(8, 8)
# The last digits depend on the order of a sum.
LEAST = 1e-14

_SCHEMES: tuple[tuple[str, tuple[Count, ...], Sliced[Any, Run]], ...] = (
    ("Data parallel", data_parallel.RANKS, data_parallel.train),
    ("ZeRO-1", zero_1.RANKS, zero_1.train),
    ("ZeRO-2", zero_2.RANKS, zero_2.train),
    ("ZeRO-3", zero_3.RANKS, zero_3.train),
    ("Tensor parallel", tensor_parallel.RANKS, tensor_parallel.train),
    ("Pipeline parallel", pipeline_parallel.RANKS, pipeline_parallel.train),
    ("Context parallel", context_zig_zag.RANKS, context_zig_zag.train),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One plan, run.

    Attributes:
        name: of the scheme.
        held: bytes that the fullest rank keeps, in mixed precision.
        sent: numbers that the busiest rank sends in a step.
        digits: that agree with a single GPU, of fourteen that are compared.
    """

    name: str
    held: Bytes
    sent: Count
    digits: float


def planned(ranks: Count, steps: Count) -> tuple[Planned, ...]:
    """Return the plans of so many ranks; those that do not divide the tiny model are left out."""
    return whole(planning(ranks, steps).rest())


@lru_cache(maxsize=8)
def planning(ranks: Count, steps: Count) -> Running[tuple[Planned, ...]]:
    """Return the same, one plan after the other."""
    return Running(_plans(Job(batch=BATCH, steps=steps), ranks))


def _plans(job: Job, ranks: Count) -> Slices[tuple[Planned, ...]]:
    schemes = [(name, train) for name, possible, train in _SCHEMES if ranks in possible]

    def run(train: Slices[Run], place: Count) -> Slices[Run]:
        progress = steps_done(place, len(schemes), "Plan")
        return retold(train, lambda _: progress)

    alone = yield from run(single.train.slices(job), 0)
    found = []
    for place, (name, train) in enumerate(schemes, start=1):
        own = yield from run(train.slices(job, ranks), place)
        found.append(_planned(name, own, alone))
    return tuple(found)


def _planned(name: str, run: Run, alone: Run) -> Planned:
    off = difference(run, alone)
    places = range(len(run.held))
    sent = max(sum(own[rank] for own in run.sent.values()) for rank in places)
    return Planned(
        name=name,
        held=max(own.size(MIXED_PRECISION) for own in run.held),
        sent=round(sent / run.job.steps),
        digits=14.0 if off < LEAST else round(-math.log10(off), 1),
    )
