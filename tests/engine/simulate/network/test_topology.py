"""Routes through nodes, ports, rails, leaves and spines, link by link."""

import pytest

from engine.simulate.network.topology import Topology, describe_link, route

CLUSTER = Topology(world_size=1024)
KINDS_FAR = ["pcie_out", "port_out", "leaf_up", "leaf_down", "port_in", "pcie_in"]


def kinds(topology, source, target):
    return [link[0] for link in route(topology, source, target).links]


def cluster(**changes):
    return Topology(**({"world_size": 1024} | changes))


def test_two_gpus_of_a_node_meet_in_the_nvswitch():
    assert route(CLUSTER, 3, 5).links == (("nvlink_out", 3), ("nvlink_in", 5))


def test_the_same_place_of_two_nodes_meets_in_the_leaf_of_its_rail():
    assert route(CLUSTER, 3, 11).links == (
        ("pcie_out", 3),
        ("port_out", 0, 3),
        ("port_in", 1, 3),
        ("pcie_in", 11),
    )


def test_with_pxn_a_message_changes_rails_inside_the_node():
    assert route(CLUSTER, 3, 12).links == (
        ("nvlink_out", 3),
        ("nvlink_in", 4),
        ("pcie_out", 4),
        ("port_out", 0, 4),
        ("port_in", 1, 4),
        ("pcie_in", 12),
    )


def test_without_pxn_a_message_between_rails_climbs_to_the_spines():
    assert kinds(cluster(pxn=False), 3, 12) == KINDS_FAR


def test_without_rails_ports_of_neighboring_nodes_share_a_leaf():
    assert kinds(cluster(rails=False), 3, 12) == ["pcie_out", "port_out", "port_in", "pcie_in"]


def test_another_leaf_group_is_behind_the_spines():
    assert kinds(CLUSTER, 0, 32 * 8) == KINDS_FAR


def test_with_one_port_per_node_all_gpus_leave_by_it():
    topology = cluster(ports_per_node=1)
    assert {route(topology, gpu, 8).links[1] for gpu in range(8)} == {("port_out", 0, 0)}


def test_a_way_through_the_spines_takes_longer():
    near, far = route(CLUSTER, 0, 8).latency, route(CLUSTER, 0, 256).latency
    assert far == pytest.approx(near + CLUSTER.climb_latency)


def test_a_way_over_a_relay_takes_longer():
    direct, relayed = route(CLUSTER, 0, 8).latency, route(CLUSTER, 0, 9).latency
    assert relayed == pytest.approx(direct + CLUSTER.step_latency)


@pytest.mark.parametrize(("rails", "ports"), [(True, 32), (False, 256)])
def test_a_leaf_without_oversubscription_carries_all_its_ports(rails, ports):
    up = ("leaf_up", 0, 0)
    assert cluster(rails=rails).capacity(up) == ports * CLUSTER.port


def test_seven_to_one_leaves_a_seventh_above_the_leaf():
    up = ("leaf_up", 0, 0)
    thin = cluster(oversubscription=7.0)
    assert thin.capacity(up) == pytest.approx(CLUSTER.capacity(up) / 7)


def test_four_ports_of_a_gpu_are_one_port_of_four_times_the_speed():
    topology = cluster(ports_per_node=32, port=12.5e9)
    assert topology.capacity(("port_out", 0, 0)) == 50e9


def test_a_slow_link_keeps_its_share_and_its_likes_keep_all():
    topology = cluster(slow=((("port_out", 0, 3), 0.25),))
    rates = [topology.capacity(("port_out", 0, port)) for port in (3, 4)]
    assert rates == [0.25 * CLUSTER.port, CLUSTER.port]


def test_no_gpu_sends_to_itself():
    with pytest.raises(ValueError, match="GPU 4 to GPU 4: two different ones of 1024"):
        route(CLUSTER, 4, 4)


def test_a_gpu_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="GPU 0 to GPU 1024"):
        route(CLUSTER, 0, 1024)


def test_an_unknown_kind_of_link_is_named_with_those_there_are():
    with pytest.raises(LookupError, match="no link 'wire'; there are nvlink, pcie, port, leaf"):
        CLUSTER.capacity(("wire", 0))


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (("nvlink_out", 3), "NVLink of GPU 3, out"),
        (("port_in", 2, 1), "port 1 of node 2, in"),
        (("leaf_up", 0, 5), "leaf 5 of group 0, up to the spines"),
    ],
)
def test_a_link_has_a_name_in_words(link, words):
    assert describe_link(link) == words


def test_capacities_of_many_links_are_those_of_each():
    slow = ("port_out", 1, 2)
    topology = Topology(world_size=64, oversubscription=2.0, slow=((slow, 0.25),))
    links = [slow, ("port_out", 0, 2), ("nvlink_in", 3), ("pcie_out", 9), ("leaf_up", 0, 1)]
    assert topology.capacities(links) == {link: topology.capacity(link) for link in links}
    assert topology.capacities(links)[slow] == 0.25 * topology.port
