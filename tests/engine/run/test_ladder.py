"""The ladder of a node: its rungs are the datasheet's, and the ports are shared."""

import pytest

from engine.catalog.nodes import NODES
from engine.core.units import GB, TB, Gbit
from engine.run.ladder import bandwidth_ladder


def test_the_rungs_of_a_dgx_h100_are_the_datasheets():
    rungs = {rung.key: rung.bandwidth for rung in bandwidth_ladder(NODES["dgx-h100"])}
    assert rungs == {
        "memory": 3.35 * TB,
        "scale_up": 450 * GB,
        "host": 63 * GB,
        "network": 400 * Gbit,
    }


def test_four_ports_serve_eight_gpus_of_a_p4d():
    assert NODES["p4d"].network_per_gpu == 50 * Gbit


@pytest.mark.parametrize("node", NODES)
def test_every_rung_has_a_bandwidth_and_a_source(node):
    assert all(rung.bandwidth > 0 and rung.source for rung in bandwidth_ladder(NODES[node]))
