"""A text of NCCL against its machines: what is judged, against what, and how."""

import pytest

from engine.core.units import GB
from engine.form.nccl_samples import SAMPLES
from engine.run.logs.nccl import read_nccl
from engine.simulate.collectives.nccl_check import check_nccl
from engine.simulate.collectives.nccl_setting import NcclInputs, machine_of
from tests.each import each
from tests.engine.run.logs import nccl_texts as texts

NOTHING = NcclInputs()


def check(text, **given):
    return check_nccl(read_nccl(text), NcclInputs(**given))


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
    assert check(texts.H20, machine="dgx-h100").verdict == "small"


def test_ranks_follow_from_two_columns():
    found = check(texts.LARGE_OF_96, machine="dgx-h100")
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
    found = check(row + texts.NEW_CHOICE, machine="dgx-h100")
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
        ("NVIDIA GH200 480GB", ""),
        ("NVIDIA H100 NVL", ""),
        ("NVIDIA H200 NVL", ""),
        ("NVIDIA H800 PCIe", ""),
        ("NVIDIA A100 80GB PCIe", ""),
        ("NVIDIA A100-PCIE-40GB", ""),
        ("NVIDIA L40S", ""),
        ("NVIDIA GB10", ""),
        ("NVIDIA B200", "dgx-b200"),
        ("AMD Instinct MI300X", "mi300x"),
        ("NVIDIA GeForce RTX 4090", ""),
        ("<script>", ""),
    ],
)
def test_machines_by_the_name_of_a_gpu(device, machine):
    assert machine_of(device) == machine


def test_an_operation_without_a_model_is_not_judged():
    text = "# Collective test starting: hypercube_perf\n" + texts.ROW
    found = check(text, machine="dgx-h100")
    assert (found.verdict, found.plateau) == ("unjudged", 0.0)


def test_a_log_of_one_host_is_of_as_many_nodes_as_its_ranks_need():
    line = "gpu01:1:101 [0] NCCL INFO comm 0x1 rank 0 nranks 32 cudaDev 0 busId 1b000 commId 0x2"
    setting = check(line, machine="dgx-h100").setting
    assert (setting.ranks, setting.nodes) == (32, 4)


def test_nodes_that_nccl_counts_are_taken():
    # As NCCL 2.21 and later print it (src/init.cc).
    line = "a1:1:101 [0] NCCL INFO comm 0x1 rank 0 nRanks 64 nNodes 16 localRanks 4 localRank 0"
    setting = check(line + " MNNVL 0").setting
    assert (setting.ranks, setting.nodes) == (64, 16)


def test_a_list_of_ranks_that_was_cut_gives_way_to_the_columns():
    rank = "#  Rank  0 Group  0 Pid 1 on a1 device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
    setting = check(rank + rank.replace("Rank  0", "Rank  1") + texts.ROW).setting
    assert (setting.ranks, setting.nodes) == (8, 0)  # 479.90/274.23 = 2 x 7/8
    assert not setting.counted


def test_a_table_cut_down_to_times_and_bandwidths_is_read():
    text = "#  size   time   algbw   busbw\n  8589934592  31310.0  274.35  480.11\n"
    found = check(text, machine="dgx-h100")
    assert found.verdict == "expected"
    assert found.setting.ranks == 8
    # Size over time is 27.4 GB/s: no row of a table.
    with pytest.raises(ValueError, match="no row of nccl-tests is recognized"):
        check("8589934592  313100.0  274.35  480.11\n")


def test_tables_that_are_not_judged_are_named():
    text = "# Collective test starting: {}_perf\n" + texts.ROW + "\n"
    both = text.format("all_reduce") + text.format("all_gather")
    assert check(both).others == ("all_gather",)
    assert check(both, operation="all_gather").others == ("all_reduce",)
    assert check(texts.ROW).others == ()
