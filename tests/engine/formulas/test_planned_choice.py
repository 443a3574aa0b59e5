"""What NCCL plans, by hand from its tuning.cc."""

import pytest

from engine.catalog.transports import EFA_V2, INFINIBAND, ROCE
from engine.core.units import GB, MICRO, GiB, MiB
from engine.formulas.planned_choice import planned_all_reduces, planned_halves

PORTS = 352 * GB  # eight ports of 400 Gb/s, 0.88 of them: NCCL plans with 384
LINKS = 369 * GB


def test_a_gather_in_ll128_on_ten_nodes_of_eight():
    # 14 us, 70 steps of 1.9 and 9 of 4.0; 36.7 GB/s in each of eight channels.
    found = planned_halves(128 * MiB, 80, 10, PORTS, INFINIBAND)["Ring LL128"]
    wire = 79 / 80 * 128 * MiB / (8 * 36.7 * GB)
    assert found == pytest.approx((14 + 70 * 1.9 + 9 * 4.0) * MICRO + wire)


def test_amazon_declares_75_us_and_its_hosts_post_in_2():
    # In Simple the latency counts twice (flush), and a host posts three times.
    found = planned_halves(GiB, 64, 8, PORTS, EFA_V2)["Ring Simple"]
    wire = 63 / 64 * GiB / (384 * GB)
    assert found == pytest.approx((8.4 + 56 * 6.0 + 7 * (14 + 150)) * MICRO + wire)


@pytest.mark.parametrize(("nodes", "last"), [(2, 128), (4, 256), (8, 512)])
def test_gathers_over_efa_leave_ll128_where_the_measured_time_jumps(nodes, last):
    # EFA v2 in unseen_curves.csv: from one size to the next it more than doubles on 2 to 8 nodes.
    for size, way in ((last * MiB, "Ring LL128"), (2 * last * MiB, "Ring Simple")):
        found = planned_halves(size, 8 * nodes, nodes, PORTS, EFA_V2)
        assert min(found, key=found.__getitem__) == way


def test_behind_a_host_bridge_no_ll128_is_planned():
    assert "Ring LL128" not in planned_halves(MiB, 16, 2, PORTS, ROCE)
    assert "Tree LL128" not in planned_all_reduces(MiB, 16, 2, PORTS, ROCE, LINKS)


def test_one_gpu_per_node_has_pat():
    found = planned_halves(MiB, 64, 64, 44 * GB, INFINIBAND)["PAT Simple"]
    wire = MiB / (0.75 * 48 * GB)
    assert found == pytest.approx((8 + 6 * 14 / 3.5 + 64 * 2.8) * MICRO + wire)


def test_a_tree_of_switches_on_ten_nodes():
    # Three levels as NCCL counts them; 45.5 GB/s in each of eight channels; 80 of 158 of that.
    found = planned_all_reduces(256 * MiB, 80, 10, PORTS, INFINIBAND, LINKS)["NVLSTree Simple"]
    wire = 256 * MiB / (8 * 45.5 * GB * 80 / 158)
    assert found == pytest.approx((25 + 6 * 20.9) * MICRO + wire)


def test_from_a_tree_of_switches_to_a_ring_between_2_and_4_gib_on_ten_nodes():
    # Where all-reduces of 80 H100 fall from 337 to 314 GB/s (unseen_curves.csv).
    for size, way in ((2 * GiB, "NVLSTree Simple"), (4 * GiB, "Ring Simple")):
        found = planned_all_reduces(size, 80, 10, PORTS, INFINIBAND, LINKS)
        assert min(found, key=found.__getitem__) == way


def test_a_tree_in_ll128_on_sixteen_nodes():
    # 7 links of 1.25 and 4 levels of 8.5, twice; 29 GB/s in each channel, 0.85, half of it.
    found = planned_all_reduces(512 * MiB, 128, 16, PORTS, INFINIBAND, LINKS)["Tree LL128"]
    wire = 512 * MiB / (8 * 29 * GB * 0.85 / 2)
    assert found == pytest.approx((14 + 2 * (7 * 1.25 + 4 * 8.5)) * MICRO + wire)
