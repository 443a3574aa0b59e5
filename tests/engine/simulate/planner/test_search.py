"""The search finds what trying everything finds."""

from dataclasses import replace
from functools import cache

import pytest

from engine.core.slices import run_to_end
from engine.simulate.planner.evaluate import candidates
from engine.simulate.planner.kinds import kind_of, plan_order
from engine.simulate.planner.search import (
    best_by_split,
    fastest_plans,
    ordered_shapes,
    pareto_plans,
    search_plans,
    shape_plans_within,
    shapes_within,
)
from tests.engine.run.planner_jobs import JOBS

SHAPES = {name: ordered_shapes(job) for name, job in JOBS.items()}


@cache
def all_that_fit(name, free=0.0):
    job = replace(JOBS[name], kept_free=free)
    found = [one for shape in SHAPES[name] for one in candidates(job, shape)]
    return sorted((one for one in found if one.leaves_room), key=plan_order)


def fastest_of_each_kind(plans):
    found = {}
    for plan in plans:
        found.setdefault(kind_of(plan), plan)
    return [plan.step for plan in found.values()]


@pytest.mark.parametrize("name", JOBS)
def test_the_fastest_of_each_kind_are_those_of_all(name):
    found = fastest_plans(JOBS[name], 12, SHAPES[name])
    expected = fastest_of_each_kind(all_that_fit(name))
    assert expected
    assert [one.step for one in found.best] == expected[:12]
    assert found.examined <= found.shapes == len(SHAPES[name])


@pytest.mark.parametrize("name", JOBS)
def test_a_search_never_falls_back(name):
    told = [one.share for one in search_plans(JOBS[name])]
    assert told == sorted(told)
    assert told[0] < 0.25 < told[-1] <= 1


def test_the_search_leaves_most_untimed():
    found = fastest_plans(JOBS["7b"], 3, SHAPES["7b"])
    assert found.timed < len(all_that_fit("7b")) / 4


def test_memory_kept_free_changes_what_is_found():
    job = replace(JOBS["7b"], kept_free=0.3)
    found = fastest_plans(job, 5)
    assert [one.step for one in found.best] == fastest_of_each_kind(all_that_fit("7b", 0.3))[:5]
    assert found.best[0].step > all_that_fit("7b")[0].step


@pytest.mark.parametrize("name", JOBS)
def test_the_best_of_each_split(name):
    expected = {}
    for one in all_that_fit(name):
        cell = (one.plan.tensor_parallel, one.plan.pipeline_parallel)
        expected.setdefault(cell, one.step)
    found = {
        cell: one.step for cell, one in run_to_end(best_by_split(JOBS[name], SHAPES[name])).items()
    }
    assert found == expected


@pytest.mark.parametrize("name", JOBS)
def test_the_frontier_of_step_and_memory(name):
    expected, least = [], float("inf")
    for one in sorted(all_that_fit(name), key=lambda one: (one.step, one.memory.total)):
        if one.memory.total < least:
            least = one.memory.total
            expected.append((one.step, least))
    found = run_to_end(pareto_plans(JOBS[name], SHAPES[name]))
    assert [(one.step, one.memory.total) for one in found] == expected


def test_all_within_a_limit():
    expected = all_that_fit("7b")
    limit = 1.3 * expected[0].step
    job, shapes = JOBS["7b"], shapes_within(limit, SHAPES["7b"])
    found = [plan for shape in shapes for plan in shape_plans_within(job, limit, shape)]
    assert len(found) == sum(one.step <= limit for one in expected) > 3


def test_a_job_too_large_has_no_plan():
    job = replace(JOBS["layers"], world_size=64)
    assert fastest_plans(job).best == ()
