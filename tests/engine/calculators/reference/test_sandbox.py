from dataclasses import fields

import pytest

from engine import calculator as calculators
from engine.answer import reply
from engine.calculators.reference.sandbox import (
    JOB_INPUTS,
    PLAN,
    PRESETS,
    SECOND_PREFIX,
    Inputs,
    inputs_of,
    solve,
)
from engine.form.run.inputs import Inputs as RunInputs
from tests.each import each


def outputs(**values):
    given = {name: str(value) for name, value in values.items()}
    return reply({"calculator": "sandbox", "values": given})["outputs"]


def same(**values):
    """Both plans alike, but for what is given."""
    first = {name: getattr(Inputs(), name) for name in PLAN}
    return {SECOND_PREFIX + name: value for name, value in first.items()} | values


def test_every_input_of_a_run_is_there_and_twice_unless_it_is_the_jobs():
    names = {one.name for one in fields(RunInputs)}
    assert set(JOB_INPUTS) | set(PLAN) < names <= {one.name for one in fields(Inputs)}
    assert {SECOND_PREFIX + name for name in PLAN} <= {one.name for one in fields(Inputs)}
    assert {"tensor_parallel", "gpu", "world_size", "recompute", "framework"} <= set(PLAN)


def test_each_plan_gets_its_own_inputs():
    given = Inputs(tensor_parallel=2, b_tensor_parallel=16, b_nics_per_node=4)
    first, second = inputs_of(given, "A"), inputs_of(given, "B")
    assert (first.tensor_parallel, second.tensor_parallel) == (2, 16)
    assert (first.nics_per_node, second.nics_per_node) == (8, 4)
    assert first.model == second.model


def test_a_plan_is_estimated_as_it_is_alone():
    alone = reply({"calculator": "estimate_run"})["outputs"]
    beside = outputs()
    for here, there in (("first_step", "step_time"), ("first_held", "peak_memory")):
        assert beside[here]["value"] == pytest.approx(alone[there]["value"], rel=1e-12)
    assert beside["first_rate"]["value"] == alone["token_rate"]["value"]
    assert beside["first_mfu"]["value"] == alone["mfu"]["value"]


def test_equal_plans_tie_and_nothing_lies_between_them():
    found = outputs(**same())
    assert found["ratio"]["value"] == 1
    assert found["verdict"]["text"] == "A tie"
    assert solve(Inputs(**same())).stations == ()


def test_the_parts_of_the_difference_add_up_to_it():
    found = solve(Inputs())
    assert sum(found.parts.values()) == pytest.approx(found.second_step - found.first_step)


@each("title", sorted(PRESETS))
def test_the_way_of_a_preset_ends_at_plan_b_and_both_plans_fit(title):
    found = solve(Inputs(**PRESETS[title]))
    assert found.stations[-1].plan.step == pytest.approx(found.second_step, rel=1e-12)
    assert found.stations[-1].plan.memory.total == found.second_held
    assert found.first.plan.fit.runs
    assert found.second.plan.fit.runs
    assert (found.first.changes, found.second.changes) == ((), ())


def test_the_slower_plan_is_named_with_what_makes_it_slower():
    said = outputs(**same(b_recompute="full"))["verdict"]
    assert said["text"] == "A is faster"
    assert "computation" in said["sentence"]
    assert "more" in said["sentence"]


def test_a_plan_that_does_not_fit_is_called_neither_faster_nor_slower():
    alone = {"tensor_parallel": 1, "pipeline_parallel": 1, "virtual_pipeline": 1}
    said = outputs(**same(**{SECOND_PREFIX + name: size for name, size in alone.items()}))[
        "verdict"
    ]
    assert said["text"] == "B too large"


def test_what_makes_no_plan_by_itself_goes_with_the_next_change():
    # 16 x 4 x 2 GPUs are more than 64: the tensor parallelism waits for the shorter pipeline.
    given = same(b_tensor_parallel=16, b_pipeline_parallel=2, b_virtual_pipeline=10)
    assert solve(Inputs(**given)).stations[0].changed == ("tensor_parallel", "pipeline_parallel")


def test_a_size_that_does_not_divide_is_said_of_its_plan():
    found = outputs(**same(b_tensor_parallel=3))
    assert found["first_possible"]["text"] == "A: Possible"
    assert found["second_possible"]["text"] == "B: Changed"


@each("framework", ["megatron", "fsdp", "deepspeed"])
def test_both_plans_can_be_taken_along(framework):
    given = {"b_framework": framework, "b_pipeline_parallel": 1, "b_virtual_pipeline": 1}
    found = outputs(**same(**given))
    assert "--tensor-model-parallel-size 4" in found["first_export"]["text"]
    key = {"megatron": "--tensor", "fsdp": "tensor_parallel_degree", "deepspeed": "zero"}
    assert key[framework] in found["second_export"]["text"]


def test_the_declaration_is_read_like_any_other():
    declared = calculators.load("sandbox").fields
    assert declared["b_gpu"].label == "GPU, B"
    assert declared["tensor_parallel"].label == "Tensor parallel, A"
    assert declared["model"].label == "Model"
