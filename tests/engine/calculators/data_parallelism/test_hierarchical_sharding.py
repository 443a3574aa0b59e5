"""Hierarchical sharding: the tiny step, the widths, the lab and what was measured."""

import pytest

from engine.simulate.data_parallel.sharded_step import ShardedSetting, simulate_sharded_step
from tests.each import each
from tests.engine.calculators.asked import solved, views


@each("scheme", ["full", "second", "node"])
@each("micro", [1, 2])
def test_every_scheme_equals_one_gpu(scheme, micro):
    found = views("hybrid_steps", scheme=scheme, micro_batches=micro)
    assert found["equal"].text == "Equal to one GPU"


def test_the_formula_is_what_was_counted_but_for_the_output_part():
    assert solved("hybrid_steps").crossed == solved("hybrid_steps").crossed_formula
    full = solved("hybrid_steps", scheme="full")
    assert full.crossed_formula - full.crossed == 36 * 3 / 4 * 2


@each("scheme", ["full", "second", "node"])
def test_all_frames_have_the_same_shapes(scheme):
    frames = views("hybrid_steps", scheme=scheme)["scene"].frames
    assert len({tuple(shape.key for shape in frame.shapes) for frame in frames}) == 1


def test_the_width_is_a_power_of_two_and_no_more_than_all_gpus():
    assert [solved("shard_width", shard=n).width for n in (1, 7, 12, 500)] == [1, 8, 16, 64]


def test_a_wider_group_than_a_node_is_told_to_send_more():
    assert views("shard_width", shard=16)["verdict"].text == "More bytes than full sharding"
    assert views("shard_width", shard=8)["verdict"].text == "Fewer bytes between nodes"
    wide = {"model": "llama-3-70b", "ranks": "128", "shard": 8}
    assert views("shard_width", **wide)["verdict"].text == "Does not fit"


def test_the_front_has_one_copy_the_second_copy_and_a_copy_in_each_node():
    keys = {one.key for one in solved("shard_width").best}
    assert keys == {"ZeRO-3", "hpZ", "HSDP 8"}


def step(**changes):
    given = {"model": "llama-3-8b", "gpu": "h100", "ranks": 64, "tokens": 4096, "port": 12.5e9}
    return simulate_sharded_step(ShardedSetting(**{**given, **changes}))


def test_one_copy_over_all_is_the_step_of_zero_3():
    assert step(shard=64).account.length == pytest.approx(step().account.length)


@each("shard", [2, 4, 8, 16, 32])
def test_gradients_are_added_over_the_copies_once_if_so_set(shard):
    every, once = (step(shard=shard, num_microbatches=3, sum_once=flag) for flag in (False, True))
    sums = [sum(span.op.key.endswith(":replicas") for span in one.spans) for one in (every, once)]
    assert sums[0] == 3 * sums[1] > 0
    assert once.sent < every.sent
    assert once.account.length <= every.account.length * (1 + 1e-9)


@each("changes", [{"again": 8}, {"shard": 8}, {"shard": 16}], ids=str)
def test_gradients_do_not_pile_up_behind_a_slow_network(changes):
    # On a network fifty times slower no more room is taken.
    slow, fast = (step(port=port, **changes) for port in (12.5e9 / 50, 50e9))
    assert slow.peak <= fast.peak + 2 * slow.job.work.parameters * 4


def test_a_copy_in_each_node_gathers_on_the_links_of_the_node():
    spans = step(shard=8).spans
    streams = {span.op.stream for span in spans if span.op.key.endswith(":parameters")}
    assert streams == {"scale_up"}


@pytest.mark.parametrize("won", [False, True])
def test_the_challenge_is_lost_at_its_start_and_won_by_its_solution(won):
    found = views("hybrid_lab")["challenge"]
    now = views("hybrid_lab", **(found.solution if won else found.start))["challenge"]
    assert all(condition.met for condition in now.conditions) == won


@each("way", [{"shard": 16}, {"shard": 32}, {"shard": 64}, {"shard": 128}], ids=str)
def test_the_challenge_is_not_won_without_the_second_copy(way):
    solution = {**views("hybrid_lab")["challenge"].solution, "second": False, **way}
    now = views("hybrid_lab", **solution)["challenge"]
    assert not all(condition.met for condition in now.conditions)


# fms-fsdp, README of March 2024: 7B, HSDP, 128 A100, 3,760 tokens per second per GPU.
def test_the_measured_step_is_the_published_one():
    found = solved("hybrid_measured")
    assert found.measured == pytest.approx(2 * 4096 / 3760, rel=1e-3)
    assert found.modelled == pytest.approx(found.measured, rel=0.05)


def test_the_runs_can_be_chosen():
    kinds = {
        shown: solved("hybrid_measured", shown=shown).runs for shown in ("node", "full", "all")
    }
    assert len(kinds["node"]) + len(kinds["full"]) == len(kinds["all"])
    assert all(one.case.run.plan.shard_group == 8 for one in kinds["node"])
