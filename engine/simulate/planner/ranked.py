"""Rank of a run's own plan among all plans of its job, and the reason for it."""

from dataclasses import dataclass, replace

from engine.core.slices import Slices
from engine.core.units import Count, Seconds
from engine.run.parallelism import Recompute
from engine.run.plan_space import SCHEDULES, PlanningJob
from engine.run.run import Run
from engine.run.stage_cut import cut_layers
from engine.simulate.memory.memory import rank_memory
from engine.simulate.planner.evaluate import Candidate, PlanShape
from engine.simulate.planner.kinds import plan_order
from engine.simulate.planner.search import (
    price_job,
    pricing_part,
    search_progress,
    shape_plans_within,
    shapes_within,
    timing_part,
)
from engine.simulate.planner.why import Reason, why_not

# Steps that differ by less than this are the same plan under two names.
_SAME = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRank:
    """Rank of a run's plan among those of its job.

    Attributes:
        rank: 1 if no plan that fits is faster; 0 if nothing runs the run's own.
        best: the fastest plan; None if nothing runs the run's own.
        reason: what speaks against the run's own.
    """

    rank: Count
    best: Candidate | None
    reason: Reason


def job_of_run(run: Run) -> PlanningJob:
    """Return the job of a run, without its plan, with its software and precision."""
    training = run.training
    names = SCHEDULES[training.framework]
    again: tuple[Recompute, ...] = ("none", "selective", "full")
    return PlanningJob(
        model=run.model,
        cluster=run.cluster,
        world_size=run.plan.world_size,
        training=replace(training, micro_batch_size=1, recompute="none", schedule="1f1b"),
        frameworks=(training.framework,),
        precisions=(training.precision,),
        recomputes=again if training.recompute in again else (*again, training.recompute),
        schedules=(*names, *({training.schedule} - set(names))),
        kept_free=0.0,  # published runs leave as little free as they do
    )


def with_layer_cut(run: Run) -> Run:
    """Return the run with explicit layers per stage if layers do not divide evenly."""
    plan, pieces = run.plan, run.plan.pipeline_parallel * run.plan.virtual_pipeline
    sizes = cut_layers(run.model, pieces)
    if run.training.framework != "megatron" or plan.stage_layers or len(set(sizes)) == 1:
        return run
    return replace(run, plan=replace(plan, stage_layers=sizes))


def with_room_for(job: PlanningJob, run: Run) -> PlanningJob:
    """Return the job with enough memory for a run's own plan, even if it is predicted not to fit.

    Runs that were published did run: there the memory is predicted wrongly, and plans that need no
    more of it are its rivals.
    """
    memory = rank_memory(run.model, run.plan, run.training).total
    filled = (1 + _SAME) * memory / run.cluster.gpu.memory
    return replace(job, kept_free=min(job.kept_free, 1 - filled))


def rank_plan(run: Run) -> Slices[PlanRank]:
    """Return the rank of a run's plan among all plans that fit."""
    run = with_layer_cut(run)
    job = job_of_run(run)
    alone = why_not(job, run, None)
    if alone.plan is None:
        return PlanRank(rank=0, best=None, reason=alone)
    job = with_room_for(job, run)
    shapes = yield from pricing_part(price_job(job))
    return (yield from timing_part(_find_rank(job, run, alone.plan.step, shapes)))


def _find_rank(
    job: PlanningJob, run: Run, step: Seconds, shapes: list[PlanShape]
) -> Slices[PlanRank]:
    """Return the rank of a step time among the plans of the shapes."""
    limit = step * (1 + _SAME)
    reached = shapes_within(limit, shapes)
    faster, best = 0, None
    for done, shape in enumerate(reached):
        yield search_progress(done, len(reached), "{done} of {all} splits looked at")
        for candidate in shape_plans_within(job, limit, shape):
            faster += candidate.step < step * (1 - _SAME)
            best = candidate if best is None or plan_order(candidate) < plan_order(best) else best
    return PlanRank(rank=faster + 1, best=best, reason=why_not(job, run, best))
