"""The answer of the planner to a reader: the best plan of a job, and a plan of the reader's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

from engine.core.outputs import Told
from engine.core.slices import Running, Slices
from engine.core.text import Text
from engine.core.units import Bytes, Count, Money, Ratio, Seconds, Share, TokenRate
from engine.form.planner.inputs import Inputs, job_of, own_run
from engine.form.run.prediction_text import known
from engine.form.what_if.accuracy import GAIN_ERROR, PAIRS
from engine.run.plan_space import Job
from engine.run.run import Run
from engine.simulate.memory.allocator import usable
from engine.simulate.planner.evaluate import Candidate, Shape, run_of
from engine.simulate.planner.moves import Limit, Move, by_gpus, limit, moves
from engine.simulate.planner.search import (
    Cell,
    Found,
    cells,
    first,
    frontier,
    pricing,
    searching,
    then,
)
from engine.simulate.planner.ties import Tie, tie
from engine.simulate.planner.why import Reason, why_not
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_range import step_range

_MODEL = (
    "Every plan that divides is bounded by its layers; those that could be best are computed.",
    "The cost model of the site, whose constants are fitted to published runs.",
)

_HELD = ("States, activations and buffers of the fullest rank, by the memory model of the site.",)
_PAIRS = (
    "Two published runs of one source that differ in one setting: the ratio of their speeds, "
    "predicted and measured.",
    "These runs include those that the constants were fitted to.",
)
_COUNT: Count = 8
_FACTORS = (0.25, 0.5, 1, 2, 4)
# A plan of the reader's own changes nothing about the search.
_OWN: dict[str, Any] = {
    name: field.default
    for name, field in Inputs.__dataclass_fields__.items()
    if name.startswith("own_") and name != "own_constants"
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the planner found; zero where no plan fits.

    Attributes:
        job: that was asked.
        shapes: of the job, the lowest bound first.
        found: the fastest plans.
        own, own_evidence: the reader's plan, and on what its step rests.
        why: what speaks against it.
        run, evidence: the best plan's, and on what its step rests.
        limit: what of the best plan's step is no computation.
        tie: what ties with the best plan.
        cells: the best plan of each tensor and pipeline parallelism.
        frontier: plans that no other beats in both step and memory.
        counts, by_gpus: fewer and more GPUs, and the best plan on each.
        moves: what changes of the job would gain.
    """

    job: Job
    shapes: list[Shape]
    found: Found
    own: Run
    own_evidence: Evidence
    why: Reason
    run: Run | None
    evidence: Evidence | None
    limit: Limit | None
    tie: Running[Tie] | None
    cells: Running[Mapping[Cell, Candidate]]
    frontier: Running[tuple[Candidate, ...]]
    counts: tuple[Count, ...]
    by_gpus: Running[Mapping[Count, Candidate]]
    moves: Running[tuple[Move, ...]] | None
    step: Annotated[
        Seconds,
        Told("Step of the best plan", "", "a range from {low} to {high}", "compute", _MODEL),
    ]
    low: Seconds
    high: Seconds
    rate: Annotated[TokenRate, Told("Tokens per second of a GPU", color="compute", assumes=_MODEL)]
    days: Annotated[
        Seconds, Told("The whole run", note="if nothing fails", color="ink", assumes=_MODEL)
    ]
    cost: Annotated[Money, Told("It costs", color="ink", assumes=_MODEL)]
    held: Annotated[Bytes, Told("Fullest GPU", "", "of {room} that may be filled", "memory", _HELD)]
    room: Bytes
    own_step: Annotated[Seconds, Told("Step of your plan", color="communication", assumes=_MODEL)]
    own_held: Annotated[Bytes, Told("Fullest GPU of your plan", color="memory", assumes=_HELD)]
    slower: Annotated[
        Ratio, Told("Your plan's step over the best one's", color="communication", assumes=_MODEL)
    ]
    searched: Annotated[Count, Told("Splits that could be best", assumes=_MODEL[:1])]
    splits: Annotated[
        Count, Told("Splits of a layer and a micro-batch", assumes=("Each with many pipelines.",))
    ]
    pairs: Annotated[
        Count, Told("Pairs of published runs", note="that differ in one setting", assumes=_PAIRS)
    ] = PAIRS
    pair_error: Annotated[
        Share, Told("Four in five ratios are within", note="of the measured one", assumes=_PAIRS)
    ] = GAIN_ERROR

    @property
    def best(self) -> Candidate | None:
        """The fastest plan that fits."""
        return self.found.best[0] if self.found.best else None

    @property
    def known(self) -> tuple[Text, ...]:
        """What is known of the best plan's step: its range, and runs measured nearby."""
        return *_MODEL, *(known(self.evidence) if self.evidence else ())


@lru_cache(maxsize=8)
def _searched(inputs: Inputs) -> Running[tuple[list[Shape], Found]]:
    """Return the search of a job, one for all plans of the reader's."""
    return Running(_search(job_of(inputs)))


def _search(job: Job) -> Slices[tuple[list[Shape], Found]]:
    """Find the shapes of a job, the lowest bound first, and its fastest plans."""
    shapes = yield from first(pricing(job))
    return shapes, (yield from then(searching(job, _COUNT, shapes)))


def _counts(job: Job) -> tuple[Count, ...]:
    """Return a quarter to four times the GPUs of a job, in whole nodes."""
    node = job.cluster.gpus_per_node
    sizes = {max(node, int(job.world_size * factor) // node * node) for factor in _FACTORS}
    return tuple(sorted(sizes))


def answer(inputs: Inputs) -> Slices[Answer]:
    """Find what the planner says of a job and of a reader's plan."""
    job, tokens = job_of(inputs), inputs.tokens
    own = own_run(inputs, job)
    shapes, found = yield from _searched(replace(inputs, **_OWN)).rest()
    best = found.best[0] if found.best else None
    why = why_not(job, own, best)
    step = best.step if best else 0.0
    run = run_of(job, best.plan, best.training) if best else None
    low, high = step_range(run, step)[:2] if run else (0.0, 0.0)
    batch = job.training.global_batch_size * job.training.sequence_length
    days = tokens / batch * step
    plan, counts = why.plan, _counts(job)
    return Answer(
        job=job,
        shapes=shapes,
        found=found,
        own=own,
        own_evidence=evidence(own),
        why=why,
        run=run,
        evidence=evidence(run) if run else None,
        limit=limit(best) if best else None,
        tie=Running(tie(job, best, shapes)) if best else None,
        cells=Running(cells(job, shapes)),
        frontier=Running(frontier(job, shapes)),
        counts=counts,
        by_gpus=Running(by_gpus(job, counts)),
        moves=Running(moves(job, best)) if best else None,
        step=step,
        low=low,
        high=high,
        rate=batch / step / job.world_size if best else 0.0,
        days=days,
        cost=days * job.cluster.price_per_hour * job.world_size,
        held=best.held.total if best else 0.0,
        room=usable(job.cluster.gpu.memory, job.training) * (1 - job.kept_free),
        own_step=plan.step if plan else 0.0,
        own_held=plan.held.total if plan else 0.0,
        slower=plan.step / step if plan and best else 0.0,
        searched=found.seen,
        splits=len(shapes),
    )
