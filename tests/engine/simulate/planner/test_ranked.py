"""Where a run's own plan stands: as many plans are faster as a census of all of them counts."""

from dataclasses import replace

from engine.core.slices import run_to_end
from engine.run.parallelism import Plan
from engine.run.run import Run
from engine.simulate.planner.evaluate import candidates, run_candidate
from engine.simulate.planner.kinds import plan_order
from engine.simulate.planner.ranked import job_of_run, rank_plan, with_room_for
from engine.simulate.planner.search import ordered_shapes
from tests.engine.run.planner_jobs import JOBS

JOB = JOBS["7b"]
TRAINING = replace(JOB.training, micro_batch_size=1)
PLAN = Plan(world_size=16, tensor_parallel=8, sequence_parallel=True)
RUN = Run(model=JOB.model, cluster=JOB.cluster, plan=PLAN, training=TRAINING)


def test_the_rank_counts_all_that_fit_and_are_faster():
    found, job = run_to_end(rank_plan(RUN)), job_of_run(RUN)
    every = [
        one for shape in ordered_shapes(job) for one in candidates(job, shape) if one.leaves_room
    ]
    step = run_candidate(RUN).step
    assert found.rank == 1 + sum(one.step < step * (1 - 1e-9) for one in every) > 2
    assert found.best.step == min(every, key=plan_order).step
    assert found.reason.verdict in ("slower", "tied")
    assert found.reason.slower > 1


def test_the_best_plan_has_rank_one():
    best = run_to_end(rank_plan(RUN)).best
    found = run_to_end(rank_plan(replace(RUN, plan=best.plan, training=best.training)))
    assert (found.rank, found.reason.verdict) == (1, "best")


def test_a_plan_that_does_not_fit_is_ranked_among_those_that_need_no_more():
    large = replace(RUN, training=replace(TRAINING, micro_batch_size=8, global_batch_size=512))
    large = replace(large, plan=Plan(world_size=16))
    own = run_candidate(large)
    assert not own.leaves_room
    found, job = run_to_end(rank_plan(large)), with_room_for(job_of_run(large), large)
    every = [one for shape in ordered_shapes(job) for one in candidates(job, shape)]
    rivals = [one for one in every if one.memory.total <= own.memory.total]
    assert found.rank == 1 + sum(one.step < own.step * (1 - 1e-9) for one in rivals)
    assert found.best.step == min(one.step for one in rivals)
    assert found.reason.verdict != "too large"


def test_a_plan_that_does_not_divide_has_no_rank():
    found = run_to_end(rank_plan(replace(RUN, plan=replace(PLAN, tensor_parallel=3))))
    assert (found.rank, found.best, found.reason.verdict) == (0, None, "impossible")
