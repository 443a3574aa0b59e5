"""Fat trees: NVIDIA's printed counts, ways between nodes, and what cannot be built."""

from dataclasses import replace

import pytest

from engine.core.units import Gbit
from engine.simulate.network.fabric_design import (
    FabricPlan,
    cost_index,
    design_fabric,
    gpus_by_switches,
    split_ports,
    switches_between,
)

POD = FabricPlan(num_nodes=127, ports_per_node=8, port=400 * Gbit)


# DGX SuperPOD with H100 (2023), table 4; with B200 (2024), table 2: nodes, leaves, spines, cores,
# cables to leaves (those of the manager left out), to spines, to cores. Switches of 64 ports.
@pytest.mark.parametrize(
    "printed",
    [
        (31, 8, 4, 0, 248, 256, 0),
        (63, 16, 8, 0, 504, 512, 0),
        (95, 24, 16, 0, 760, 768, 0),
        (127, 32, 16, 0, 1016, 1024, 0),
        (64, 16, 8, 0, 512, 512, 0),
        (256, 64, 32, 0, 2048, 2048, 0),
        (512, 128, 128, 64, 4096, 4096, 4096),
        (1024, 256, 256, 128, 8192, 8192, 8192),
        (2048, 512, 512, 256, 16384, 16384, 16384),
    ],
)
def test_a_superpod_has_the_printed_switches_and_cables(printed):
    found = design_fabric(replace(POD, num_nodes=printed[0]))
    counts = (found.leaves, found.spines, found.cores)
    assert (*counts, found.to_leaves, found.to_spines, found.to_cores) == printed[1:]


# DGX SuperPOD with B300 and switches of 144 ports of 800 Gb/s (2025), table 3.
@pytest.mark.parametrize(
    "printed", [(72, 8, 4), (144, 16, 8), (288, 32, 18), (576, 64, 36), (1296, 144, 72)]
)
def test_larger_switches_make_the_printed_tree(printed):
    found = design_fabric(replace(POD, num_nodes=printed[0], radix=144))
    assert (found.leaves, found.spines) == printed[1:]


def test_the_ports_of_a_leaf_are_split_in_the_ratio():
    assert split_ports(64, 1) == (32, 32)
    assert split_ports(64, 3) == (48, 16)
    assert split_ports(64, 7) == (56, 8)
    assert split_ports(64, 2) == (42, 21)


def test_oversubscription_halves_the_bisection():
    even, narrow = design_fabric(POD), design_fabric(replace(POD, oversubscription=3.0))
    assert even.bisection == 127 * 8 * 50e9 / 2
    assert narrow.oversubscription == 3
    assert narrow.bisection == pytest.approx(even.bisection / 3)


def test_one_leaf_group_is_not_oversubscribed():
    assert (
        design_fabric(replace(POD, num_nodes=32, oversubscription=3.0)).bisection == 32 * 8 * 25e9
    )


def test_messages_on_one_rail_of_a_group_meet_in_one_switch():
    tree = design_fabric(replace(POD, num_nodes=512))
    assert switches_between(tree, 0, 31, same_rail=True) == 1
    assert switches_between(tree, 0, 31, same_rail=False) == 3
    assert switches_between(tree, 0, 127, same_rail=True) == 3
    assert switches_between(tree, 0, 128, same_rail=True) == 5


def test_the_first_gpu_reaches_its_leaf_group_over_one_switch():
    # Of 127 nodes of 8, 31 others are in its group, 95 are not; without PXN it meets its own rail.
    tree = design_fabric(POD)
    assert gpus_by_switches(tree, 8, pxn=True) == {0: 7, 1: 31 * 8, 3: 95 * 8}
    assert gpus_by_switches(tree, 8, pxn=False) == {0: 7, 1: 31, 3: 31 * 7 + 95 * 8}


def test_without_rails_a_leaf_takes_fewer_nodes_and_all_their_ports():
    tree = design_fabric(replace(POD, rails=False))
    assert (tree.nodes_per_group, tree.leaves) == (4, 32)
    assert switches_between(tree, 0, 3, same_rail=False) == 1


def test_a_single_leaf_needs_no_spine():
    tree = design_fabric(replace(POD, num_nodes=16, ports_per_node=1))
    assert (tree.leaves, tree.spines, tree.switches, tree.most_switches) == (1, 0, 1, 1)


def test_three_tiers_have_an_end():
    with pytest.raises(ValueError, match=r"1024 leaves are too many; .* take 512"):
        design_fabric(replace(POD, num_nodes=2048, radix=32))


def test_ports_of_a_node_that_do_not_fit_in_a_leaf_are_named():
    with pytest.raises(ValueError, match="72 ports of a node do not fit in a leaf with 32"):
        design_fabric(replace(POD, ports_per_node=72, rails=False))


def test_fewer_links_upward_cost_less():
    even, narrow = design_fabric(POD), design_fabric(replace(POD, oversubscription=7.0))
    assert cost_index(even, 1.0) == (48 * 64 + 2040) / (2 * 1016)
    assert cost_index(narrow, 1.0) < cost_index(even, 1.0)


def test_a_tree_of_two_full_tiers_costs_two_and_a_half_giant_switches():
    # Three switch ports and two cables for every port of a node, over one and one.
    assert cost_index(design_fabric(replace(POD, num_nodes=128)), 1.0) == 2.5
