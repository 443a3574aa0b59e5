"""The answer of the planner to a reader: the best plan of a job, and a plan of the reader's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

from engine.catalog.gain_errors import GAIN_ERROR, PAIRS
from engine.core.outputs import Output
from engine.core.slices import SlicedRun, Slices
from engine.core.text import Text
from engine.core.units import Bytes, Count, Money, Ratio, Seconds, Share, TokenRate
from engine.form.plan_to_reality import ASSUMES, NO_LOSSES, SOURCES, in_the_end
from engine.form.planner.inputs import Inputs, job_of, own_run
from engine.form.run.prediction_text import evidence_assumptions
from engine.formulas.job import time_of_steps
from engine.run.plan_space import PlanningJob
from engine.run.run import Run
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.planner.evaluate import Candidate, PlanShape, candidate_run
from engine.simulate.planner.moves import (
    JobChange,
    StepLimit,
    best_by_gpus,
    find_job_changes,
    largest_overhead,
)
from engine.simulate.planner.search import (
    SearchResult,
    Split,
    best_by_split,
    pareto_plans,
    price_job,
    pricing_part,
    search_plans,
    timing_part,
)
from engine.simulate.planner.ties import Tie, find_ties
from engine.simulate.planner.why import Reason, why_not
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_range import step_range

_MODEL = (
    "Every plan that divides is bounded by its layers; those that could be best are computed.",
    "The cost model of the site, whose constants are fitted to published runs.",
)

_HELD = (
    "States, activations and buffers of the rank that holds most, by the memory model of the site.",
)
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
    """The planner's result; zero where no plan fits.

    Attributes:
        job: that was asked.
        shapes: of the job, the lowest bound first.
        search: the fastest plans.
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

    job: PlanningJob
    shapes: list[PlanShape]
    search: SearchResult
    reader_run: Run
    own_evidence: Evidence
    why: Reason
    run: Run | None
    evidence: Evidence | None
    limit: StepLimit | None
    tie: SlicedRun[Tie] | None
    cells: SlicedRun[Mapping[Split, Candidate]]
    frontier: SlicedRun[tuple[Candidate, ...]]
    counts: tuple[Count, ...]
    by_gpus: SlicedRun[Mapping[Count, Candidate]]
    moves: SlicedRun[tuple[JobChange, ...]] | None
    step: Annotated[
        Seconds,
        Output("Step of the best plan", "", "a range from {low} to {high}", "compute", _MODEL),
    ]
    low: Seconds
    high: Seconds
    rate: Annotated[
        TokenRate, Output("Tokens per second of a GPU", color="compute", assumes=_MODEL)
    ]
    days: Annotated[
        Seconds,
        Output(
            "The whole run",
            note="if nothing fails",
            color="ink",
            assumes=(*_MODEL, NO_LOSSES),
        ),
    ]
    in_the_end: Annotated[
        Seconds,
        Output(
            "Runs of this kind took in the end",
            note="{end_low} to {end_high} in eight of ten",
            color="ink",
            assumes=ASSUMES,
            sources=SOURCES,
        ),
    ]
    end_low: Seconds
    end_high: Seconds
    cost: Annotated[Money, Output("It costs", color="ink", assumes=_MODEL)]
    held: Annotated[
        Bytes,
        Output(
            "Memory of the rank that holds most",
            "",
            "of {room} that may be filled",
            "memory",
            _HELD,
        ),
    ]
    room: Bytes
    own_step: Annotated[Seconds, Output("Step of your plan", color="communication", assumes=_MODEL)]
    own_held: Annotated[
        Bytes, Output("Of your plan, the rank that holds most", color="memory", assumes=_HELD)
    ]
    slower: Annotated[
        Ratio, Output("Your plan's step over the best one's", color="communication", assumes=_MODEL)
    ]
    searched: Annotated[Count, Output("Splits that could be best", assumes=_MODEL[:1])]
    splits: Annotated[
        Count, Output("Splits of a layer and a micro-batch", assumes=("Each with many pipelines.",))
    ]
    pairs: Annotated[
        Count, Output("Pairs of published runs", note="that differ in one setting", assumes=_PAIRS)
    ] = PAIRS
    pair_error: Annotated[
        Share, Output("Four in five ratios are within", note="of the measured one", assumes=_PAIRS)
    ] = GAIN_ERROR

    @property
    def best(self) -> Candidate | None:
        """The fastest plan that fits."""
        return self.search.best[0] if self.search.best else None

    @property
    def known(self) -> tuple[Text, ...]:
        """Evidence for the best plan's step: its range, and runs measured nearby."""
        return *_MODEL, *(evidence_assumptions(self.evidence) if self.evidence else ())


@lru_cache(maxsize=8)
def _shared_search(inputs: Inputs) -> SlicedRun[tuple[list[PlanShape], SearchResult]]:
    """Return the search of a job, shared by all plans of the reader."""
    return SlicedRun(_search(job_of(inputs)))


def _search(job: PlanningJob) -> Slices[tuple[list[PlanShape], SearchResult]]:
    """Find the shapes of a job, the lowest bound first, and its fastest plans."""
    shapes = yield from pricing_part(price_job(job))
    return shapes, (yield from timing_part(search_plans(job, _COUNT, shapes)))


def _counts(job: PlanningJob) -> tuple[Count, ...]:
    """Return a quarter to four times the GPUs of a job, in whole nodes."""
    node = job.cluster.gpus_per_node
    sizes = {max(node, int(job.world_size * factor) // node * node) for factor in _FACTORS}
    return tuple(sorted(sizes))


def _whole_run(tokens: float, run: Run | None, step: Seconds) -> Seconds:
    """Return the time of the steps of a run; 0 where no plan fits."""
    if run is None:
        return 0.0
    training = run.training
    return time_of_steps(tokens, training.global_batch_size, training.sequence_length, step)


def answer(inputs: Inputs) -> Slices[Answer]:
    """Return the planner's result for a job and the reader's plan."""
    job, tokens = job_of(inputs), inputs.tokens
    reader_run = own_run(inputs, job)
    shapes, search = yield from _shared_search(replace(inputs, **_OWN)).rest()
    best = search.best[0] if search.best else None
    why = why_not(job, reader_run, best)
    step = best.step if best else 0.0
    run = candidate_run(job, best.plan, best.training) if best else None
    low, high = step_range(run, step)[:2] if run else (0.0, 0.0)
    batch = job.training.global_batch_size * job.training.sequence_length
    days = _whole_run(tokens, run, step)
    end_low, end, end_high = in_the_end(days)
    plan, counts = why.plan, _counts(job)
    return Answer(
        job=job,
        shapes=shapes,
        search=search,
        reader_run=reader_run,
        own_evidence=evidence(reader_run),
        why=why,
        run=run,
        evidence=evidence(run) if run else None,
        limit=largest_overhead(best) if best else None,
        tie=SlicedRun(find_ties(search.job, best, shapes)) if best else None,
        cells=SlicedRun(best_by_split(search.job, shapes)),
        frontier=SlicedRun(pareto_plans(search.job, shapes)),
        counts=counts,
        by_gpus=SlicedRun(best_by_gpus(job, counts)),
        moves=SlicedRun(find_job_changes(job, best)) if best else None,
        step=step,
        low=low,
        high=high,
        rate=batch / step / job.world_size if best else 0.0,
        days=days,
        in_the_end=end,
        end_low=end_low,
        end_high=end_high,
        cost=days * job.cluster.price_per_hour * job.world_size,
        held=best.memory.total if best else 0.0,
        room=usable_bytes(job.cluster.gpu.memory, job.kept_free),
        own_step=plan.step if plan else 0.0,
        own_held=plan.memory.total if plan else 0.0,
        slower=plan.step / step if plan and best else 0.0,
        searched=search.examined,
        splits=len(shapes),
    )
