"""The exact training: backward against finite differences, every scheme against one rank."""

from dataclasses import replace
from functools import cache

import pytest

from engine.catalog.models import TINY_260
from engine.core import registry
from engine.formulas import volumes
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, rank_parameters, sharded_states
from engine.run.parallelism import Plan, Training
from engine.tiny import adam, single
from engine.tiny.data import whole_places
from engine.tiny.exchange import Exchange
from engine.tiny.job import TINY_EXPERTS, TinyJob, example_batch, initial_parameters, num_targets
from engine.tiny.layout import flatten, num_parameters, part_names, part_range, tensors, unflatten
from engine.tiny.result import parameter_difference
from engine.tiny.schemes import context_ring, context_zig_zag
from tests.each import each

SCHEMES = registry.module_names("engine.tiny.schemes")
HIDDEN, LAYERS = TINY_260.hidden_size, TINY_260.num_layers


def scheme(name):
    return registry.module("engine.tiny.schemes", name)


def job(name, **changes):
    """Eight sequences; those that are cut over ranks are longer."""
    length = 8 if "context" in name else 4
    model = getattr(scheme(name), "MODEL", TINY_260)
    return TinyJob(model=model, batch=example_batch(8, length), **changes)


@cache
def run(name, ranks, **changes):
    return scheme(name).train(job(name, **changes), ranks)


@cache
def alone(name):
    return single.train(job(name))


CASES = [
    pytest.param(name, ranks, id=f"{name}-{ranks}")
    for name in SCHEMES
    for ranks in scheme(name).RANKS
]


@each(("name", "ranks"), CASES)
def test_every_scheme_gives_the_parameters_of_one_rank(name, ranks):
    assert parameter_difference(run(name, ranks), alone(name)) <= 1e-12


@each(("name", "ranks"), CASES)
def test_training_moves_every_parameter(name, ranks):
    before = initial_parameters(run(name, ranks).job.model)
    pairs = zip(run(name, ranks).parameters, before, strict=True)
    assert min(abs(after - start) for after, start in pairs) > 1e-4


@each("name", SCHEMES)
def test_one_rank_sends_nothing(name):
    assert run(name, 1).sent == {}


@each("model", [TINY_260, TINY_EXPERTS], ids=lambda model: model.name)
def test_the_flat_vector_has_the_parameters_of_the_formula(model):
    assert num_parameters(model) == total_parameters(model)


def test_the_model_has_260_parameters():
    assert total_parameters(TINY_260) == 260


def test_weights_and_flat_vector_are_the_same_numbers():
    vector = initial_parameters(TINY_260)
    assert flatten(TINY_260, unflatten(TINY_260, vector)) == vector


@each("model", [TINY_260, TINY_EXPERTS], ids=lambda model: model.name)
def test_the_backward_pass_agrees_with_finite_differences(model):
    vector, batch, step = initial_parameters(model), example_batch(3, 4), 1e-5
    _, gradient = single.loss_and_gradient(model, vector, batch, 12)

    def slope(place):
        losses = []
        for sign in (1, -1):
            moved = [x + sign * step * (i == place) for i, x in enumerate(vector)]
            losses.append(single.loss_and_gradient(model, moved, batch, 12)[0])
        return (losses[0] - losses[1]) / (2 * step)

    # The first and the last number of every tensor.
    places = [place for one in tensors(model) for place in (one.start, one.start + one.size - 1)]
    found = [slope(place) for place in places]
    assert found == pytest.approx([gradient[place] for place in places], abs=1e-8)


def test_the_first_step_of_adam_is_the_learning_rate_against_the_slope():
    moments = adam.initial_moments([1.0, 1.0])
    assert adam.step(moments, [0.5, -2.0], 0.1) == pytest.approx([0.9, 1.1])


def test_the_second_step_of_adam_by_hand():
    moments = adam.initial_moments([0.0])
    adam.step(moments, [1.0], 0.1)
    # First moment 0.9 x 0.1 + 0.1 x 3 over 0.19, second 0.999 x 0.001 + 0.001 x 9 over 0.001999.
    expected = -0.1 - 0.1 * (0.39 / 0.19) / (0.009999 / 0.001999) ** 0.5
    assert adam.step(moments, [3.0], 0.1) == pytest.approx([expected])


def test_the_loss_falls():
    losses = single.train(replace(job("data_parallel"), steps=20)).losses
    assert losses[-1] < 0.8 * losses[0]


@each("name", ["data_parallel", "tensor_parallel", "pipeline_parallel"])
def test_the_loss_is_that_of_one_rank(name):
    assert run(name, 2).losses == pytest.approx(alone(name).losses, rel=1e-12)


@each("ranks", [2, 3, 5])
def test_reduce_scatter_and_all_gather_are_an_all_reduce(ranks):
    buffers = [[float(10 * rank + i) for i in range(7)] for rank in range(ranks)]
    exchange = Exchange(ranks)
    gathered = exchange.all_gather(exchange.reduce_scatter(buffers, "x"), "x")
    assert [own[:7] for own in gathered] == Exchange(ranks).all_reduce(buffers, "x")


def test_a_rank_sends_itself_nothing():
    exchange = Exchange(2)
    exchange.send(1, 1, [1.0], "x")
    assert exchange.sent == {}


# What each rank holds.

STAGES = {"data_parallel": 0, "zero_1": 1, "zero_2": 2, "zero_3": 3}
ZERO = [
    pytest.param(name, stage, ranks, id=f"{name}-{ranks}")
    for name, stage in STAGES.items()
    for ranks in scheme(name).RANKS
]


def filled(name, ranks):
    """The parameters with the zeros that fill up what is cut: the vector, or every part of it."""
    if STAGES[name] == 0:
        return 260
    pieces = [260]
    if STAGES[name] > 1:
        pieces = [len(part_range(TINY_260, part)) for part in part_names(TINY_260)]
    return sum(-(-piece // ranks) * ranks for piece in pieces)


@each(("name", "stage", "ranks"), ZERO)
def test_the_bytes_of_a_rank_are_those_of_the_formula(name, stage, ranks):
    states = sharded_states(filled(name, ranks), MIXED_PRECISION, stage, ranks)
    padding = 260 / filled(name, ranks)
    # What is not cut has no padding.
    expected = states.optimizer + states.gradients * (1 if stage >= 2 else padding)
    expected += states.parameters * (1 if stage >= 3 else padding)
    found = [held.size(MIXED_PRECISION) for held in run(name, ranks).state_counts]
    assert found == pytest.approx([expected] * ranks, rel=1e-15)


@each("ranks", [1, 2, 4])
def test_four_ranks_or_fewer_need_no_padding_that_the_formula_leaves_out(ranks):
    held = run("zero_1", ranks).state_counts[0]
    assert held.size(MIXED_PRECISION) == 260 * (4 + 12 / ranks)


def test_the_shares_of_eight_ranks_cover_every_place_once():
    places = [place for rank in range(8) for place in whole_places(260, rank, 8)]
    assert places == list(range(264))


@each("name", ["tensor_parallel", "sequence_parallel"])
@each("ranks", [1, 2])
def test_a_rank_of_tensor_parallelism_holds_the_parameters_of_the_formula(name, ranks):
    plan = Plan(world_size=ranks, tensor_parallel=ranks)
    training = Training(micro_batch_size=8, global_batch_size=8, sequence_length=4)
    expected = rank_parameters(TINY_260, plan, training).dense
    assert {held.parameters for held in run(name, ranks).state_counts} == {expected}


@each("ranks", [1, 2, 4])
def test_every_stage_holds_the_parameters_of_the_formula(ranks):
    plan = Plan(world_size=ranks, pipeline_parallel=ranks)
    training = Training(micro_batch_size=2, global_batch_size=8, sequence_length=4)
    expected = [rank_parameters(TINY_260, plan, training, stage).dense for stage in range(ranks)]
    assert [held.parameters for held in run("pipeline_parallel", ranks).state_counts] == expected


@each("ranks", [1, 2, 4])
def test_a_rank_of_expert_parallelism_holds_the_parameters_of_the_formula(ranks):
    plan = Plan(world_size=ranks, expert_parallel=ranks)
    training = Training(micro_batch_size=1, global_batch_size=8, sequence_length=4)
    expected = rank_parameters(TINY_EXPERTS, plan, training)
    held = {own.parameters for own in run("expert_parallel", ranks).state_counts}
    assert held == {expected.dense + expected.experts}


# What each rank sends: numbers in one step; the formulas are linear in the bytes of a number.


def sent(name, ranks, kind=None):
    """The numbers that each rank sends in one step."""
    found = run(name, ranks)
    kinds = [kind] if kind else [one for one in found.sent if one != "scores"]
    totals = [sum(found.sent[one][rank] for one in kinds) for rank in range(ranks)]
    return [total / found.job.steps for total in totals]


@each(
    ("name", "stage", "ranks"), [case for case in ZERO if case.values[1] < 3 and case.values[2] > 1]
)
def test_a_rank_of_zero_sends_what_the_formula_says(name, stage, ranks):
    # The buffer of an all-reduce is filled up for the ring as well.
    numbers = filled(name, ranks) if stage else -(-260 // ranks) * ranks
    expected = volumes.zero_bytes_sent(numbers, numbers, stage, ranks)
    assert sent(name, ranks) == [expected] * ranks


@each("ranks", [2, 4])
def test_zero_3_gathers_all_but_the_last_part_twice(ranks):
    last = len(part_range(TINY_260, "output"))
    whole = volumes.zero_bytes_sent(260, 260, 3, ranks)
    assert sent("zero_3", ranks) == [whole - (ranks - 1) / ranks * last] * ranks


@each("ranks", [2, 4, 8])
def test_zero_1_sends_what_data_parallelism_sends(ranks):
    assert sent("zero_1", ranks) == sent("data_parallel", ranks)


def test_accumulation_sends_what_one_batch_sends():
    assert sent("gradient_accumulation", 4) == sent("data_parallel", 4)


@each(("name", "stage"), [("zero_1", 1), ("zero_2", 2)])
def test_accumulation_under_zero_sends_what_the_formula_says(name, stage):
    found = scheme(name).train(job(name, num_microbatches=2, steps=1), 4)
    total = sum(numbers[0] for numbers in found.sent.values())
    assert total == volumes.zero_bytes_sent(260, 260, stage, 4, 2)


@each("name", ["zero_1", "zero_2", "zero_3"])
def test_accumulation_under_zero_is_exact(name):
    found = scheme(name).train(job(name, num_microbatches=2), 2)
    assert parameter_difference(found, alone(name)) <= 1e-12


ROWS = 8 * 4


def test_a_rank_of_tensor_parallelism_sends_what_the_formula_says():
    expected = volumes.tensor_parallel_bytes_sent(ROWS * HIDDEN, LAYERS, 2)
    assert sent("tensor_parallel", 2, "activations") == [expected] * 2


def test_a_rank_of_sequence_parallelism_sends_what_the_formula_says():
    expected = volumes.tensor_parallel_bytes_sent(ROWS * HIDDEN, LAYERS, 2, sequence_parallel=True)
    assert sent("sequence_parallel", 2, "activations") == [expected] * 2


@each("ranks", [2, 4])
def test_a_stage_sends_what_the_formula_says(ranks):
    micro_batch = 2 * 4 * HIDDEN
    neighbors = [1, *[2] * (ranks - 2), 1]
    expected = [volumes.pipeline_bytes_sent(micro_batch, 4, count) for count in neighbors]
    assert sent("pipeline_parallel", ranks) == expected


@each("name", ["context_ring", "context_zig_zag"])
@each("ranks", [2, 4])
def test_a_rank_of_a_context_ring_sends_what_the_formula_says(name, ranks):
    block = 2 * (8 * 8 // ranks) * HIDDEN
    expected = volumes.context_ring_bytes_sent(block, LAYERS, ranks)
    assert sent(name, ranks, "activations") == [expected] * ranks


@each("ranks", [2, 4])
def test_a_rank_of_expert_parallelism_sends_what_the_formula_says_if_all_experts_are_chosen(ranks):
    model = replace(TINY_EXPERTS, experts_per_token=TINY_EXPERTS.num_experts)
    found = scheme("expert_parallel").train(
        TinyJob(model=model, batch=example_batch(), steps=1), ranks
    )
    copies = ROWS / ranks * model.experts_per_token * HIDDEN
    expected = volumes.expert_bytes_sent(copies, LAYERS, ranks)
    assert list(found.sent["activations"]) == [expected] * ranks


def test_expert_parallelism_with_all_experts_is_exact():
    model = replace(TINY_EXPERTS, experts_per_token=TINY_EXPERTS.num_experts)
    this = TinyJob(model=model, batch=example_batch())
    assert (
        parameter_difference(scheme("expert_parallel").train(this, 4), single.train(this)) <= 1e-12
    )


def pairs(positions, ranks):
    """How many pairs of query and key each rank has of a causal sequence of 16."""
    return [sum(place + 1 for place in positions(16, rank, ranks)) for rank in range(ranks)]


def test_zig_zag_shares_the_work_evenly():
    assert len(set(pairs(context_zig_zag.positions, 4))) == 1


def test_the_last_of_four_contiguous_pieces_works_most():
    work = pairs(context_ring.positions, 4)
    assert work == [10, 26, 42, 58]


@each(("name", "ranks"), [("tensor_parallel", 4), ("context_zig_zag", 3), ("expert_parallel", 3)])
def test_what_does_not_divide_is_refused_in_words(name, ranks):
    with pytest.raises(ValueError, match="do not divide"):
        scheme(name).train(job(name), ranks)


def test_the_mean_is_over_all_targets_of_the_step():
    assert num_targets(job("data_parallel")) == ROWS
