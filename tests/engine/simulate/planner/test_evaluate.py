"""A plan among many has the numbers of the plan by itself, to the last bit."""

import pytest

from engine.simulate.memory.allocator import memory_fit
from engine.simulate.memory.memory import rank_memory
from engine.simulate.planner.evaluate import (
    candidate_run,
    candidates,
    fitting_candidates,
    priced_shapes,
    run_candidate,
)
from engine.simulate.step.step_time import step_time
from tests.engine.run.planner_jobs import JOBS


def every(job):
    return [one for shape in priced_shapes(job) for one in candidates(job, shape)]


@pytest.mark.parametrize("name", JOBS)
def test_plans_share_costs_and_keep_their_numbers(name):
    job = JOBS[name]
    found = every(job)
    for one in found[:: max(1, len(found) // 400)]:
        assert one.time == step_time(job.model, job.cluster, one.plan, one.training)
        assert one.memory == rank_memory(job.model, one.plan, one.training)
        assert one.fit == memory_fit(one.memory, job.cluster.gpu.memory, job.kept_free)


@pytest.mark.parametrize("name", JOBS)
def test_no_step_is_shorter_than_the_bound_of_its_shape(name):
    job = JOBS[name]
    for shape in priced_shapes(job):
        for one in candidates(job, shape):
            assert one.step >= shape.bound > 0


def test_what_fits_is_found_without_timing_the_rest():
    job = JOBS["7b"]
    found = [one for shape in priced_shapes(job) for one in fitting_candidates(job, shape)]
    expected = [one for one in every(job) if one.leaves_room]
    assert 0 < len(expected) < len(every(job))
    assert found == expected


def test_a_run_by_itself_is_a_candidate():
    job = JOBS["7b"]
    one = every(job)[100]
    assert run_candidate(candidate_run(job, one.plan, one.training), job.kept_free) == one


def test_axes_count_what_splits_beside_replicas():
    found = every(JOBS["experts"])
    assert {one.axes for one in found} == {0, 1, 2, 3, 4}
