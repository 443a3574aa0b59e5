"""The largest batch: closed form, search and memory model agree; published and hand-worked sums."""

import math
import random
from dataclasses import replace

import pytest

from engine.calculator import load, make
from engine.calculators.one_gpu.largest_batch.result import Inputs, fit
from engine.catalog.models import MODELS, Model
from engine.core.text import render_text
from engine.core.units import GB
from engine.formulas.activations import layer_memory
from engine.formulas.batch import batch_room, memory_of_batch, usable_memory
from engine.formulas.gpt import korthikanti_activations
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.allocator import memory_fit
from engine.simulate.step.batch_search import search_largest_batch
from engine.simulate.step.largest_batch import (
    SEQUENCES,
    batch_memory,
    batch_token_rate,
    training_with_batch,
)
from tests.engine.calculators.asked import text

layer_ledger, state_ladder = load("layer_ledger"), load("state_ladder")
largest_batch = load("largest_batch")

INPUTS = Inputs()
LEDGER = layer_ledger.inputs()
LADDER = state_ladder.inputs()
LIMIT = 4096


def some_inputs(count=120):
    """Seeded combinations of plans, lengths and software."""
    chance = random.Random("largest batch")
    for _ in range(count):
        yield Inputs(
            model=chance.choice(list(MODELS)),
            world_size=chance.choice([8, 64, 512]),
            sequence_length=chance.choice([1024, 4096, 32_768]),
            recompute=chance.choice(["none", "selective", "full"]),
            zero_stage=chance.choice("0123"),
            tensor_parallel=chance.choice([1, 2, 8]),
            pipeline_parallel=chance.choice([1, 2, 4]),
            context_parallel=chance.choice([1, 2]),
            margin=chance.choice([0.0, 0.05, 0.2]),
            framework=chance.choice(["fsdp", "megatron", "deepspeed"]),
            flash_attention=chance.choice([True, False]),
        )


FOUND = [(inputs, fit(inputs)) for inputs in some_inputs()]


def tiny(**changes):
    """A GPT layer as the ledger counts it."""
    shape = replace(LEDGER, **changes)
    model = Model(
        name="tiny",
        num_layers=1,
        hidden_size=shape.hidden_size,
        num_attention_heads=shape.num_attention_heads,
        num_key_value_heads=shape.num_attention_heads,
        ffn_hidden_size=4 * shape.hidden_size,
        vocab_size=16,
        mlp="gelu",
        tied_embeddings=True,
        biases=True,
    )
    training = Training(
        micro_batch_size=shape.micro_batch_size,
        global_batch_size=shape.micro_batch_size,
        sequence_length=shape.sequence_length,
        flash_attention=False,
    )
    return shape, layer_memory(model, Plan(world_size=1), training).kept


def test_trying_until_memory_runs_out_finds_the_closed_form():
    found = [
        (
            search_largest_batch(lambda b, f=one: batch_memory(f.run, b).total, one.usable, LIMIT)[
                -1
            ].low,
            min(one.largest, LIMIT),
        )
        for _, one in FOUND
    ]
    assert [tried for tried, _ in found] == [closed for _, closed in found]


def test_the_largest_batch_is_the_last_that_the_memory_model_lets_in():
    checked = [
        (memory_fit(batch_memory(one.run, batch), capacity, i.margin).verdict == "fits", batch)
        for i, one in FOUND
        for batch in (one.largest, one.largest + 1)
        if 0 < one.largest < LIMIT and (capacity := one.run.cluster.gpu.memory)
    ]
    assert [answer for answer, _ in checked] == [True, False] * (len(checked) // 2)


@pytest.mark.parametrize("batch", [3, 17, 64])
def test_memory_is_a_straight_line_in_the_micro_batch(batch):
    one = fit(INPUTS)
    line = one.line.fixed + batch * one.line.per_sequence
    assert batch_memory(one.run, batch).total == pytest.approx(line, rel=1e-12)


def test_room_by_hand():
    room = usable_memory(80 * GB, 0.1)
    assert batch_room(room, 22 * GB, 10 * GB) == pytest.approx(5.0)


def test_the_memory_of_a_batch_is_a_straight_line():
    assert memory_of_batch(5, 20 * GB, 10 * GB) == 70 * GB


def test_a_search_doubles_and_then_halves_the_gap():
    tried = [probe.batch for probe in search_largest_batch(lambda b: float(b), 5.0, LIMIT)]
    assert tried == [1, 2, 4, 8, 6, 5]


def test_a_search_that_never_runs_out_stops_at_its_limit():
    assert [probe.batch for probe in search_largest_batch(lambda b: 0.0, 5.0, 6)] == [1, 2, 4, 6]


def test_a_search_where_one_is_too_much_answers_none():
    assert search_largest_batch(lambda b: 9.0, 5.0, LIMIT)[-1].low == 0


def test_seven_billion_parameters_on_eight_gpus_fall_from_112_to_14_gigabytes():
    views = state_ladder.compute(LADDER)
    assert (text(views, "replicated"), text(views, "sharded")) == ("112 GB", "14.0 GB")


def test_the_tiny_ledger_by_hand():
    # 34 s b h + 5 a s² b with s = 4, b = 1, h = 8, a = 2.
    assert layer_ledger.compute(LEDGER)["total"].value == 34 * 32 + 5 * 2 * 16


@pytest.mark.parametrize(
    "changes", [{}, {"sequence_length": 2048, "hidden_size": 12_288, "num_attention_heads": 96}]
)
def test_the_ledger_sums_to_the_published_formula(changes):
    shape = replace(LEDGER, **changes)
    tokens = shape.sequence_length * shape.micro_batch_size
    published = korthikanti_activations(
        tokens, shape.hidden_size, shape.num_attention_heads, shape.sequence_length, 1
    )
    assert layer_ledger.solve(shape).total == published


def test_the_formula_is_bytes_so_doubling_it_doubles_the_ledger():
    views = layer_ledger.compute(LEDGER)
    assert views["doubled"].value == 2 * layer_ledger.solve(LEDGER).total


@pytest.mark.parametrize("changes", [{}, {"micro_batch_size": 4, "sequence_length": 64}])
def test_the_ledger_is_what_the_memory_model_keeps(changes):
    shape, kept = tiny(**changes)
    assert layer_ledger.compute(shape)["total"].value == kept


def test_with_fused_attention_doubling_the_length_halves_the_room():
    longer = fit(replace(INPUTS, sequence_length=2 * INPUTS.sequence_length))
    assert longer.line.max_sequences == pytest.approx(fit(INPUTS).line.max_sequences / 2, rel=1e-9)


def test_halved_room_is_not_a_halved_batch():
    lengths = [fit(replace(INPUTS, sequence_length=4096 * k)).largest for k in (1, 2, 4)]
    assert lengths == [7, 3, 1]


def test_with_scores_kept_doubling_the_length_more_than_halves_the_room():
    kept = replace(INPUTS, flash_attention=False, sequence_length=1024)
    longer = replace(kept, sequence_length=2048)
    assert fit(longer).line.max_sequences < fit(kept).line.max_sequences / 2


def test_the_largest_batch_is_not_the_fastest():
    small, large = (replace(INPUTS, recompute=kind) for kind in ("none", "full"))
    few, many = fit(small), fit(large)
    assert many.largest > 5 * few.largest
    assert batch_token_rate(many.run, many.largest) < batch_token_rate(few.run, few.largest)


@pytest.mark.parametrize("batch", [1, 5, 64, 100])
def test_every_batch_size_works_through_the_same_sequences(batch):
    run = fit(INPUTS).run
    each = training_with_batch(run, batch, SEQUENCES).global_batch_size / run.plan.world_size
    assert 0 <= each - max(SEQUENCES, batch) < batch


def test_states_that_do_not_fit_are_told_from_activations_that_do_not():
    views = largest_batch.compute(replace(INPUTS, zero_stage="0", framework="megatron"))
    assert views["fits"].text == "States"


def test_a_size_that_does_not_divide_is_named():
    views = largest_batch.compute(replace(INPUTS, tensor_parallel=3, world_size=12))
    assert "3 does not divide" in render_text(views["possible"].sentence)


def test_the_search_scene_says_the_closed_form():
    views = largest_batch.compute(INPUTS)
    last = views["search"].frames[-1]
    assert f"the answer is {views['largest'].value:.0f}." in render_text(last.caption)


def test_the_room_is_finite_for_a_batch_far_beyond_the_axis():
    views = largest_batch.compute(replace(INPUTS, sequence_length=128))
    assert math.isfinite(views["largest"].value)


def test_what_does_not_fit_has_no_speed():
    crowded = replace(INPUTS, zero_stage="0", framework="megatron")
    assert largest_batch.solve(crowded).token_rate == 0


def test_no_remedy_of_what_does_not_fit_is_slower_or_faster():
    crowded = replace(INPUTS, model="llama-3-8b", sequence_length=8192)
    remedies = largest_batch.compute(crowded)["advice"].remedies
    assert [one.key for one in remedies if "per token" in render_text(one.side_effect)] == []


def test_what_does_not_fit_is_offered_only_what_makes_it_fit():
    remedies = largest_batch.compute(replace(INPUTS, micro_batch_size=12))["advice"].remedies
    fits = {one.key: render_text(one.side_effect).partition(";")[0] for one in remedies}
    assert fits["batch"] == "then it fits"
    assert set(fits.values()) == {"then it fits"}


def test_where_no_single_change_is_enough_the_advice_says_so():
    advice = largest_batch.compute(replace(INPUTS, micro_batch_size=4096))["advice"]
    assert "no single one is enough" in render_text(advice.verdict)
    assert all(render_text(one.side_effect).startswith("still does") for one in advice.remedies)


def test_a_step_with_adapters_names_what_was_measured_and_the_worst_miss():
    def told(**changes):
        calculator = load("largest_batch")
        view = calculator.compute(make(calculator, changes))["token_rate"]
        return " ".join(render_text(one) for one in view.receipt.assumptions)

    assert "We measured 32 steps with adapters" in told(trained="lora")
    assert "We measured" not in told(trained="full")
