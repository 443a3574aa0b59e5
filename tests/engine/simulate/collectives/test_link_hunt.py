"""Bad links: every fault is found by halving, in the rounds that the formula allows."""

import math
from itertools import combinations, pairwise

import pytest

from engine.calculators.moving_bytes.link_hunt import read_rounds, write_rounds
from engine.core.units import GB
from engine.formulas.group_tests import halving_rounds, pair_tests
from engine.simulate.collectives.link_hunt import (
    PORT_BANDWIDTH,
    FaultyCluster,
    cleared_nodes,
    next_groups,
    run_tests,
    search_by_halves,
    suspect_nodes,
)
from tests.each import each


def one_leaf(nodes, *bad, left=0.5):
    return FaultyCluster(nodes=nodes, per_leaf=nodes, ports=tuple((node, left) for node in bad))


def test_a_group_is_as_slow_as_its_slowest_port():
    tests = run_tests(one_leaf(8, 5, left=0.25), ((0, 1, 2, 3), (4, 5, 6, 7)))
    assert [test.slow for test in tests] == [False, True]
    assert tests[1].reached == pytest.approx(0.25 * PORT_BANDWIDTH, rel=1e-3)
    assert tests[0].reached == pytest.approx(PORT_BANDWIDTH, rel=2e-3)


def test_a_healthy_cluster_ends_after_the_test_of_all():
    hunt = search_by_halves(one_leaf(16))
    assert (hunt.slow_nodes, hunt.between, hunt.halvings) == ((), (), 0)


@each("nodes", (*range(4, 20), 31, 33, 47, 64))
def test_halving_finds_every_single_fault_in_log2_rounds(nodes):
    hunts = [search_by_halves(one_leaf(nodes, bad)) for bad in range(nodes)]
    assert [hunt.slow_nodes for hunt in hunts] == [(bad,) for bad in range(nodes)]
    assert max(hunt.halvings for hunt in hunts) == halving_rounds(nodes)
    assert min(hunt.halvings for hunt in hunts) >= math.floor(math.log2(nodes))
    assert not any(hunt.between for hunt in hunts)


@each("nodes", (8, 9, 11, 14, 16, 17))
def test_halving_finds_every_two_faults_in_as_many_rounds(nodes):
    for bad in combinations(range(nodes), 2):
        hunt = search_by_halves(one_leaf(nodes, *bad))
        assert hunt.slow_nodes == bad
        assert hunt.halvings <= halving_rounds(nodes)


@pytest.mark.parametrize("nodes", [4, 16, 64])
def test_powers_of_two_take_exactly_as_many_rounds(nodes):
    assert {search_by_halves(one_leaf(nodes, bad)).halvings for bad in range(nodes)} == {
        round(math.log2(nodes))
    }


def test_a_fault_between_two_leaves_is_told_from_one_of_a_node():
    hunt = search_by_halves(FaultyCluster(nodes=16, per_leaf=8, uplinks=((0, 0.04),)))
    assert hunt.slow_nodes == ()
    assert hunt.between == (tuple(range(16)),)
    assert hunt.halvings == 1


def test_a_ring_hardly_loads_the_uplinks_and_pairs_across_do():
    cluster = FaultyCluster(nodes=16, per_leaf=8, uplinks=((0, 0.25),))
    (ring,) = run_tests(cluster, (tuple(range(16)),))
    across = run_tests(cluster, tuple((node, node + 8) for node in range(8)))
    assert not ring.slow
    assert all(test.slow for test in across)


@pytest.mark.parametrize("nodes", [4, 7, 16, 33])
def test_pairs_find_one_fault_in_two_rounds_and_so_many_tests(nodes):
    for bad in range(nodes):
        cluster = one_leaf(nodes, bad)
        pairs = tuple((a, a + 1) for a in range(0, nodes - 1, 2))
        first = run_tests(cluster, pairs)
        slow = [test.group for test in first if test.slow] or [(nodes - 1,)]
        good = sorted(cleared_nodes([first]))
        second = run_tests(cluster, tuple(zip(slow[0], good, strict=False)))
        found = [test.group[0] for test in second if test.slow]
        assert found == [bad]
        assert len(first) + len(second) <= pair_tests(nodes)


def test_rounds_grow_by_one_when_the_nodes_double():
    sizes = [2**power for power in range(1, 13)]
    assert [halving_rounds(n) for n in sizes] == list(range(1, 13))
    assert all(halving_rounds(b) - halving_rounds(a) == 1 for a, b in pairwise(sizes))
    assert (halving_rounds(1000), halving_rounds(1025)) == (10, 11)


def test_a_reader_who_follows_the_offers_finds_two_faults():
    cluster = one_leaf(16, 4, 9)
    rounds = [run_tests(cluster, (tuple(range(16)),))]
    while groups := next_groups(16, rounds):
        rounds.append(run_tests(cluster, groups))
    assert suspect_nodes(16, rounds) == (4, 9)
    assert len(rounds) == 1 + halving_rounds(16)


@pytest.mark.parametrize("groups", [((0,),), ((0, 1), (1, 2)), ((0, 16),)])
def test_groups_that_cannot_be_tested_are_refused(groups):
    with pytest.raises(ValueError, match="node"):
        run_tests(one_leaf(16), groups)


def test_rounds_are_read_as_they_are_written():
    text = "0-15; 0-7 8-15; 10+0 11+1"
    rounds = read_rounds(text, 16)
    assert write_rounds(rounds) == text
    assert rounds[2] == ((10, 0), (11, 1))
    assert read_rounds("", 16) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0-16", "not among the nodes"),
        ("3", "single node"),
        ("0-3 2-5", "node 2 is there twice"),
        ("a-b", "no range of nodes"),
        ("0,5", "no range of nodes"),
        ("0-3;", "round 2 tests no group"),
        ("7-0", "not among the nodes"),
        ("; ".join(["0-1"] * 13), "at most 12"),
    ],
)
def test_texts_that_are_no_rounds_say_why(text, said):
    with pytest.raises(ValueError, match=said):
        read_rounds(text, 16)


def test_bandwidths_are_those_of_one_port():
    (test,) = run_tests(one_leaf(16), (tuple(range(16)),))
    assert 49.8 * GB < test.reached == test.expected < PORT_BANDWIDTH
