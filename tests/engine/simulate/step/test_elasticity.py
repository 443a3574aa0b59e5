"""A little more of one part of the machine: bounds, and a case where one part is all."""

import pytest

from engine.calculator import load
from engine.form.what_if.inputs import Inputs, run_and_changes
from engine.simulate.step.elasticity import MACHINE_CHANGES, gpu_count_gain, step_gain

RUN, _ = run_and_changes(Inputs())
TWICE, _ = run_and_changes(Inputs(world_size=512))


@pytest.mark.parametrize("part", MACHINE_CHANGES)
def test_no_part_gives_more_than_was_added(part):
    assert 0 <= step_gain(RUN, MACHINE_CHANGES[part], 0.1) <= 0.1


def test_all_parts_together_give_nearly_what_was_added():
    # What is left is the host, which no part makes faster.
    together = sum(step_gain(RUN, change, 0.01) for change in MACHINE_CHANGES.values())
    assert 0.008 < together <= 0.01


def test_more_gpus_make_a_step_faster_by_less_than_there_are_more():
    assert 0 < gpu_count_gain(RUN, TWICE, 0.1) < 0.1


def test_a_part_that_the_job_does_not_use_gives_nothing():
    alone, _ = run_and_changes(Inputs(world_size=8, pipeline_parallel=1))
    assert step_gain(alone, MACHINE_CHANGES["network"], 1.0) == 0


def test_no_part_is_ranked_for_a_job_that_does_not_fit():
    calculator = load("elasticities")
    crowded = calculator.inputs(world_size=8, pipeline_parallel=1)
    assert calculator.compute(crowded)["verdict"].text == "Does not fit"
    assert {calculator.compute(crowded)[part].value for part in MACHINE_CHANGES} == {0.0}
