"""Several settings changed together: found where they are faster than any single change."""

from dataclasses import replace

import pytest

from engine.core.slices import run_to_end
from engine.form.imported.run_text import parse_job_text
from engine.form.imported.samples import SAMPLES
from engine.simulate.planner.plan_upgrades import WORTH, find_plan_upgrade
from engine.simulate.step.single_changes import best_changes
from engine.simulate.step.what_if import run_fit, run_step_time
from tests.each import each


def run_of(name):
    return parse_job_text(SAMPLES[name].text).run


def single_of(run):
    steps = [one.step for one in best_changes(run) if one.setting != "precision"]
    return min(steps, default=float("inf"))


FASTER = ("megatron", "log", "torchtitan-python")


@each("name", FASTER)
def test_a_plan_is_faster_than_every_single_change_and_fits(name):
    run = run_of(name)
    found = run_to_end(find_plan_upgrade(run, single_of(run)))
    assert found.step < WORTH * min(single_of(run), run_step_time(run).total)
    assert run_fit(found.run).runs
    assert run_step_time(found.run).total == pytest.approx(found.step)
    assert len(found.changed) > 1


@each("name", FASTER)
def test_the_job_stays_the_job(name):
    run = run_of(name)
    other = run_to_end(find_plan_upgrade(run, single_of(run))).run
    assert (other.model, other.cluster) == (run.model, run.cluster)
    assert other.plan.world_size == run.plan.world_size
    same = ("global_batch_size", "sequence_length", "precision", "framework", "compiled")
    for key in same:
        assert getattr(other.training, key) == getattr(run.training, key), key


def test_a_plan_that_is_as_good_as_any_nearby_is_left_alone():
    run = run_of("bridge")
    assert run_to_end(find_plan_upgrade(run, single_of(run))) is None


def test_what_does_not_fit_gets_a_plan_that_does():
    run = run_of("bridge")
    large = replace(run, plan=replace(run.plan, tensor_parallel=2, context_parallel=1))
    large = replace(large, training=replace(large.training, micro_batch_size=2))
    assert not run_fit(large).runs
    assert run_fit(run_to_end(find_plan_upgrade(large, float("inf"))).run).runs
