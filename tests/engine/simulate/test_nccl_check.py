"""A text of NCCL against its machines: what is judged, against what, and how."""

import pytest

from engine.basis.units import GB
from engine.form.nccl_samples import SAMPLES
from engine.run.logs.nccl import read_nccl
from engine.simulate.nccl_check import Given, check_nccl, machine_of
from tests.each import each
from tests.engine.run.logs import nccl_texts as texts

NOTHING = Given()


def check(text, **given):
    return check_nccl(read_nccl(text), Given(**given))


@each(
    ("sample", "given", "verdict", "nearest"),
    [
        ("h100", {}, "expected", ""),
        ("a100", {}, "expected", ""),
        ("p4de", {"machine": "p4de"}, "expected", ""),
        # The table of the same nodes, judged against ports that they do not have.
        ("p4de", {}, "slow", "small"),
        ("broken", {}, "slow", "sockets"),
        ("log", {}, "no table", None),
    ],
)
def test_the_samples(sample, given, verdict, nearest):
    found = check(SAMPLES[sample].text, **given)
    assert found.verdict == verdict
    assert (found.alike[0].key if found.alike else None) == nearest


def test_ring_on_a_node_that_could_add_is_recognized():
    # 8 H100 with NCCL_ALGO=Ring: 367.2 GB/s for 16 GiB, 1.75 times the algorithm bandwidth.
    row = texts.ROW.replace("62648", "81874").replace("274.23", "209.83").replace("479.90", "367.2")
    found = check(texts.VERSIONED.replace(texts.ROW, row))
    assert found.verdict == "slow"
    assert found.alike[0].key == "ring"
    assert found.alike[0].bandwidth == pytest.approx(367.2 * GB, rel=0.01)


def test_wrong_values_come_before_any_bandwidth():
    row = texts.ROW.replace("479.90      0", "479.90     17")
    assert check(row).verdict == "wrong"


def test_a_small_message_says_nothing_about_the_link():
    assert check(texts.H20).verdict == "small"


def test_ranks_follow_from_two_columns():
    found = check(texts.LARGE_OF_96)
    assert (found.setting.ranks, found.setting.counted) == (96, False)
    assert found.where.group.nodes == 12


def test_the_reader_overrules_the_text():
    found = check(SAMPLES["h100"].text, ranks=4, nodes=2, machine="p5", operation="all_gather")
    assert (found.setting.ranks, found.setting.nodes) == (4, 2)
    assert (found.setting.machine, found.setting.operation) == ("p5", "all_gather")


def test_one_operation_of_a_text_is_judged():
    found = check(texts.TWO_TESTS)
    assert (found.setting.operation, len(found.rows)) == ("all_gather", 1)
    assert check(texts.TWO_TESTS, operation="reduce_scatter").rows[0].row.line == 8


def test_what_nccl_chose_stands_beside_the_row():
    row = "    33554432       8388608     float     sum      -1    199.3  168.36  294.63      0\n"
    found = check(row + texts.NEW_CHOICE)
    assert found.rows[0].chosen.algorithm == "Ring"
    assert found.rows[0].fastest == "NVLS Simple"


@each(
    ("device", "machine"),
    [
        ("NVIDIA H100 80GB HBM3", "dgx-h100"),
        ("NVIDIA H200", "dgx-h200"),
        ("NVIDIA GB200", "gb200-nvl72"),
        ("NVIDIA A100-SXM4-40GB", "dgx-a100"),
        # No machine of the table: nothing is guessed.
        ("NVIDIA H20", ""),
        ("NVIDIA GeForce RTX 4090", ""),
        ("<script>", ""),
    ],
)
def test_machines_by_the_name_of_a_gpu(device, machine):
    assert machine_of(device) == machine


def test_an_operation_without_a_model_is_not_judged():
    text = "# Collective test starting: hypercube_perf\n" + texts.ROW
    found = check(text)
    assert (found.verdict, found.plateau) == ("unjudged", 0.0)
