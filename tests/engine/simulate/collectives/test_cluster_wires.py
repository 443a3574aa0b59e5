"""All-reduces on a cluster's wires, against numbers worked out by hand."""

from dataclasses import replace

import pytest

from engine.catalog.hardware import GPUS
from engine.core.units import GB, MICRO, Gbit
from engine.simulate.collectives.cluster_wires import (
    all_reduce_algorithm,
    all_reduce_time,
    bound_time,
    cluster_wires,
    effective_algorithm,
    hierarchical_tier_bytes,
    latency_time,
    mean_step_latency,
    port_load,
    ring_tier_bytes,
    sent_bytes,
)
from engine.simulate.collectives.collective import collective_time

# A port of 400 Gb/s to each of 8 GPUs; 8 nodes of 8 with a port to each GPU.
EIGHT = cluster_wires(GPUS["h100"], 8, 1, 1, 400 * Gbit, 3 * MICRO)
NODES = cluster_wires(GPUS["h100"], 64, 8, 8, 400 * Gbit, 3 * MICRO)
SIZE = 14 * GB


def test_a_ring_of_eight_ports_takes_557_milliseconds():
    # 2 * 7/8 * 14 GB / (0.88 * 50 GB/s) = 556.8 ms, 16 steps of 3 us and 12.9 us of start.
    assert all_reduce_time(EIGHT, "ring", SIZE) == pytest.approx(0.556818 + 60.9e-6, abs=1e-6)
    assert latency_time(EIGHT, "ring", SIZE) == pytest.approx(60.9e-6)


def test_its_equation_counts_fourteen_steps_and_no_start():
    assert bound_time(EIGHT, "ring", SIZE) == pytest.approx(0.556818 + 42e-6, abs=1e-6)


def test_eight_ports_of_a_node_carry_eight_rings():
    # 8 * 44 GB/s = 352 GB/s, no more than the link inside: 2 * 63/64 * 14 / 352 = 78.3 ms.
    assert NODES.ring == pytest.approx(352 * GB)
    apart = latency_time(NODES, "ring", SIZE)
    assert all_reduce_time(NODES, "ring", SIZE) - apart == pytest.approx(0.078303, rel=1e-4)


def test_the_wires_ask_the_function_of_all_collectives():
    for algorithm, way in (("auto", "nccl"), *((one, one) for one in ("ring", "hierarchical"))):
        found = all_reduce_time(NODES, algorithm, SIZE)
        assert found == collective_time(NODES.rank, NODES.group, SIZE, algorithm=way)
    assert all_reduce_algorithm(NODES, "auto", SIZE) == "Ring Simple"


def test_a_hierarchy_takes_the_node_and_then_the_network():
    # 2 * 7/8 * 14 GB / 369 GB/s inside, 2 * 7/8 * 1.75 GB / 44 GB/s across, and latencies.
    found = all_reduce_time(NODES, "hierarchical", SIZE)
    assert found == pytest.approx(0.066396 + 0.069602, rel=5e-3)
    assert bound_time(NODES, "hierarchical", SIZE) == pytest.approx(0.136, rel=2e-3)


def test_a_hierarchy_of_single_gpus_is_a_ring():
    assert effective_algorithm(EIGHT, "hierarchical") == "ring"


def test_nccl_takes_trees_where_latency_rules_and_the_ring_where_bytes_do():
    many = replace(EIGHT, world_size=1024)
    chosen = [effective_algorithm(many, "auto", size) for size in (1e6, 1e12)]
    assert chosen == ["tree", "ring"]


def test_a_ring_leaves_each_node_once_and_a_tree_goes_up_inside_first():
    # Of 64 steps 8 leave a node; of a tree's 6, three do: 2.04 us inside, 3 us between nodes.
    assert mean_step_latency(NODES, "ring") == pytest.approx((8 * 3 + 56 * 2.04) / 64 * 1e-6)
    assert mean_step_latency(NODES, "tree") == pytest.approx((3 * 3 + 3 * 2.04) / 6 * 1e-6)


def test_a_network_that_adds_takes_each_buffer_once():
    # 14 GB at 44 GB/s, and one step up and one down.
    assert bound_time(EIGHT, "in_network", SIZE) == pytest.approx(0.318182 + 6e-6)
    assert all_reduce_time(EIGHT, "in_network", SIZE) == pytest.approx(0.3187, rel=2e-3)


def test_of_two_kinds_of_switches_the_slower_sets_the_pace():
    # Inside as many buffers as of eight GPUs of 64, at 0.833 of 369 GB/s; between nodes 39.8 ms.
    inside = 2 * 63 / 64 * 9 / 14 * SIZE / (0.833 * 369 * GB)
    assert all_reduce_time(NODES, "in_network", SIZE) == pytest.approx(inside, rel=5e-3)


def test_one_node_stays_on_its_own_link():
    node = replace(NODES, world_size=8)
    assert (node.num_nodes, port_load(node, "ring", SIZE).sent) == (1, pytest.approx(24.5 * GB))
    assert node.ring == pytest.approx(369 * GB)


def test_a_port_of_a_hierarchy_waits_for_the_node():
    # Each of 8 GPUs sends 2 * 7/8 * 1.75 GB through the node's 8 ports, of which 0.88 is reached,
    # after 24.5 GB inside.
    load = port_load(NODES, "hierarchical", SIZE)
    assert load.sent == pytest.approx(3.0625 * GB / 0.88)
    assert load.wait == pytest.approx(24.5 / 369)


def test_a_flat_ring_and_a_hierarchy_move_as_much_out_of_a_node():
    # The ring 2 * 63/64 * 14 GB; the hierarchy 8 * 2 * 7/8 * 1.75 GB: nearly the same.
    assert ring_tier_bytes(NODES, SIZE).node == pytest.approx(27.5625 * GB)
    assert hierarchical_tier_bytes(NODES, SIZE).node == pytest.approx(24.5 * GB)


def test_what_a_gpu_sends_by_each_algorithm():
    sent = {name: sent_bytes(NODES, name, SIZE) / GB for name in ("ring", "tree", "in_network")}
    assert sent == pytest.approx({"ring": 27.5625, "tree": 28.0, "in_network": 1.75})


def test_twice_the_ports_never_take_longer():
    more = cluster_wires(GPUS["h100"], 64, 8, 16, 400 * Gbit, 3 * MICRO)
    for name in ("ring", "tree", "hierarchical", "in_network"):
        assert all_reduce_time(more, name, SIZE) <= all_reduce_time(NODES, name, SIZE)
