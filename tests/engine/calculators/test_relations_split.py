"""One plan, one answer: the modeler, the map, the estimate and the closed forms say the same."""

from dataclasses import replace

import pytest

from engine.calculator import load, make
from engine.catalog.accelerators import ACCELERATORS
from engine.core.text import render_text
from engine.estimate import estimate
from engine.form.run.verdicts import possible_badge
from engine.formulas.axes import tensor_layer_bytes
from engine.formulas.operations import local_tokens
from engine.formulas.pipeline import bubble_over_ideal, bubble_share
from engine.formulas.volumes import tensor_passes
from engine.run.parallelism import num_microbatches
from engine.run.stage_cut import uneven_pieces
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.step.axis_bytes import axis_bytes_sent
from engine.simulate.step.modeled_plan import model_plan
from tests.each import each

MODELER, MAP, LAB = load("parallelism_modeler"), load("parallel_map"), load("schedule_lab")
CONVENTIONS, TIERS = load("bubble_conventions"), load("memory_tiers")
PLANS = {name: make(MODELER, values) for name, values in {"": {}, **MODELER.presets}.items()}
MAPS = {name: make(MAP, values) for name, values in {"": {}, **MAP.presets}.items()}
plans = each("inputs", PLANS.values(), ids=PLANS)
maps = each("inputs", MAPS.values(), ids=MAPS)


def modeled(inputs, **changes):
    return MODELER.solve(replace(inputs, **changes)).plan


@plans
def test_the_modeler_says_what_the_estimate_says(inputs):
    plan = modeled(inputs)
    found = estimate(plan.run)
    assert plan.step.total == pytest.approx(found["step_time"])
    assert plan.stages[plan.fullest].memory.total == pytest.approx(found["memory_process"])
    assert plan.token_rate == pytest.approx(found["tokens_per_second_per_gpu"])
    assert plan.mfu == pytest.approx(found["mfu"])
    assert plan.fit.runs == found["fits"]


@maps
def test_the_map_says_what_the_estimate_says_of_the_usual_order(inputs):
    plan = MAP.solve(replace(inputs, order="tp-cp-dp-pp")).plan
    assert plan.step.total == pytest.approx(estimate(plan.run)["step_time"], rel=1e-3)


@maps
def test_the_map_and_the_modeler_move_the_same_bytes(inputs):
    plan = MAP.solve(inputs).plan
    loads = {axis.key: axis.sent for axis in model_plan(plan.run, 0.5).axes}
    sent = {axis: one.sent for axis, one in plan.traffic.items()}
    assert loads == pytest.approx(sent)


@plans
def test_the_modeler_moves_what_the_closed_forms_say(inputs):
    run = modeled(inputs).run
    model, plan, training = run.model, run.plan, run.training
    passes = tensor_passes(sequence_parallel=plan.sequence_parallel)
    tokens = local_tokens(plan, training)
    layer = tensor_layer_bytes(tokens, model.hidden_size, plan.tensor_parallel, passes)
    layers = model.num_layers / plan.pipeline_parallel * num_microbatches(plan, training)
    assert axis_bytes_sent(model, plan, training)["tensor"] == pytest.approx(layers * layer)


@plans
def test_every_page_has_one_capacity(inputs):
    result = MODELER.solve(inputs)
    gpu = ACCELERATORS[inputs.gpu]
    assert result.usable == usable_bytes(gpu.memory)
    assert TIERS.solve(make(TIERS, {})).placed.tiers["hbm"].capacity == usable_bytes(
        ACCELERATORS["H100-SXM"].memory
    )


@plans
def test_every_page_has_one_check_of_divisibility(inputs):
    result = MODELER.solve(inputs)
    run = result.plan.run
    uneven = bool(uneven_pieces(run.model, run.plan, run.training.schedule))
    here = MODELER.compute(inputs, ["possible"])["possible"]
    there = possible_badge(run, result.plan.doubts, result.changes)
    assert (here.text == "Uneven") == (there.text == "Uneven") == uneven


@maps
def test_the_map_names_uneven_stages_where_the_estimate_does(inputs):
    run = MAP.solve(inputs).plan.run
    sentence = render_text(MAP.compute(inputs, ["legal"])["legal"].sentence)
    assert ("do not divide into" in sentence) == bool(uneven_pieces(run.model, run.plan))


@each(("p", "m"), [(4, 8), (8, 20), (16, 64)])
def test_three_pages_have_one_bubble(p, m):
    both = {"pipeline_parallel": p, "num_microbatches": m}
    played = LAB.solve(make(LAB, {**both, "schedule": "one_f_one_b"}))
    told = CONVENTIONS.solve(make(CONVENTIONS, both))
    planned = MODELER.solve(make(MODELER, {**both, "schedule": "1f1b"}))
    for one in (played.bubble_share, told.share, planned.bubble_share):
        assert one == pytest.approx(bubble_share(p, m))
    for one in (played.bubble_over_ideal, told.over_ideal, planned.bubble_over_ideal):
        assert one == pytest.approx(bubble_over_ideal(p, m))


@plans
def test_the_parts_of_a_step_and_of_a_gpu_add_up(inputs):
    views = MODELER.compute(inputs, ["step", "peak_memory"])
    for view in views.values():
        left, *parts = (value for value, _ in view.receipt.symbols.values())
        assert left == pytest.approx(view.value)
        assert sum(parts) == pytest.approx(left)


# What can only help: the change, and what of the plan it must not make larger.
HELPS = [
    ({"nic_bandwidth": 200e9}, lambda plan: plan.step.total),
    ({"overlap": True}, lambda plan: plan.exposed),
    ({"recompute": "full"}, lambda plan: plan.stages[0].memory.activations),
    ({"zero_stage": "3"}, lambda plan: plan.stages[0].memory.optimizer),
]


@each(("change", "measure"), HELPS, ids=[str(change) for change, _ in HELPS])
@plans
def test_a_change_that_helps_never_makes_it_worse(inputs, change, measure):
    before, after = modeled(inputs), modeled(inputs, **change)
    assert measure(after) <= measure(before) * (1 + 1e-9)


@plans
def test_a_higher_stage_of_zero_never_holds_more_states(inputs):
    held = []
    for stage in "0123":
        memory = modeled(inputs, zero_stage=stage).stages[0].memory
        held.append(memory.parameters + memory.gradients + memory.optimizer)
    assert held == sorted(held, reverse=True)


@plans
def test_more_micro_batches_never_enlarge_the_bubble(inputs):
    shares = [
        MODELER.solve(replace(inputs, num_microbatches=count)).bubble_share
        for count in (1, 2, 4, 8, 16, 32, 64, 128, 256)
    ]
    assert shares == sorted(shares, reverse=True)


CROWDED = [{"tensor_parallel": 1}, {"micro_batch_size": 16}, {"pipeline_parallel": 1}]


@plans
@pytest.mark.parametrize("changes", [{}, *CROWDED])
def test_a_remedy_of_the_modeler_fits(inputs, changes):
    crowded = replace(inputs, **changes)
    remedies = MODELER.compute(crowded, only=["advice"])["advice"].remedies
    assert all(modeled(replace(crowded, **one.change)).fit.runs for one in remedies)


@maps
def test_the_map_of_a_plan_that_does_not_fit_offers_no_order(inputs):
    crowded = replace(inputs, micro_batch_size=64, sequence_length=1 << 20)
    advice = MAP.compute(crowded, only=["swaps"])["swaps"]
    assert (advice.remedies, "does not fit" in render_text(advice.verdict)) == ((), True)
