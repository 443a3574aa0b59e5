"""What is said of tables whose machine is unknown, forced, broken or in doubt."""

import math

import pytest

from engine.calculators.moving_bytes.nccl_log.calculator import Inputs, solve
from engine.calculators.moving_bytes.nccl_log.verdict import verdict
from engine.core.text import render_text
from engine.core.units import GB
from tests.each import each

ROW = "  {size}  {count}  float  {redop}  -1  {time:.1f}  {alg:.2f}  {bus:.2f}  0\n"
RANK = "#  Rank {rank:2d} Group  0 Pid  1 on {host} device  {at} [0x01] {device}\n"
EIGHT_GIB = 8 * 2**30


def table(device, bus, ranks=8, per_host=8, size=EIGHT_GIB, host="node-{}", factor=None):
    """Return a table of one all-reduce; `bus` in GB/s."""
    alg = bus / (factor or 2 * (ranks - 1) / ranks)
    head = "# Collective test starting: all_reduce_perf\n" + "".join(
        RANK.format(
            rank=rank, host=host.format(rank // per_host), at=rank % per_host, device=device
        )
        for rank in range(ranks)
    )
    time = size / alg / 1e3
    row = ROW.format(size=size, count=size // 4, redop="sum", time=time, alg=alg, bus=bus)
    return head + row


def said(text, **given):
    """Return title and sentence of the verdict."""
    badge = verdict(solve(Inputs(log=text, **given)))
    return badge.text, render_text(badge.sentence)


# CoreWeave's full rack, as published (nccl-tests, pull request 43); the second is out of place.
@each(("bus", "title"), [(834.57, "As expected"), (846.82, "As expected"), (169.8, "Slow")])
def test_a_rack_of_72_is_one_domain(bus, title):
    text = table("NVIDIA GB200", bus, ranks=72, per_host=4)
    assert said(text)[0] == title
    # So it is if the reader counts the rack, and so are 16 of its hosts.
    assert said(text, nodes=1)[0] == title
    assert said(table("NVIDIA GB200", bus, ranks=64, per_host=4))[0] == title


def test_a_rack_that_fell_back_to_its_network_is_told_so():
    text = table("NVIDIA GB200", 169.8, ranks=72, per_host=4)
    assert "the network between the hosts of a rack instead of its NVLink" in said(text)[1]
    log = "h1:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 72 nNodes 18 localRanks 4 MNNVL 0\n"
    assert "not its NVLink (MNNVL 0)" in said(text + log)[1]


def test_a_rack_without_cumem_is_told_why():
    # NCCL gives up on MNNVL without a line (mnnvl.cc).
    text = table("NVIDIA GB200", 169.8, ranks=72, per_host=4)
    log = "h1:1:1 [0] NCCL INFO NCCL_CUMEM_ENABLE set by environment to 0.\n"
    sentence = said(text + log)[1]
    assert "cuMem, which NVLink between hosts needs (NCCL_CUMEM_ENABLE=0)" in sentence
    assert "IMEX" not in sentence
    rank = "h1:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 72 nNodes 18 localRanks 4 MNNVL {}\n"
    assert "cuMem" not in said(text + log + rank.format(1))[1]
    assert "nvidia-imex-ctl -N" in said(text + rank.format(0))[1]


def test_a_warning_of_imex_is_explained():
    log = (
        "h1:1:1 [0] NCCL WARN MNNVL (cliqueSize 72) is available but not working on this system. "
        "Check the IMEX channel configuration (/dev/nvidia-caps-imex-channels).\n"
    )
    assert "a container needs its channel" in said(log)[1]


def test_sockets_on_a_machine_with_efa_name_the_plug_in():
    log = (
        "ip-1:1:1 [0] NCCL INFO Using network Socket\n"
        "ip-1:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8\n"
    )
    assert "aws-ofi-nccl" in said(log, machine="p5")[1]
    assert "aws-ofi-nccl" not in said(log, machine="dgx-h100")[1]


def test_two_racks_are_two_domains():
    solved = solve(Inputs(log=table("NVIDIA GB200", 170.0, ranks=144, per_host=4)))
    assert (solved.check.setting.hosts, solved.nodes) == (36, 2)
    # One GPU of each host: 36 hosts are in two racks as well.
    solved = solve(Inputs(log=table("NVIDIA GB200", 40.0, ranks=36, per_host=1)))
    assert solved.nodes == 2


@each(
    "device",
    [
        "NVIDIA Some New GPU",
        "NVIDIA GeForce RTX 4090",
        "NVIDIA L40S",
        "Tesla V100-SXM2-32GB",
        "Tesla V100-PCIE-16GB",
        "NVIDIA A100 80GB PCIe",
        "NVIDIA H100 PCIe",
        "NVIDIA H100 NVL",
        "NVIDIA H20",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "NVIDIA GH200 480GB",
        "NVIDIA GB10",
        "NVIDIA Graphics Device",
        "NVIDIA A100-SXM-64GB",
    ],
)
def test_a_gpu_without_an_expectation_gets_no_verdict(device):
    title, sentence = said(table(device, 12.1))
    assert (title, device in sentence) == ("Cannot say", True)
    # The reader may know better.
    assert said(table(device, 480.0), machine="dgx-h100")[0] == "As expected"


def test_a_text_without_a_gpu_gets_no_verdict():
    row = table("", 365.75, ranks=8).splitlines()[-1]
    title, sentence = said(row)
    assert (title, "names no GPU" in sentence) == ("Cannot say", True)
    solved = solve(Inputs(log=row))
    assert math.isnan(solved.expected)
    assert math.isnan(solved.line)
    assert solved.bus_bandwidth == pytest.approx(365.75 * GB)


def test_what_was_published_of_such_gpus_stands_beside_them():
    sentence = said(table("NVIDIA H100 PCIe", 116.0, ranks=2))[1]
    assert "an NVLink bridge, were reported with 116 GB/s" in sentence
    assert "reported" not in said(table("NVIDIA H100 PCIe", 40.0, ranks=8))[1]


def test_several_gpus_in_one_text_get_no_verdict():
    both = table("NVIDIA H100 80GB HBM3", 470.0, ranks=4)
    text = RANK.format(rank=4, host="b", at=0, device="NVIDIA A100-SXM4-80GB") + both
    title, sentence = said(text)
    assert (title, "several GPUs" in sentence) == ("Cannot say", True)


@each(
    ("command", "words"),
    [
        ("mpirun -x NCCL_ALGO=Ring -np 8 ./all_reduce_perf", "You forced the ring"),
        ("NCCL_ALGO=Ring ./all_reduce_perf -g 8", "You forced the ring"),
        ("env NCCL_ALGO=RING ./all_reduce_perf -g 8", "You forced the ring"),
        ("export NCCL_ALGO=allreduce:ring", "You forced the ring"),
        ("mpiexec -genv NCCL_ALGO ring -n 8 ./all_reduce_perf", "You forced the ring"),
        ("srun --export=ALL,NCCL_NVLS_ENABLE=0 ./all", "You turned sums in the NVSwitch off"),
        ("NCCL_ALGO=^NVLS ./all_reduce_perf", "You left out nvls"),
    ],
)
def test_a_forced_ring_is_as_set(command, words):
    title, sentence = said(command + "\n" + table("NVIDIA H100 80GB HBM3", 365.75))
    assert (title, words in sentence) == ("As you set it", True)


def test_a_forced_ring_that_is_slower_still_is_slow():
    text = "NCCL_ALGO=Ring ./all\n" + table("NVIDIA H100 80GB HBM3", 150.0)
    title, sentence = said(text)
    assert (title, "NCCL_ALGO=Ring, line 1" in sentence) == ("Slow", True)


def test_both_variables_of_a_command_are_named():
    text = "mpirun -x NCCL_ALGO=Ring -x NCCL_P2P_DISABLE=1 ./all_reduce_perf\n"
    sentence = said(text + table("NVIDIA H100 80GB HBM3", 365.75))[1]
    assert "NCCL_ALGO=Ring" in sentence
    assert "NCCL_P2P_DISABLE=1" in sentence


def test_a_suspect_is_faster_than_what_was_measured():
    for bus in (116.0, 300.0, 60.0):
        found = solve(Inputs(log=table("NVIDIA H100 80GB HBM3", bus))).check
        assert all(own.bandwidth > 0.85 * bus * GB for own in found.alike)


def test_rows_in_doubt_give_no_verdict():
    # All four rows of a table of 2019 whose sizes are those of all ranks.
    row = "{} {} float 100.0 {:.2f} {:.2f} 0e+00 90.0 2.0 2.0 0e+00\n"
    rows = "".join(row.format(2**p, 2 ** (p - 3), 2**p / 2e5, 2**p / 2e5) for p in range(26, 30))
    title, sentence = said(rows, machine="dgx-h100")
    assert (title, "contradicts itself" in sentence) == ("Cannot say", True)


def test_one_row_in_doubt_leaves_the_others():
    good = table("NVIDIA H100 80GB HBM3", 470.0)
    bad = good.splitlines()[-1].replace(str(EIGHT_GIB), str(2 * EIGHT_GIB))
    assert said(good + bad)[0] == "As expected"


def test_a_host_with_a_blank_in_its_name_is_read():
    text = table("NVIDIA H100 80GB HBM3", 479.0, host="NODE A{}")
    solved = solve(Inputs(log=text))
    assert (solved.ranks, solved.nodes, said(text)[0]) == (8, 1, "As expected")


def test_an_all_reduce_of_two_is_no_broadcast():
    text = table("NVIDIA H100 PCIe", 24.0, ranks=2).partition("\n")[2]
    assert solve(Inputs(log=text)).check.setting.operation == "all_reduce"


def test_two_tables_of_two_groups_get_no_verdict():
    both = table("NVIDIA H100 80GB HBM3", 470.0) + table("NVIDIA H100 80GB HBM3", 430.0, ranks=16)
    title, sentence = said(both)
    assert (title, "several numbers of GPUs" in sentence) == ("Cannot say", True)


def test_a_split_communicator_gets_no_verdict():
    # 16 ranks are listed, and the columns are those of 8.
    text = table("NVIDIA H100 80GB HBM3", 470.0, ranks=16, factor=1.75)
    assert said(text)[0] == "Cannot say"
    assert said(text, ranks=8, nodes=1)[0] == "As expected"


LOG = "gpu1:1:9 [0] NCCL INFO "
BROKEN_LOG = (
    f"{LOG}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB\n"
    f"{LOG}Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0\n"
    f"{LOG}Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1\n"
    f"{LOG}Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
    f"{LOG}NVLS multicast support is not available on dev 0\n"
    f"gpu1:1:9 [0] misc/nvmlwrap.cc:120 NCCL WARN something is odd\n"
    f"{LOG}comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n"
)
FAULTS = (
    "4 of the 8 ports",
    "0 of the 2 channels",
    "memory of the host (SHM)",
    "NVLS is not available",
    "something is odd",
)


def test_every_fault_of_a_log_is_listed():
    title, sentence = said(BROKEN_LOG, machine="dgx-h100")
    assert title == "Faults in the log"
    assert [words for words in FAULTS if words not in sentence] == []


def test_a_log_without_a_machine_promises_no_bandwidth():
    title, sentence = said(BROKEN_LOG)
    assert title == "Faults in the log"
    assert "GB/s" not in sentence
    assert "Choose the machines" in sentence


def test_faults_of_a_log_stand_beside_its_table():
    text = BROKEN_LOG + table("NVIDIA H100 80GB HBM3", 100.0, ranks=16)
    title, sentence = said(text)
    assert title == "Slow"
    assert [words for words in FAULTS if words not in sentence] == []


def test_amazons_plug_in_names_the_machine():
    # As of aws-ofi-nccl 1.1 and 1.11 (its issues 64, 65 and 715).
    old = "ip-1:1:1 [0] NCCL INFO NET/OFI Running on P4d platform, Setting NCCL_TOPO_FILE\n"
    new = "ip-1:1:1 [0] NCCL INFO NET/OFI Running on p5.48xlarge platform, Setting NCCL_TOPO_FILE\n"
    assert solve(Inputs(log=old)).check.setting.machine == "p4d"
    assert solve(Inputs(log=new)).check.setting.machine == "p5"
    log = new + table("NVIDIA H100 80GB HBM3", 480.0, ranks=16)
    assert solve(Inputs(log=log)).check.setting.machine == "p5"
    assert solve(Inputs(log=log, machine="dgx-h100")).check.setting.machine == "dgx-h100"


def test_a_p4d_without_gpudirect_expects_what_a_p4d_reaches():
    log = (
        "ip-1:1:1 [0] NCCL INFO NET/OFI Running on P4d platform, Setting NCCL_TOPO_FILE\n"
        "ip-1:1:1 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)\n"
        "ip-1:1:1 [0] NCCL INFO Channel 00 : 8[101c0] -> 0[101c0] [receive] via "
        "NET/AWS Libfabric/0\n"
        "ip-1:1:1 [0] NCCL INFO comm 0x7f rank 0 nranks 16 cudaDev 0 busId 101c0 - Init COMPLETE\n"
    )
    title, sentence = said(log)
    assert title == "Faults in the log"
    assert "GPUDirect RDMA carries 0 of the 1 channels" in sentence
    assert "ports" not in sentence
    assert solve(Inputs(log=log)).check.plateau < 100 * GB


def test_wrong_values_of_the_test_in_place_count():
    rows = "8589934592 2147483648 float sum -1 31316 274.30 480.03 0 31316 274.30 480.03 {}\n"
    assert said(rows.format(5))[0] == "Wrong results"
    assert said(rows.format(0))[0] == "Cannot say"


def test_a_row_without_columns_of_wrong_values_has_none():
    row = "8589934592 2147483648 float sum -1 31316 274.30 480.03 31316 274.30 480.03\n"
    assert said(row)[0] == "Cannot say"


def test_a_part_of_a_gpu_has_no_verdict():
    title, sentence = said(table("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 20.0))
    assert title == "Cannot say"
    assert "a part of a GPU has no NVLink" in sentence


def test_a_fault_that_explains_nothing_is_not_the_closest_match():
    title, sentence = said(table("NVIDIA GB200", 90.0, ranks=8))
    assert title == "Slow"
    assert "closest match" not in sentence


# As in NCCL's issues 226, 952 and 1405.
SOCKETS = (
    "ip-1:1:1 [0] NCCL INFO NET/IB : No device found.\n"
    "ip-2:1:1 [0] NCCL INFO NET/Socket : Using [0]ens3:172.31.12.210<0>\n"
)
CHANNELS = "<name>:926:1151 [7] NCCL INFO Channel 03/0 : 15[7] -> 6[6] [send] via NET/Socket/3\n"
COMPLETION = (
    "w-0:3468:3905 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer "
    "10.216.210.236<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n"
)


@each(
    ("log", "words"),
    [
        (SOCKETS, "uses IP sockets between the nodes"),
        (CHANNELS, "uses IP sockets between the nodes"),
        (COMPLETION, "Status 12: a port was asked again and again"),
    ],
)
def test_faults_of_public_logs(log, words):
    title, sentence = said(log)
    assert title == "Faults in the log"
    assert words in sentence
