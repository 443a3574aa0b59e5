"""The planner on the jobs of published runs: its best is at least as fast as what was published."""

from dataclasses import replace

import pytest

from engine.catalog.planned_runs import plan_ranks
from engine.run.plan_difference import apply_plan_difference
from engine.run.problems import problems
from engine.simulate.planner.evaluate import run_candidate
from engine.simulate.planner.ranked import job_of_run, with_layer_cut, with_room_for
from engine.simulate.planner.search import ordered_shapes, shape_plans_within, shapes_within
from tests.validation.published import DATA
from tests.validation.ranks import row_of
from tests.validation.rows import cases

RUNS, LEFT_OUT = cases(DATA)
# Runs that are ranked again: so many of those whose own plan is soon found among few faster ones.
AGAIN = 12


def test_every_published_run_is_a_plan_that_software_runs():
    assert not LEFT_OUT
    for case in RUNS:
        run = with_layer_cut(case.run)
        assert not problems(run.model, run.cluster, run.plan, run.training)


def test_the_best_is_at_least_as_fast_as_every_published_plan():
    """Of the plans with the published axes alone one is: so is the best of all."""
    slower = []
    for case in RUNS:
        run = with_layer_cut(case.run)
        job = replace(
            with_room_for(job_of_run(run), run),
            tensor_parallel=(run.plan.tensor_parallel,),
            pipeline_parallel=(run.plan.pipeline_parallel,),
            context_parallel=(run.plan.context_parallel,),
            expert_parallel=(run.plan.expert_parallel,),
        )
        limit = run_candidate(run).step * (1 + 1e-9)
        shapes = shapes_within(limit, ordered_shapes(job))
        if not any(True for shape in shapes for _ in shape_plans_within(job, limit, shape)):
            slower.append(case.row["row_id"])
    assert not slower


def test_every_published_run_has_a_rank_and_its_best_plan_is_as_much_faster_as_the_table_says():
    table = plan_ranks()
    assert table.keys() == {case.row["row_id"] for case in RUNS}
    for case in RUNS:
        run, found = with_layer_cut(case.run), table[case.row["row_id"]]
        best, own = run_candidate(apply_plan_difference(run, found.best)), run_candidate(run)
        assert found.rank >= 1
        assert found.slower == pytest.approx(own.step / best.step, rel=1e-5)
        assert (found.rank == 1) <= (best.step >= own.step * (1 - 1e-9))
        room = with_room_for(job_of_run(run), run).kept_free
        assert run_candidate(apply_plan_difference(run, found.best), room).leaves_room


def test_some_runs_are_ranked_again():
    table = plan_ranks()
    small = sorted(
        RUNS, key=lambda case: (case.run.plan.world_size, table[case.row["row_id"]].slower)
    )
    for case in small[:: len(small) // AGAIN // 3][:AGAIN]:
        found = table[case.row["row_id"]]
        assert row_of(case.run) == f"{found.rank}\t{found.slower:.6g}\t{found.best}"
