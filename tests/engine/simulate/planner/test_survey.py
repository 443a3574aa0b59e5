"""All plans of a job, counted and timed in parts: together they are those of the search."""

import pytest

from engine.run.plan_space import plans
from engine.simulate.planner.evaluate import candidate_run, candidates, run_candidate
from engine.simulate.planner.search import fastest_plans, ordered_shapes
from engine.simulate.planner.survey import merge_surveys, survey
from tests.each import each
from tests.engine.run.planner_jobs import JOBS


@each("name", sorted(JOBS))
def test_it_counts_every_plan_and_finds_what_the_search_finds(name):
    job = JOBS[name]
    found = survey(job, 7)
    assert found.plans == sum(1 for _ in plans(job))
    assert [one.step for one in found.best] == [one.step for one in fastest_plans(job, 7).best]
    every = [one for shape in ordered_shapes(job) for one in candidates(job, shape)]
    assert found.fit == sum(plan.leaves_room for plan in every)
    assert found.shortest == min(one.step for one in every) <= found.best[0].step
    assert found.least == min(one.memory.total for one in every)


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_parts_together_are_the_whole(parts):
    job = JOBS["7b"]
    whole = survey(job, 5)
    pieces = [survey(job, 5, part, parts) for part in range(parts)]
    assert merge_surveys(pieces, 5) == whole
    assert all(piece.plans < whole.plans for piece in pieces) == (parts > 1)


def test_a_part_without_a_plan_changes_nothing():
    job = JOBS["7b"]
    many = sum(1 for _ in ordered_shapes(job))
    empty = survey(job, 5, part=many, parts=many + 1)
    assert (empty.plans, empty.shortest, empty.least) == (0, 0.0, 0.0)
    assert merge_surveys([survey(job, 5), empty], 5) == survey(job, 5)


def test_a_plan_among_many_is_that_plan_alone():
    job = JOBS["7b"]
    for one in survey(job, 20).best:
        alone = run_candidate(candidate_run(job, one.plan, one.training))
        assert one.step == pytest.approx(alone.step, rel=1e-9)
        assert one.memory.total == pytest.approx(alone.memory.total, rel=1e-9)
