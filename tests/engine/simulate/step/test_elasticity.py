"""A little more of one part of the machine: bounds, and a case where one part is all."""

import pytest

from engine.calculator import load
from engine.form.what_if.inputs import Inputs, as_run
from engine.simulate.step.elasticity import PARTS, gain_of, gain_of_gpus

RUN, _ = as_run(Inputs())
TWICE, _ = as_run(Inputs(world_size=512))


@pytest.mark.parametrize("part", PARTS)
def test_no_part_gives_more_than_was_added(part):
    assert 0 <= gain_of(RUN, PARTS[part], 0.1) <= 0.1


def test_all_parts_together_give_nearly_what_was_added():
    # What is left is the host, which no part makes faster.
    together = sum(gain_of(RUN, change, 0.01) for change in PARTS.values())
    assert 0.008 < together <= 0.01


def test_more_gpus_make_a_step_faster_by_less_than_there_are_more():
    assert 0 < gain_of_gpus(RUN, TWICE, 0.1) < 0.1


def test_a_part_that_the_job_does_not_use_gives_nothing():
    alone, _ = as_run(Inputs(world_size=8, pipeline_parallel=1))
    assert gain_of(alone, PARTS["network"], 1.0) == 0


def test_no_part_is_ranked_for_a_job_that_does_not_fit():
    calculator = load("elasticities")
    crowded = calculator.inputs(world_size=8, pipeline_parallel=1)
    assert calculator.compute(crowded)["verdict"].text == "Does not fit"
    assert {calculator.compute(crowded)[part].value for part in PARTS} == {0.0}
