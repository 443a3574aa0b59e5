"""Collectives on a topology: closed forms where nothing is in the way, and what gets in the way."""

from dataclasses import replace

import pytest

from engine.core import registry
from engine.formulas.communication import (
    in_network_all_reduce_time,
    ring_all_reduce_time,
    star_all_reduce_time,
)
from engine.formulas.hierarchy import hierarchical_all_reduce_time
from engine.simulate.collectives.cluster_collectives import (
    ClusterLayout,
    copy_to_rails,
    halving_doubling_all_reduce,
    hierarchical_all_reduce,
    in_switch_all_reduce,
    ring_all_reduce,
    tree_all_reduce,
)
from engine.simulate.collectives.collective_comparison import (
    direct_all_to_all,
    star_all_reduce,
    two_level_all_to_all,
)
from engine.simulate.collectives.collective_execution import run_collective
from engine.simulate.collectives.collective_time import (
    message_phase,
    simulate_phases,
    time_phases,
    trace_phases,
)
from engine.simulate.collectives.collective_trace import port_bytes
from engine.simulate.collectives.flow_aggregation import aggregate_flows
from engine.simulate.network.topology import Topology, route
from tests.each import each
from tests.engine.collectives.runs import synchronous_time as trace_time

SIZE, ALPHA = 14e9, 5e-6
ALL_REDUCES = (
    ring_all_reduce,
    hierarchical_all_reduce,
    halving_doubling_all_reduce,
    tree_all_reduce,
    in_switch_all_reduce,
    star_all_reduce,
)
EVERY = (*ALL_REDUCES, direct_all_to_all, two_level_all_to_all)
ALGORITHMS = each("algorithm", EVERY)
NAMES = registry.module_names("engine.collectives")


def cluster(world_size=64, scattered=False, rail_shift=0, **changes):
    topology = Topology(**({"world_size": world_size, "nodes_per_group": 4} | changes))
    return ClusterLayout(topology=topology, scattered=scattered, rail_shift=rail_shift)


def result(algorithm, where, size=SIZE):
    plan = algorithm(where)
    return time_phases(plan, simulate_phases(plan), size)


def took(algorithm, where, size=SIZE):
    return result(algorithm, where, size).time


def flat(world_size, **changes):
    """One GPU per node, one port each, all on one leaf: the world of the closed forms."""
    wires = {"gpus_per_node": 1, "ports_per_node": 1, "nodes_per_group": world_size}
    return Topology(world_size=world_size, network_latency=ALPHA, **(wires | changes))


def run_on(name, topology, size=SIZE):
    trace = run_collective(registry.module("engine.collectives", name), topology.world_size)
    plan = trace_phases(trace, topology)
    return time_phases(plan, simulate_phases(plan), size)


@each("world_size", [2, 3, 8, 16])
def test_a_ring_on_equal_ports_takes_its_closed_form(world_size):
    expected = ring_all_reduce_time(SIZE, world_size, 50e9, ALPHA)
    assert run_on("ring_all_reduce", flat(world_size)).time == pytest.approx(expected, rel=1e-12)


@each("world_size", [2, 3, 8, 16])
def test_a_star_on_equal_ports_takes_its_closed_form(world_size):
    expected = star_all_reduce_time(SIZE, world_size, 50e9, ALPHA)
    assert run_on("star_all_reduce", flat(world_size)).time == pytest.approx(expected, rel=1e-12)


@each("name", [name for name in NAMES if name != "in_network_all_reduce"])
@each("world_size", [2, 5, 8])
def test_on_equal_ports_every_collective_takes_what_its_busiest_ports_say(name, world_size):
    trace = run_collective(registry.module("engine.collectives", name), world_size)
    expected = trace_time(trace, SIZE, 50e9, ALPHA)
    # A message to another shares its sender's port with some and its receiver's with others, so
    # a round may take longer than its busiest port, but never less.
    assert run_on(name, flat(world_size)).time >= expected * (1 - 1e-12)


@each("name", NAMES)
@each("world_size", [2, 5, 8])
def test_the_links_carry_the_bytes_that_the_ports_sent(name, world_size):
    trace = run_collective(registry.module("engine.collectives", name), world_size)
    loads = run_on(name, flat(world_size)).loads
    out = [loads.get(("port_out", rank, 0), 0.0) for rank in range(world_size)]
    assert out == pytest.approx([sent for sent, _ in port_bytes(trace, -1, SIZE)])


@each("nodes", [2, 4, 8])
def test_a_ring_over_all_rails_takes_the_closed_form_of_all_ports(nodes):
    where = cluster(8 * nodes, step_latency=0.0, network_latency=0.0, climb_latency=0.0)
    expected = ring_all_reduce_time(SIZE, 8 * nodes, min(450e9, 400e9))
    assert took(ring_all_reduce, where) == pytest.approx(expected, rel=1e-12)


@each("nodes", [2, 4, 16])
def test_a_hierarchy_takes_its_closed_form(nodes):
    where = cluster(8 * nodes, network_latency=ALPHA, climb_latency=0.0)
    expected = hierarchical_all_reduce_time(SIZE, 8, nodes, 450e9, 3.4e-6, 400e9, ALPHA)
    assert took(hierarchical_all_reduce, where) == pytest.approx(expected, rel=1e-12)


def test_one_node_with_a_switch_that_adds_takes_its_closed_form():
    expected = in_network_all_reduce_time(SIZE, 8, 450e9, 3.4e-6)
    assert took(in_switch_all_reduce, cluster(8)) == pytest.approx(expected, rel=1e-12)


def test_halving_and_doubling_moves_the_bytes_of_a_hierarchy_in_fewer_steps():
    with_steps = cluster(step_latency=0.0, network_latency=0.0, climb_latency=0.0)
    assert took(halving_doubling_all_reduce, with_steps) == pytest.approx(
        took(hierarchical_all_reduce, with_steps)
    )
    assert (
        result(halving_doubling_all_reduce, cluster()).latency
        < result(hierarchical_all_reduce, cluster()).latency
    )


def test_halving_and_doubling_wants_powers_of_two():
    with pytest.raises(ValueError, match="24 GPUs in nodes of 8: both must be powers of two"):
        halving_doubling_all_reduce(cluster(24))


@each(
    "algorithm",
    [
        ring_all_reduce,
        hierarchical_all_reduce,
        halving_doubling_all_reduce,
        tree_all_reduce,
        star_all_reduce,
    ],
)
@each(
    "changes",
    [
        {},
        {"oversubscription": 7.0},
        {"pxn": False, "rail_shift": 1},
        {"rails": False},
        {"ports_per_node": 2},
        {"scattered": True, "oversubscription": 4.0},
    ],
    ids=str,
)
def test_alike_flows_taken_together_take_the_time_of_all_of_them(algorithm, changes):
    # A slow link that no message crosses makes the simulation take every message by itself.
    aside = ((("port_out", 99, 0), 0.5),)
    together, alone = cluster(**changes), cluster(**changes, slow=aside)
    assert took(algorithm, together) == pytest.approx(took(algorithm, alone), rel=1e-9)


@each("algorithm", ALL_REDUCES)
@each(
    "changes",
    [
        {},
        {"pxn": False, "rail_shift": 1, "oversubscription": 4.0},
        {"scattered": True, "ports_per_node": 2, "oversubscription": 4.0},
    ],
    ids=str,
)
def test_flows_that_cannot_be_told_apart_take_the_time_of_all_of_them(algorithm, changes):
    link = ("port_out", 1, 1)
    where = cluster(**changes, slow=((link, 0.3),))
    plan = algorithm(where)
    few = tuple(aggregate_flows(phase, [link]) for phase in plan)
    assert time_phases(few, simulate_phases(few), SIZE).time == pytest.approx(
        took(algorithm, where), rel=1e-9
    )


def test_a_slow_port_leaves_few_classes_of_flows_in_a_hierarchy():
    link = ("port_out", 1, 2)
    plan = hierarchical_all_reduce(cluster(slow=((link, 0.3),)))
    assert [len(aggregate_flows(phase, [link]).flows) for phase in plan] == [1, 3]


@each("changes", [{}, {"pxn": False}, {"rails": False}, {"ports_per_node": 2}])
@each("share", [1.0, 7.0])
def test_groups_of_an_all_to_all_take_the_time_of_all_its_messages(changes, share):
    where = cluster(**changes, oversubscription=share)
    world = where.topology.world_size
    pairs = [(s, t, 1 / world) for s in range(world) for t in range(world) if s != t]
    every = (message_phase(tuple(pairs), where.topology),)
    plan = direct_all_to_all(where)
    waits = sum(one.extra for one in plan)
    everyone = time_phases(every, simulate_phases(every), SIZE).time
    assert took(direct_all_to_all, where) == pytest.approx(everyone + waits, rel=1e-9)


def test_copies_of_a_message_are_one_on_each_rail():
    topology = cluster().topology
    found = copy_to_rails(((0, 8, 0.1),), topology, 8)
    assert {route(topology, source, target).links[1] for source, target, _ in found} == {
        ("port_out", 0, port) for port in range(8)
    }


@ALGORITHMS
def test_no_link_carries_more_than_it_can_in_the_time(algorithm):
    for changes in ({}, {"oversubscription": 7.0}, {"pxn": False}):
        plan = algorithm(cluster(**changes))
        for one, drain in zip(plan, simulate_phases(plan), strict=True):
            for link, most in one.capacity.items():
                size = sum(flow.size * flow.links.get(link, 0.0) for flow in one.flows)
                assert size <= most * max(drain.busy) * (1 + 1e-9)


@ALGORITHMS
def test_one_to_one_is_never_slower_than_seven_to_one(algorithm):
    assert took(algorithm, cluster()) <= took(algorithm, cluster(oversubscription=7.0))


@each("algorithm", ALL_REDUCES)
@each("way", ["out", "in"])
def test_a_slower_port_is_never_faster(algorithm, way):
    shares = (1.0, 0.5, 0.1)
    slow = [((f"port_{way}", 1, 2), share) for share in shares]
    times = [took(algorithm, cluster(slow=(one,))) for one in slow]
    assert times == sorted(times)


@ALGORITHMS
def test_faster_ports_are_never_slower(algorithm):
    assert took(algorithm, cluster(port=100e9)) <= took(algorithm, cluster())


def test_one_slow_port_slows_the_ring_that_uses_it():
    slow = cluster(slow=((("port_out", 1, 2), 0.25),))
    assert took(ring_all_reduce, slow) == pytest.approx(
        4 * took(ring_all_reduce, cluster()), rel=0.03
    )


def test_the_binding_link_is_the_slow_port():
    slow = cluster(slow=((("port_out", 1, 2), 0.25),))
    assert ("port_out", 1, 2) in result(ring_all_reduce, slow).bottleneck


@each("algorithm", [ring_all_reduce, hierarchical_all_reduce])
def test_on_wrong_rails_a_collective_is_slower(algorithm):
    wires = {"pxn": False, "oversubscription": 7.0}
    right, wrong = cluster(**wires), cluster(**wires, rail_shift=1)
    assert took(algorithm, wrong) > 2 * took(algorithm, right)


def test_wrong_rails_cost_latency_even_where_the_spines_carry_all():
    wires = {"pxn": False}
    assert (
        result(hierarchical_all_reduce, cluster(**wires, rail_shift=1)).latency
        > result(hierarchical_all_reduce, cluster(**wires)).latency
    )


def test_a_ring_in_the_order_of_nodes_does_not_feel_oversubscription():
    assert took(ring_all_reduce, cluster(oversubscription=4.0)) == pytest.approx(
        took(ring_all_reduce, cluster())
    )


def test_a_ring_that_jumps_between_groups_does():
    thin = {"oversubscription": 4.0, "scattered": True}
    assert took(ring_all_reduce, cluster(**thin)) > 2 * took(
        ring_all_reduce, cluster(oversubscription=4.0)
    )


def test_an_all_to_all_feels_oversubscription():
    assert took(direct_all_to_all, cluster(oversubscription=7.0)) > 2 * took(
        direct_all_to_all, cluster()
    )


def test_two_levels_send_the_same_bytes_across_nodes_in_fewer_messages():
    one, two = result(direct_all_to_all, cluster()), result(two_level_all_to_all, cluster())
    assert two.latency < one.latency
    assert two.loads[("port_out", 0)] == pytest.approx(one.loads[("port_out", 0)])


def test_without_pxn_a_direct_all_to_all_crosses_the_spines_more():
    thin = {"oversubscription": 7.0}
    assert took(direct_all_to_all, cluster(**thin, pxn=False)) > took(
        direct_all_to_all, cluster(**thin)
    )


@ALGORITHMS
def test_an_empty_buffer_takes_the_latency(algorithm):
    found = result(algorithm, cluster(), 0.0)
    assert found.time == pytest.approx(found.latency, rel=1e-12)


@ALGORITHMS
def test_a_larger_buffer_takes_longer(algorithm):
    times = [took(algorithm, cluster(), size) for size in (0.0, 1e6, 1e9, 1e12)]
    assert times == sorted(set(times))


@ALGORITHMS
def test_nobody_waits_for_the_network_in_one_node(algorithm):
    loads = result(algorithm, cluster(8)).loads
    assert {str(link[0]).partition("_")[0] for link in loads} == {"nvlink"}


@each("pxn", [True, False])
def test_no_message_of_a_ring_climbs_within_a_group(pxn):
    assert not [
        link
        for link in result(ring_all_reduce, cluster(8 * 8, pxn=pxn, nodes_per_group=8)).loads
        if str(link[0]).startswith("leaf")
    ]


def test_order_of_nodes_holds_every_node_once():
    scattered = cluster(world_size=8 * 10, scattered=True)
    assert sorted(scattered.order) == list(range(10))
    assert replace(scattered, scattered=False).order == tuple(range(10))
