"""The parallelism modeler against published digits, hand-worked bytes and its own limits."""

import random
from dataclasses import replace

import pytest

from engine.calculator import load, make
from engine.calculators.splitting_the_model import axis_bytes
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    SCHEDULES,
    Inputs,
    possible_plan,
)
from engine.catalog.models import MODELS
from engine.catalog.reported_runs import REPORTED
from engine.core.numbers import format_value
from engine.core.text import render_text
from engine.core.units import BYTES, MILLI, Gbit
from engine.estimate import estimate
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.formulas.axes import stage_message, tensor_layer_bytes
from engine.formulas.volumes import tensor_passes
from engine.run.parallelism import layers_of_stage
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.step_time import step_time
from tests.each import each

MODELER, LEDGER = load("parallelism_modeler"), load("axis_bytes")
INPUTS = Inputs()
PUBLISHED = replace(INPUTS, tensor_parallel=1, data_parallel=1)
TINY = axis_bytes.Inputs()
LLAMA = replace(TINY, **axis_bytes.PRESETS["A layer of Llama 3 70B"])


def modeled(inputs):
    return possible_plan(inputs)[0]


def views(**changes):
    return MODELER.compute(replace(INPUTS, **changes))


def text(found, output):
    return format_value(found[output].value, found[output].quantity)


def layers(**changes):
    return [stage.layers for stage in modeled(replace(INPUTS, **changes)).stages]


def some_inputs(count=60):
    """Seeded combinations of plans."""
    chance = random.Random("parallelism modeler")
    for _ in range(count):
        yield replace(
            INPUTS,
            model=chance.choice(list(MODELS)),
            tensor_parallel=chance.choice([1, 2, 8]),
            pipeline_parallel=chance.choice([1, 2, 3, 4, 8]),
            context_parallel=chance.choice([1, 2, 4]),
            expert_parallel=chance.choice([1, 8]),
            data_parallel=chance.choice([1, 4, 16]),
            num_microbatches=chance.choice([1, 8, 32]),
            schedule=chance.choice(list(SCHEDULES)),
            zero_stage=chance.choice("0123"),
            framework=chance.choice(["megatron", "fsdp", "deepspeed"]),
        )


@each(
    ("key", "digits"),
    [
        ("operations", "32"),
        ("transfer", "1.0000 GB"),
        ("bubble", "27.3 %"),
        ("compute", "81.92 ms"),
        ("bandwidth", "97.66 Gb/s"),
        ("activation", "512.0 MB"),
        ("efficiency", "72.7 %"),
        ("stage", "20 layers, 64.00 MB"),
    ],
)
def test_the_published_digits_come_out_of_the_published_arithmetic(key, digits):
    assert MODELER.solve(PUBLISHED).printed[key] == digits


@each(
    ("output", "right"),
    [
        ("operations", "64"),
        ("transfer", "1.07 GB"),
        ("transfer_total", "3.22 GB"),
        ("bubble", "27.3 %"),
        ("computation", "6.80 s"),
        ("needed_pipeline", "1.262 Gb/s"),
        ("utilization_after", "72.7 %"),
        ("boundary", "67.1 MB"),
    ],
)
def test_the_right_digits_for_the_same_inputs(output, right):
    assert text(MODELER.compute(PUBLISHED), output) == right


def test_over_the_ideal_time_the_same_bubble_is_larger():
    assert text(views(convention="ideal"), "bubble") == "37.5 %"


def test_a_gpu_needs_the_same_port_for_its_share_of_a_boundary():
    assert views(tensor_parallel=2)["needed_pipeline"].value == pytest.approx(
        views(tensor_parallel=8)["needed_pipeline"].value
    )


def test_tensor_parallelism_of_eight_moves_470_megabytes_per_layer():
    assert format_value(tensor_layer_bytes(4096, 8192, 8, 8), BYTES) == "470 MB"


def test_a_stage_boundary_carries_67_megabytes_each_way():
    assert format_value(stage_message(4096, 8192), BYTES) == "67.1 MB"


@each(
    ("output", "hand"),
    [
        # 4 all-reduces of 4 x 8 elements of 2 bytes, each 2 x 1/2 of it.
        ("tensor", 256.0),
        ("pipeline", 64.0),
        # 872 gradients scattered and as many parameters gathered, half of each stays.
        ("data", 1744.0),
        # Keys and values of 2 tokens, 4 elements each, passed on three times.
        ("context", 96.0),
    ],
)
def test_the_tiny_layer_by_hand(output, hand):
    assert LEDGER.compute(TINY)[output].value == hand


def test_the_axes_of_the_lab_send_what_the_ledger_of_a_layer_says():
    tensor = next(axis for axis in modeled(INPUTS).axes if axis.key == "tensor")
    layer = LEDGER.compute(LLAMA)["tensor"].value
    gathered_again = tensor_passes(sequence_parallel=True) / tensor_passes()
    assert tensor.sent == pytest.approx(layer * gathered_again * 20 * 8)


@each(
    ("moved", "expected"),
    [
        ({}, [20, 20, 20, 20]),
        ({"off_last": 2}, [20, 21, 21, 18]),
        ({"off_first": 1, "off_last": 2}, [19, 22, 21, 18]),
        ({"off_last": -3}, [20, 19, 18, 23]),
        ({"off_first": 20, "off_last": 20}, [0, 40, 40, 0]),
        ({"off_first": 5, "pipeline_parallel": 2}, [35, 45]),
        ({"off_first": 5, "pipeline_parallel": 1}, [80]),
    ],
)
def test_layers_that_are_moved_go_to_the_stages_between(moved, expected):
    assert layers(**moved) == expected


@each("moved", [{"off_first": a, "off_last": b} for a in (-20, 20) for b in (-20, 20)])
@each("stages", [2, 3, 7, 40, 64])
def test_no_layer_is_lost_however_they_are_moved(moved, stages):
    found = layers(pipeline_parallel=stages, **moved)
    assert sum(found) == 80
    assert min(found) >= 0


def test_a_pipeline_cut_by_hand_as_it_is_cut_anyway_is_the_same():
    run = modeled(INPUTS).run
    plan = replace(run.plan, stage_layers=(20, 20, 20, 20))
    assert rank_memory(run.model, plan, run.training) == rank_memory(
        run.model, run.plan, run.training
    )
    cluster = run.cluster
    assert step_time(run.model, cluster, plan, run.training) == step_time(
        run.model, cluster, run.plan, run.training
    )


def test_stages_cut_by_hand_hold_consecutive_layers():
    plan = replace(modeled(INPUTS).run.plan, stage_layers=(19, 22, 21, 18))
    held = [layers_of_stage(MODELS["llama-3-70b"], plan, stage)[0] for stage in range(4)]
    assert held == [range(19), range(19, 41), range(41, 62), range(62, 80)]


def test_taking_layers_from_the_slow_last_stage_makes_the_step_shorter():
    slow = {"tensor_parallel": 1, "data_parallel": 1}
    assert views(off_last=1, **slow)["step"].value < views(**slow)["step"].value


def test_a_number_of_layers_that_does_not_divide_is_said_in_words():
    sentence = render_text(views(pipeline_parallel=3)["possible"].sentence)
    assert sentence == "80 layers do not divide by 3 stages; they hold 26, 28, 26."


def test_a_degree_that_does_not_divide_is_lowered_and_named():
    assert views(tensor_parallel=5)["possible"].text == "Changed"


@each("inputs", list(some_inputs()))
def test_the_exposed_parts_are_those_of_the_step(inputs):
    found = modeled(inputs)
    step = found.step
    parts = step.tensor_parallel + step.context_parallel + step.expert_parallel
    assert found.exposed == pytest.approx(parts + step.pipeline + step.data_parallel)


@each("inputs", list(some_inputs(30)))
def test_the_fullest_stage_is_that_of_the_memory_model(inputs):
    found = modeled(inputs)
    run = found.run
    whole = rank_memory(run.model, run.plan, run.training)
    assert found.stages[found.fullest].memory.total == pytest.approx(whole.total)


def test_more_micro_batches_of_the_same_batch_move_no_more_bytes():
    rows = views()["same_batch"].rows
    assert len({render_text(row[1]) for row in rows}) == 1
    assert [render_text(row[2]) for row in rows] == ["2", "4", "8", "16"]


def test_tensor_parallelism_across_nodes_is_far_below_ten_times_the_computation():
    across = {"tensor_parallel": 16, "data_parallel": 2}
    inside, rails, one = (
        views(**changes)["tensor_alone"].value
        for changes in ({}, across, across | {"nics_per_node": 1})
    )
    assert inside < rails < one < 7


def test_one_gpu_sends_nothing():
    found = views(tensor_parallel=1, pipeline_parallel=1, data_parallel=1)
    assert found["axes"].rows == ()
    assert found["ratio"].value == 0


def test_crossing_the_target_flips_the_badge():
    now = views()["ratio"].value
    goals = [views(target=now + shift)["goal"].text for shift in (-0.001, 0.001)]
    assert goals == ["Missed", "Met"]


def test_a_plan_that_does_not_fit_is_bound_by_capacity():
    assert MODELER.compute(PUBLISHED)["regime"].text == "Capacity"


def test_a_faster_port_shortens_only_what_uses_it():
    slow, fast = (modeled(replace(INPUTS, nic_bandwidth=k * 400 * Gbit)).step for k in (1, 2))
    assert fast.tensor_parallel == slow.tensor_parallel
    assert slow.data_parallel - fast.data_parallel > 10 * MILLI


def test_the_memory_of_a_stage_is_lit_with_its_box():
    found = views()
    boxes = [s.attributes.get("data-links") for s in found["strip"].frames[0].shapes]
    bars = [bar.links for bar in found["stage_memory"].bars]
    assert bars == [(link,) for link in boxes if link]


def preset(name, **changes):
    return make(MODELER, {**MODELER.presets[name], **changes})


LLAMA_RUN, DEEPSEEK_RUN = "Llama 3 405B on 16,384 H100", "DeepSeek-V3 on 2,048 H800"


def test_the_plan_of_llama_3_fits_with_the_stage_of_zero_that_meta_used():
    assert MODELER.solve(preset(LLAMA_RUN)).plan.fit.runs
    assert not MODELER.solve(preset(LLAMA_RUN, zero_stage="1")).plan.fit.runs


def test_the_mfu_of_llama_3_stands_beside_the_published_one():
    mfu = MODELER.compute(preset(LLAMA_RUN))["mfu"]
    assert render_text(mfu.note) == "predicted; published: 41.0 %"
    assert "dubey2024" in mfu.receipt.sources
    assert 0.41 < mfu.value < 0.41 * 1.15


def test_the_tokens_of_deepseek_v3_stand_beside_the_published_ones():
    rate = MODELER.compute(preset(DEEPSEEK_RUN))["token_rate"]
    assert render_text(rate.note) == "predicted; published: 1,543 tokens/s"
    assert "deepseek2024" in rate.receipt.sources


def test_the_plan_of_deepseek_v3_fits_with_the_modules_that_it_repeated():
    assert MODELER.solve(preset(DEEPSEEK_RUN)).plan.fit.runs
    assert not MODELER.solve(preset(DEEPSEEK_RUN, recompute="none")).plan.fit.runs


@each("name", [LLAMA_RUN, DEEPSEEK_RUN])
def test_a_published_plan_is_the_one_that_the_estimate_reproduces(name):
    run, _ = nearest_run(RunInputs(**REPORTED[name].settings))
    plan = MODELER.solve(preset(name)).plan
    found = estimate(run)
    assert plan.step.total == pytest.approx(found["step_time"])
    assert plan.stages[plan.fullest].memory.total == pytest.approx(found["memory_process"])


def test_another_plan_has_no_published_figure():
    changed = MODELER.compute(preset(LLAMA_RUN, micro_batch_size=2))
    assert render_text(changed["mfu"].note) == "a prediction"
    assert MODELER.solve(preset(LLAMA_RUN, target=0.2)).report


def test_what_is_bound_by_capacity_is_said_with_what_may_be_filled():
    sentence = render_text(MODELER.compute(PUBLISHED)["regime"].sentence)
    assert "80.7 GB may be filled" in sentence
