"""Fabrics, flows and pauses as the pages tell them: hand-counted numbers, and what must not be."""

import pytest

from engine.calculator import load
from engine.catalog.published_fabrics import PUBLISHED_FABRICS
from engine.run.networks import NETWORKS
from engine.simulate.network.fabric_design import FabricPlan, design_fabric
from tests.each import each
from tests.engine.calculators.asked import solved, views


@each("one", PUBLISHED_FABRICS)
def test_every_printed_fabric_is_counted_as_printed(one):
    plan = FabricPlan(num_nodes=one.num_nodes, ports_per_node=8, port=one.port, radix=one.radix)
    found = design_fabric(plan)
    assert (found.leaves, found.spines, found.cores) == (one.leaves, one.spines, one.cores)
    assert found.to_spines + found.to_cores == one.cables


def test_a_node_sends_nearly_as_much_as_one_nvlink():
    found = solved("fabric_builder")
    assert (found.egress, found.nvlink) == (400e9, 450e9)


def test_everybody_is_reached():
    for changes in ({}, {"num_nodes": 512}, {"rails": False}, {"pxn": False}, {"num_nodes": 1}):
        found = solved("fabric_builder", **changes)
        assert sum(found.reach.values()) == found.gpus - 1


@each("pattern", ("all_to_all", "halves"))
def test_a_narrower_middle_is_cheaper_and_slower(pattern):
    found = [
        solved("fabric_builder", num_nodes=512, pattern=pattern, oversubscription=over)
        for over in (1.0, 3.0, 7.0)
    ]
    costs, times = [one.cost for one in found], [one.time for one in found]
    assert costs == sorted(costs, reverse=True)
    assert times == sorted(times)
    assert found[0].kept == 1


def test_what_cannot_be_built_is_replaced_and_said():
    found = solved("fabric_builder", num_nodes=2048, radix="32")
    assert found.nodes == 1024
    assert "three tiers of this radix take 512" in found.built.changes[0]
    rack = solved("fabric_builder", machine="gb200-nvl72", rails=False)
    assert rack.built.fabric.plan.rails
    assert "do not fit in a leaf" in rack.built.changes[0]


def test_a_rail_and_pxn_spare_the_spines():
    assert solved("rail_path", place=0).switches == 1
    assert solved("rail_path", place=5).switches == 1
    assert solved("rail_path", place=5, pxn=False).switches == 3
    assert solved("rail_path", place=0, where="far").switches == 3
    assert [solved("rail_path", pxn=on).reached for on in (True, False)] == [248, 31]


@each("preset", ("", *load("rail_path").presets))
def test_the_scene_of_a_message_ends_where_it_arrives(preset):
    changes = load("rail_path").presets.get(preset, {})
    scene = views("rail_path", **changes)["scene"]
    captions = [str(frame.caption) for frame in scene.frames]
    assert captions[-1].endswith("arrived.")
    climbs = solved("rail_path", **changes).switches == 3
    assert any("climbs" in words for words in captions) == climbs


def test_three_to_one_costs_a_sixth_if_a_tenth_waits():
    found = solved("oversubscription_map")
    assert found.lost == pytest.approx(1 / 6)
    assert found.half_at == 0.5


@each("over, share", [(1.0, 1.0), (1.5, 1.0), (2.0, 1.0), (5.0, 0.25)])
def test_half_of_the_speed_is_lost_when_the_waiting_share_is_as_long_again_as_the_step(over, share):
    # A share f takes f (over - 1) longer: a whole step for 5:1 and a quarter. No more can wait
    # than all of a step, so that up to 2:1 the whole of it is the answer.
    assert solved("oversubscription_map", oversubscription=over).half_at == share


def test_hashing_is_worst_and_spraying_best():
    slow = [solved("flow_tails", routing=name).slow for name in ("ecmp", "adaptive", "spray")]
    assert slow[0] > 3 * slow[1]
    assert slow[1] >= slow[2]


def test_late_flows_are_in_nearly_every_step():
    late = {"routing": "spray", "leaves": 128, "delayed": 0.001, "delay": 5.0}
    found = solved("flow_tails", **late)
    assert found.tail < 2
    assert found.slow > 4.5


def test_marks_free_the_victim():
    assert solved("pause_lab").victim < 0.3
    assert solved("pause_lab", control="ecn").victim > 0.95


def test_the_same_network_twice_makes_no_difference():
    found = solved("fabric_compare", second="ib-400")
    assert found.slower == 1
    assert found.break_even == pytest.approx(2 / 3600)


@each("key", tuple(NETWORKS))
def test_no_network_is_faster_than_infiniband_with_as_many_bytes(key):
    one = NETWORKS[key].node
    rate = one.nics_per_node * one.nic_bandwidth
    if rate <= 400e9:
        assert solved("fabric_compare", second=key).slower >= 1


def test_late_messages_count_only_what_waits():
    found = solved("fabric_compare", second="ib-400", second_wait=2.0)
    step = found.steps[1]
    assert found.second_step == pytest.approx(step.total + step.exposed)
    assert found.second_step > found.first_step


@each("over, share", [(3.0, 0.1), (7.0, 0.02), (1.0, 0.6)])
def test_the_reader_s_place_on_the_map_of_oversubscription_is_framed(over, share):
    found = views("oversubscription_map", oversubscription=over, exposed=share)["map"]
    (own,) = found.points
    assert own.y + 1 == over
    assert own.x * 0.1 == pytest.approx(share)
    if own.x == pytest.approx(round(own.x)):
        kept = own.label.numbers["kept"][0]
        assert kept == pytest.approx(found.values[int(own.y)][round(own.x)])
