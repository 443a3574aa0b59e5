"""The planner on the jobs of published runs: its best is at least as fast as what was published."""

from dataclasses import replace

from engine.run.problems import problems
from engine.simulate.planner.evaluate import one_candidate
from engine.simulate.planner.ranked import as_cut, job_of_run
from engine.simulate.planner.search import in_order, within
from tests.validation.published import DATA
from tests.validation.rows import cases

RUNS = cases(DATA)[0]


def fitting_runs():
    """Every published plan that software runs as it is told and that fits by the engine."""
    for case in RUNS:
        run = as_cut(case.run)
        one = one_candidate(run)
        if one.fits and not problems(run.model, run.cluster, run.plan, run.training):
            yield case.row["row_id"], run, one


FITTING = list(fitting_runs())


def test_most_published_plans_fit_and_are_compared():
    assert len(FITTING) > 0.75 * len(RUNS)


def test_the_best_is_at_least_as_fast_as_every_published_plan():
    """Of the plans with the published axes alone one is: so is the best of all."""
    slower = []
    for name, run, one in FITTING:
        job = replace(
            job_of_run(run),
            tensor_parallel=(run.plan.tensor_parallel,),
            pipeline_parallel=(run.plan.pipeline_parallel,),
            context_parallel=(run.plan.context_parallel,),
            expert_parallel=(run.plan.expert_parallel,),
        )
        limit = one.step * (1 + 1e-9)
        if not any(True for _ in within(job, limit, in_order(job))):
            slower.append(name)
    assert not slower
