"""Traffic on a fat tree: representatives against all messages, and loads by hand."""

from dataclasses import replace

import pytest

from engine.simulate.collectives.cluster_collectives import ClusterLayout, hierarchical_all_reduce
from engine.simulate.collectives.collective_time import message_phase, simulate_phases, time_phases
from engine.simulate.collectives.fabric_flows import (
    PATTERNS,
    fabric_topology,
    fabric_traffic,
    half_exchange,
)
from engine.simulate.network.fabric_design import FabricPlan, design_fabric
from tests.each import each

SIZE = 1e9


def wires(num_nodes=64, pxn=True, gpus_per_node=8, **changes):
    plan = {"num_nodes": num_nodes, "ports_per_node": 8, "port": 50e9}
    return fabric_topology(
        design_fabric(FabricPlan(**plan | changes)), gpus_per_node, 450e9, pxn=pxn
    )


def took(topology, pattern, pair=(0, 8)):
    return fabric_traffic(pattern, topology, SIZE, pair)


@each(
    ("nodes", "changes"),
    [(2, {}), (32, {}), (33, {"oversubscription": 7.0}), (100, {}), (96, {"rails": False}),
     (100, {"oversubscription": 7.0, "ports_per_node": 2}), (7, {"radix": 32, "rails": False})],
)  # fmt: skip
def test_two_messages_stand_for_all_of_a_ring(nodes, changes):
    topology = wires(nodes, **changes)
    plan = hierarchical_all_reduce(ClusterLayout(topology=topology))
    every = time_phases(plan, simulate_phases(plan), SIZE)
    assert took(topology, "all_reduce").time == pytest.approx(every.time, rel=1e-9)


@each("nodes", (40, 64, 96, 150))
def test_two_groups_stand_for_all_halves(nodes):
    topology = wires(nodes, oversubscription=3.0)
    size, away = topology.gpus_per_node, topology.num_nodes // 2
    messages = tuple(
        (gpu, (gpu + away * size) % topology.world_size, 1.0) for gpu in range(topology.world_size)
    )
    every = message_phase(messages, topology)
    one = half_exchange(topology)
    for part in (every, one):
        assert max(simulate_phases((part,))[0].busy) > 0
    assert max(simulate_phases((one,))[0].busy) == pytest.approx(
        max(simulate_phases((every,))[0].busy), rel=1e-6
    )


def test_the_other_half_is_reached_at_the_speed_of_the_bisection():
    even, narrow = (
        took(wires(), "halves"),
        took(wires(oversubscription=7.0, num_nodes=112), "halves"),
    )
    assert even.time == pytest.approx(SIZE / 50e9, rel=1e-2)
    assert narrow.time == pytest.approx(7 * SIZE / 50e9, rel=1e-2)
    assert narrow.bottleneck == "leaf"


def test_ranks_in_order_hardly_touch_the_spines():
    found = took(wires(128), "all_reduce")
    inside, across = found.phases
    assert inside.loads["nvlink"] > 0.9
    assert across.loads["port"] > 10 * across.loads["leaf"]
    assert across.loads["leaf"] > 0


def test_an_all_reduce_loses_next_to_nothing_at_seven_to_one():
    even = took(wires(112), "all_reduce").time
    assert took(wires(112, oversubscription=7.0), "all_reduce").time < 1.05 * even


def test_an_all_to_all_loses_what_climbs():
    even = took(wires(112), "all_to_all").time
    assert took(wires(112, oversubscription=7.0), "all_to_all").time > 2 * even


@each("pattern", tuple(PATTERNS))
def test_no_link_is_more_than_full(pattern):
    for topology in (wires(1), wires(3), wires(80, oversubscription=3.0), wires(16, rails=False)):
        found = took(topology, pattern, (0, topology.world_size - 1))
        assert found.time > 0
        assert all(0 <= load <= 1 for part in found.phases for load in part.loads.values())


def test_a_rack_of_72_keeps_its_traffic_inside():
    inside = fabric_topology(
        design_fabric(FabricPlan(num_nodes=1, ports_per_node=72, port=50e9)), 72, 900e9
    )
    found = took(inside, "all_to_all")
    assert found.bottleneck == "nvlink"
    assert all(part.loads["port"] == 0 for part in found.phases)


def test_a_message_on_another_rail_climbs_only_without_pxn():
    near = wires(32)
    assert fabric_traffic("pair", near, SIZE, (0, 9)).phases[0].loads["leaf"] == 0
    far = replace(near, pxn=False)
    assert fabric_traffic("pair", far, SIZE, (0, 9)).phases[0].loads["leaf"] > 0
