"""Ways to shard a job: bytes that leave a node against the messages of rings, and the front."""

from dataclasses import replace

import pytest

from engine.collectives import ring_all_gather, ring_all_reduce
from engine.simulate.data_parallel.sharding_width import (
    ShardingJob,
    ShardingOption,
    kept_bytes,
    node_bytes,
    node_crossings,
    pareto_front,
    zero_option,
)
from tests.each import each

JOB = ShardingJob(parameters=8e9, ranks=64, gpus_per_node=8, shard=64)


def edge(rounds, members, size, node=8):
    """Bytes that the first node sends to others in a collective of `members`, ring order kept."""
    moved = sum(
        members[one.source] // node == 0 != members[one.target] // node
        for transfers in rounds
        for one in transfers
    )
    return moved * size / len(members)


def by_messages(shard, ranks=64, node=8):
    """The same count, message by message, of two gathers, a reduce-scatter and the sums."""
    total = 0.0
    for first in range(0, ranks, shard):
        members = list(range(first, first + shard))
        total += 3 * edge(ring_all_gather.rounds(shard), members, 16e9)
    for place in range(shard):
        members = list(range(place, ranks, shard))
        total += edge(ring_all_reduce.rounds(len(members)), members, 16e9 / shard)
    return total


@each("shard", [2, 4, 8, 16, 32, 64])
def test_a_node_sends_what_the_messages_of_its_rings_add_up_to(shard):
    assert node_bytes(replace(JOB, shard=shard)) == pytest.approx(by_messages(shard))


# Llama-like 8e9 parameters: 6 bytes each x 63/64, and 4 bytes each x 7/8.
def test_full_sharding_and_a_copy_in_each_node_by_hand():
    assert node_bytes(JOB) == pytest.approx(47.25e9)
    assert node_bytes(replace(JOB, shard=8)) == pytest.approx(28e9)


@each("shard", [16, 32])
def test_groups_of_several_nodes_send_more_than_one_copy_over_all(shard):
    assert node_bytes(replace(JOB, shard=shard)) > node_bytes(JOB)


def test_accumulation_costs_a_copy_in_each_node_nothing_if_it_sums_once():
    many = replace(JOB, shard=8, num_microbatches=16)
    assert node_bytes(many) == node_bytes(replace(JOB, shard=8))
    assert node_bytes(replace(many, sum_once=False)) == 16 * node_bytes(many)
    assert node_bytes(replace(JOB, num_microbatches=16)) == 16 * node_bytes(JOB)


# Wang et al. 2023, table 1: hpZ takes one of three crossings away, all of ZeRO++ three quarters.
def test_zero_plus_plus_sends_a_quarter_of_zero_3():
    second = replace(JOB, second=True)
    assert node_bytes(second) == pytest.approx(2 / 3 * node_bytes(JOB))
    assert node_bytes(replace(second, quantized=True)) == pytest.approx(node_bytes(JOB) / 4)


def test_one_node_sends_nothing():
    assert node_bytes(replace(JOB, ranks=8, shard=8)) == 0
    assert node_crossings(replace(JOB, ranks=8, shard=2)) == (0, 0, 0)


def test_states_and_the_second_copy():
    assert kept_bytes(replace(JOB, shard=8)) == 16 * 8e9 / 8
    assert kept_bytes(replace(JOB, second=True)) == 16 * 8e9 / 64 + 2 * 8e9 / 8


def test_zero_1_and_2_cross_as_full_rings():
    assert zero_option("x", 1, 8e9, 64, 4).sent == pytest.approx(63 / 64 * 2 * 16e9)
    assert zero_option("x", 2, 8e9, 64, 4).sent == pytest.approx(63 / 64 * 5 * 16e9)


def test_the_front_leaves_out_what_is_beaten():
    ways = [ShardingOption(key=key, memory=m, sent=s) for key, m, s in
            (("a", 1, 9), ("b", 2, 5), ("c", 3, 7), ("d", 4, 5), ("e", 5, 1))]  # fmt: skip
    assert [one.key for one in pareto_front(ways)] == ["a", "b", "e"]
