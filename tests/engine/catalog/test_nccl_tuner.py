"""The regions of Amazon's tuner, at points that its source names."""

import pytest

from engine.catalog.nccl_tuner import tuner_choice
from engine.core.units import GiB, MiB

ALL = ("Tree LL", "Tree LL128", "Tree Simple", "Ring LL128", "Ring Simple", "NVLSTree Simple")


def of(tuner, size, ranks, nodes, among=ALL, operation="all_reduce"):
    return tuner_choice(tuner, operation, size, ranks, nodes, among)


@pytest.mark.parametrize(
    ("size", "nodes", "name"),
    [
        # nccl_ofi_regions.cpp, P5, 8 ranks per node: corners of its polygons.
        (1, 4, "Tree LL128"),
        (37748736, 4, "Tree LL128"),
        (37748737, 4, "Ring LL128"),
        (1 * GiB, 4, "Ring LL128"),
        (1610612737, 4, "Ring Simple"),
        (117440513, 8, "Ring LL128"),
        (2147483648, 16, "Ring LL128"),
        (4 * GiB, 16, "NVLSTree Simple"),
        (6442450945, 16, "Ring Simple"),
        (301989888, 32, "Tree LL128"),
        (512 * MiB, 32, "NVLSTree Simple"),
        (2147483648, 32, "Ring LL128"),
        (402653184, 512, "Tree LL128"),
        (402653185, 512, "NVLSTree Simple"),
    ],
)
def test_p5_takes_what_its_regions_name(size, nodes, name):
    assert of("efa-v2", size, 8 * nodes, nodes) == name


def test_between_corners_lines_are_straight_in_the_logarithms():
    # From 37748736 bytes at 32 ranks to 117440512 at 64: at 48 ranks, 0.585 of the way.
    limit = 37748736 * (117440512 / 37748736) ** 0.5849625
    assert of("efa-v2", 0.999 * limit, 48, 6) == "Tree LL128"
    assert of("efa-v2", 1.001 * limit, 48, 6) == "Ring LL128"


def test_one_gpu_per_node_gathers_in_pat():
    for tuner in ("efa-v3", "efa-v4"):
        found = of(tuner, 8 * MiB, 32, 32, ("PAT Simple", "Ring Simple"), "all_gather")
        assert found == "PAT Simple"


def test_without_a_region_nccl_chooses_itself():
    assert of("efa-v2", MiB, 16, 2) == ""  # the tuner leaves two nodes out
    assert of("efa-v2", MiB, 16, 4) == ""  # four GPUs of a node
    assert of("", MiB, 32, 4) == ""
    assert of("efa-v2", MiB, 32, 4, operation="all_gather") == ""


def test_what_cannot_run_is_passed_over():
    assert of("efa-v2", 4 * GiB, 128, 16, ("Ring Simple",)) == ""
