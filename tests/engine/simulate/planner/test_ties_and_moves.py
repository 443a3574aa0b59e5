"""What ties with the best plan, why another is not taken, and what would help."""

import math
from dataclasses import replace

import pytest

from engine.catalog.gain_errors import GAIN_ERROR
from engine.core.slices import run_to_end
from engine.simulate.planner.evaluate import candidate_run, candidates
from engine.simulate.planner.kinds import kind_of
from engine.simulate.planner.moves import (
    best_by_gpus,
    find_job_changes,
    largest_overhead,
    nearby_job,
)
from engine.simulate.planner.search import fastest_plans, ordered_shapes
from engine.simulate.planner.ties import find_ties
from engine.simulate.planner.why import why_not
from tests.engine.run.planner_jobs import JOBS, job

JOB = job("llama-7b", 64, 4096, 1024, kept_free=0.05)
SHAPES = ordered_shapes(JOB)
BEST = fastest_plans(JOB, 1, SHAPES).best[0]


def changed(**plan):
    return candidate_run(JOB, replace(BEST.plan, **plan), BEST.training)


def test_a_7b_model_on_64_gpus_needs_neither_tensor_nor_pipeline_parallelism():
    assert BEST.axes == 0
    assert BEST.plan.zero_stage == 1


def test_ties_are_all_plans_within_the_error_of_published_pairs():
    small = JOBS["7b"]
    shapes = ordered_shapes(small)
    best = fastest_plans(small, 1, shapes).best[0]
    found = run_to_end(find_ties(small, best, shapes))
    every = [one for shape in shapes for one in candidates(small, shape) if one.leaves_room]
    tied = [one for one in every if one.step <= best.step * math.exp(GAIN_ERROR)]
    assert sum(kind.plans for kind in found.kinds) == len(tied) > 10
    assert {kind_of(kind.simplest) for kind in found.kinds} == {kind_of(one) for one in tied}
    assert found.simplest.axes == min(one.axes for one in tied)


def test_the_best_has_nothing_against_it():
    found = why_not(JOB, changed(), BEST)
    assert (found.verdict, found.slower) == ("best", 1.0)


def test_a_split_that_does_not_divide_is_impossible():
    found = why_not(JOB, changed(tensor_parallel=5), BEST)
    assert found.verdict == "impossible"
    assert "multiple of tensor_parallel" in found.problems[0]


def test_a_plan_that_does_not_fit_says_by_how_much_and_what_would_mend_it():
    run = changed(zero_stage=0)
    found = why_not(JOB, run, BEST)
    assert found.verdict == "too large"
    assert found.missing == pytest.approx(found.plan.memory.least - found.plan.device)
    assert found.largest == "optimizer"
    assert "zero_stage" in {one.setting for one in found.fixes}


def test_a_slower_plan_says_in_which_parts():
    found = why_not(JOB, changed(tensor_parallel=8, sequence_parallel=True), BEST)
    assert found.verdict == "slower"
    assert found.slower == found.plan.step / BEST.step > 1.2
    assert sum(found.parts.values()) == pytest.approx(found.plan.step - BEST.step)
    # An eighth of a layer takes less time than the host needs to launch it.
    assert sorted(found.parts, key=found.parts.get)[-2:] == ["tensor_parallel", "compute"]


def test_a_plan_within_the_error_of_pairs_ties():
    run = candidate_run(JOB, BEST.plan, replace(BEST.training, recompute="selective"))
    found = why_not(JOB, run, BEST)
    assert found.verdict == "tied"
    assert 1 < found.slower < math.exp(GAIN_ERROR)


def test_what_limits_the_best():
    found = largest_overhead(BEST)
    assert found.seconds == getattr(BEST.time, found.part)
    assert found.computing == BEST.time.compute / BEST.step > 0.9


def test_moves_are_searched_near_the_best_and_sorted():
    found = run_to_end(find_job_changes(JOB, BEST))
    gains = {one.key: one.gain for one in found}
    assert list(gains.values()) == sorted(gains.values(), reverse=True)
    assert gains["gpus"] == pytest.approx(2, rel=0.05)
    assert 1.2 < gains["fp8"] < 2
    assert {one.key: one.per_gpu for one in found}["gpus"] == pytest.approx(1, rel=0.05)


def test_near_keeps_the_plan_itself():
    job = nearby_job(JOB, BEST)
    assert fastest_plans(job, 1).best[0] == BEST
    assert job.tensor_parallel == (1, 2)


def test_more_gpus_train_faster_and_too_few_do_not_hold_it():
    found = run_to_end(best_by_gpus(job("llama-3-70b", 64, 8192, 64), (4, 64, 128)))
    assert set(found) == {64, 128}
    assert found[128].step < found[64].step
