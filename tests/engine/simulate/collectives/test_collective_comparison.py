"""Algorithms side by side on a cluster, against closed forms."""

from dataclasses import replace

import pytest

from engine.core.units import GB
from engine.formulas.communication import ring_bytes_sent
from engine.simulate.collectives.cluster_collectives import ClusterLayout
from engine.simulate.collectives.collective_comparison import (
    compare_algorithms,
    link_utilization,
    with_full_nodes,
    with_slow_port,
)
from engine.simulate.network.topology import Topology

NODES = Topology(
    world_size=64,
    gpus_per_node=8,
    ports_per_node=8,
    step_latency=0.0,
    network_latency=0.0,
    climb_latency=0.0,
)
SIZE = 14 * GB


def test_eight_rings_share_the_bytes_over_eight_ports():
    # 2 * 63/64 * 14 GB over eight ports of 50 GB/s: 68.9 ms.
    ring = compare_algorithms("all_reduce", ClusterLayout(topology=NODES), SIZE)["ring"]
    assert ring.timed.time == pytest.approx(ring_bytes_sent(SIZE, 64) / 400e9)


def test_a_hierarchy_takes_both_tiers_one_after_the_other():
    # 2 * 7/8 * 14 GB at 450 GB/s, and 2 * 7/8 * 1.75 GB at 50 GB/s.
    one = compare_algorithms("all_reduce", ClusterLayout(topology=NODES), SIZE)["hierarchical"]
    assert one.timed.time == pytest.approx(24.5 / 450 + 3.0625 / 50)
    assert sum(step.time for step in one.steps) == pytest.approx(one.timed.time)
    assert one.rounds == 2 * 7 + 2 * 7


def test_the_port_of_a_ring_is_full_all_the_time():
    ring = compare_algorithms("all_reduce", ClusterLayout(topology=NODES), SIZE)["ring"]
    shares = link_utilization(ring, SIZE)
    assert (shares["port"], shares["leaf"]) == (pytest.approx(1.0), 0.0)
    assert set(ring.waits_for) == {"port"}


def test_halving_and_doubling_is_missing_without_a_power_of_two():
    odd = ClusterLayout(topology=replace(NODES, world_size=24))
    assert "halving_doubling" not in compare_algorithms("all_reduce", odd, SIZE)


def test_only_full_nodes_are_simulated():
    found = with_full_nodes(replace(NODES, world_size=100, ports_per_node=6))
    assert (found.world_size, found.ports_per_node) == (96, 4)


def test_a_slow_port_needs_a_second_node():
    assert with_slow_port(replace(NODES, world_size=8), 0.25).slow == ()
    assert with_slow_port(NODES, 0.25).slow == ((("port_out", 1, 2), 0.25),)
