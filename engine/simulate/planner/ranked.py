"""Where a run's own plan stands among all plans of its job, and why it is not the first."""

from dataclasses import dataclass, replace

from engine.core.slices import Slices
from engine.core.units import Count, Seconds
from engine.run.parallelism import Recompute
from engine.run.plan_space import SCHEDULES, Job
from engine.run.run import Run
from engine.run.stage_cut import cut_layers
from engine.simulate.planner.evaluate import Candidate, Shape, one_candidate
from engine.simulate.planner.search import at, first, order, pricing, reaching, then, within_shape
from engine.simulate.planner.why import Reason, why_not

# Steps that differ by less than this are the same plan under two names.
_SAME = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A run's plan among those of its job.

    Attributes:
        rank: 1 if no plan that fits is faster; 0 if nothing runs the run's own.
        best: the fastest plan; None if nothing runs the run's own.
        reason: what speaks against the run's own.
    """

    rank: Count
    best: Candidate | None
    reason: Reason


def job_of_run(run: Run) -> Job:
    """Return the job of a run: what its plan did not choose, with its software and precision."""
    training = run.training
    names = SCHEDULES[training.framework]
    again: tuple[Recompute, ...] = ("none", "selective", "full")
    return Job(
        model=run.model,
        cluster=run.cluster,
        world_size=run.plan.world_size,
        training=replace(training, micro_batch_size=1, recompute="none", schedule="1f1b"),
        frameworks=(training.framework,),
        precisions=(training.precision,),
        recomputes=again if training.recompute in again else (*again, training.recompute),
        schedules=(*names, *({training.schedule} - set(names))),
    )


def as_cut(run: Run) -> Run:
    """Return the run with the cut that its step is computed with, where layers do not divide."""
    plan, pieces = run.plan, run.plan.pipeline_parallel * run.plan.virtual_pipeline
    sizes = cut_layers(run.model, pieces)
    if run.training.framework != "megatron" or plan.stage_layers or len(set(sizes)) == 1:
        return run
    return replace(run, plan=replace(plan, stage_layers=sizes))


def room_made(job: Job, run: Run) -> Job:
    """Return the job with room for a run's own plan, where predicted memory says that it has none.

    Runs that were published did run: there the memory is predicted wrongly, and plans that need no
    more of it are its rivals.
    """
    one = one_candidate(run)
    return replace(job, kept_free=min(job.kept_free, 1 - (1 + _SAME) * one.held.total / one.room))


def ranked(run: Run) -> Slices[Ranked]:
    """Find where a run's plan stands: all plans that fit and are at least as fast are looked at."""
    run = as_cut(run)
    job = job_of_run(run)
    alone = why_not(job, run, None)
    if alone.plan is None:
        return Ranked(rank=0, best=None, reason=alone)
    job = room_made(job, run)
    shapes = yield from first(pricing(job))
    return (yield from then(_standing(job, run, alone.plan.step, shapes)))


def _standing(job: Job, run: Run, step: Seconds, shapes: list[Shape]) -> Slices[Ranked]:
    """Find where a run's plan of this step stands among those of the shapes."""
    limit = step * (1 + _SAME)
    reached = reaching(limit, shapes)
    faster, best = 0, None
    for done, shape in enumerate(reached):
        yield at(done, len(reached), "{done} of {all} splits looked at")
        for one in within_shape(job, limit, shape):
            faster += one.step < step * (1 - _SAME)
            best = one if best is None or order(one) < order(best) else best
    return Ranked(rank=faster + 1, best=best, reason=why_not(job, run, best))
