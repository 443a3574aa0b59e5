"""Single lines of NCCL: each says one thing, and the largest text and numbers have their limits."""

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.nccl_debug import read_nccl_debug
from engine.run.logs.nccl_environment import EnvironmentVariable
from tests.each import each

INFO = "host:1:2 [0] NCCL INFO "
CHOICE = "AllReduce: 8 Bytes -> "


def read(*lines):
    return read_nccl_debug("\n".join(lines))


def chosen(line):
    (one,) = read(line).chosen
    return one


@each(
    ("line", "key", "said"),
    [
        ("NCCL version 2.27.7+cuda12.8", "version", "2.27.7"),
        ("NCCL rank 3 nranks 16 cudaDev 0", "ranks", 16),
        ("NCCL rank 3 nRanks 16 nNodes 2 localRanks 8", "said_nodes", 2),
        ("NCCL Using network Socket", "network", "Socket"),
        ("NCCL NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB", "fabric", "RoCE"),
        ("NCCL NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB", "ports", 2),
        ("NCCL NET/IB : Using none", "ports", 0),
        ("NCCL NVLS multicast support is available on dev 0", "multicast", "available"),
        ("NCCL NVLS multicast support is not available", "multicast", "not available"),
        ("NCCL Channel 00 : 0[0] -> 1[1] via P2P/IPC", "ways", {"P2P": 1}),
        ("NCCL NCCL_ALGO set by environment to Ring", "ranks", 0),
        ("8 Bytes -> Algo 1 proto 2 time 1.0", "ranks", 0),
        ("NCCL WARN no network", "ranks", 0),
    ],
)
def test_one_line_of_each_kind_makes_a_text_of_nccl(line, key, said):
    assert getattr(read("other", line, "other"), key) == said


@each("line", ["NCCL in general", "8 Bytes -> nothing known", "via P2P", "NCCL via P2P/IPC", ""])
def test_what_says_nothing_makes_none(line):
    with pytest.raises(TextError, match="line 1: no line of NCCL is recognized"):
        read(line)


def test_a_line_that_says_nothing_changes_nothing():
    found = read(INFO + "nothing known")
    assert (found.version, found.ranks, found.said_nodes, found.nodes) == ("", 0, 0, 1)
    assert (found.network, found.fabric, found.ports, found.multicast) == ("", "", 0, "")
    assert (found.ways, found.direct, found.variables, found.chosen) == ({}, 0, (), ())
    assert (found.warnings, found.notes) == ((), ())


@each(
    ("first", "second", "key", "said"),
    [
        ("NCCL version 2.20.5", "NCCL version 2.21.5", "version", "2.20.5"),
        ("rank 0 nranks 8", "rank 0 nranks 16", "ranks", 16),
        ("rank 0 nranks 16", "rank 0 nranks 8", "ranks", 16),
        ("rank 0 nRanks 8 nNodes 1", "rank 0 nRanks 16 nNodes 2", "said_nodes", 2),
        ("rank 0 nRanks 16 nNodes 2", "rank 0 nRanks 8 nNodes 1", "said_nodes", 2),
        ("rank 0 nRanks 16 nNodes 2", "rank 0 nRanks 16 nNodes 4", "said_nodes", 4),
        ("rank 0 nRanks 16 nNodes 2", "rank 0 nranks 16", "said_nodes", 2),
        ("Using network IB", "Using network Socket", "network", "Socket"),
        (
            "NET/IB : Using [0]a:1/IB [1]b:1/IB",
            "NET/IB : Using [0]a:1/RoCE",
            "fabric",
            "IB",
        ),
        ("NET/IB : Using [0]a:1/IB [1]b:1/IB", "NET/IB : Using [0]a:1/IB", "ports", 2),
        ("NET/IB : Using none", "NET/IB : Using [0]a:1/IB", "fabric", "IB"),
        (
            "NVLS multicast support is not available",
            "NVLS multicast support is available",
            "multicast",
            "not available",
        ),
    ],
)
def test_of_two_lines_the_first_the_last_or_the_largest_counts(first, second, key, said):
    assert getattr(read(INFO + first, INFO + second), key) == said


@each(
    ("line", "ways", "direct"),
    [
        ("Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA", {"NET/IB": 2}, 2),
        ("Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0", {"NET/IB": 2}, 0),
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/GDRDMA", {"P2P": 2}, 0),
        ("Connected via NET/IB/0/GDRDMA", {}, 0),
    ],
)
def test_channels_are_counted_by_their_way_and_direct_ones_apart(line, ways, direct):
    found = read(INFO + line, INFO + line)
    assert (found.ways, found.direct) == (ways, direct)


def test_hosts_are_counted_once():
    assert read(INFO + "a", INFO + "b", INFO.replace("host", "other") + "a").nodes == 2


@each(("low", "high", "channels"), [(0, 31, 32), (4, 7, 4), (3, 3, 1), (5, 4, 0), (9, 0, 0)])
def test_channels_are_counted_with_both_ends(low, high, channels):
    one = chosen(f"{CHOICE}Algo NVLS proto LL128 channel{{Lo..Hi}}={{{low}..{high}}}")
    assert (one.algorithm, one.protocol, one.channels, one.time) == ("NVLS", "LL128", channels, 0)


@each(
    ("algorithm", "protocol", "named"),
    [(0, 0, ("Tree", "LL")), (6, 2, ("PAT", "Simple")), (1, 1, ("Ring", "LL128"))],
)
def test_numbers_of_algorithms_and_protocols_are_those_of_nccl(algorithm, protocol, named):
    one = chosen(f"{CHOICE}Algo {algorithm} proto {protocol} time 2.5")
    assert (one.algorithm, one.protocol) == named
    assert one.time == pytest.approx(2.5e-6)
    assert (one.line, one.operation, one.size, one.channels) == (1, "all_reduce", 8.0, 0)


@each(("algorithm", "protocol"), [(7, 0), (0, 3), (7, 3)])
def test_a_number_of_none_of_them_is_noted(algorithm, protocol):
    found = read(INFO, f"{INFO}{CHOICE}Algo {algorithm} proto {protocol} time 2.5")
    assert found.chosen == ()
    (note,) = found.notes
    shown = f"Algo {algorithm} proto {protocol} time 2.5"[:20]
    assert (note.line, note.reason) == (2, f"a choice of NCCL in no known form: '{shown}'")


@each(
    ("written", "time"),
    [("12", 12e-6), ("999999999999", 0.999999999999e6), ("1000000000000", 0), ("1.2.3", 0)],
)
def test_a_time_of_more_than_twelve_digits_is_none(written, time):
    assert chosen(f"{CHOICE}Algo 1 proto 2 time {written}").time == pytest.approx(time)


def test_a_kernel_of_no_algorithm_is_named_by_its_kind():
    assert chosen("AllReduce [Symmetric]: 8 Bytes -> Kernel X").algorithm == "symmetric kernel"
    assert chosen("AllReduce: 8 Bytes -> cudaMemcpy").algorithm == "other kernel"
    assert chosen("8 Bytes -> cudaMemcpy").operation == ""


def test_a_variable_is_kept_as_it_is_set_first():
    line = INFO + "NCCL_ALGO set by environment to {}."
    found = read(line.format("Ring"), line.format("Tree"))
    assert found.variables == (EnvironmentVariable(line=1, name="NCCL_ALGO", value="Ring"),)


def test_two_hundred_variables_are_kept():
    found = read(*(f"{INFO}NCCL_V{n:03} set by environment to 1" for n in range(1, 202)))
    assert len(found.variables) == 200
    assert (found.variables[0].name, found.variables[-1].name) == ("NCCL_V001", "NCCL_V200")


def test_five_thousand_choices_are_kept():
    found = read(*["8 Bytes -> Algo 1 proto 2 time 1.0"] * 5001)
    assert len(found.chosen) == found.chosen[-1].line == 5000


def test_names_and_warnings_are_cut_and_printed():
    assert read(INFO + "Using network " + "x" * 41).network == "x" * 40
    (warning,) = read(INFO, "NCCL WARN " + "a\x07" + "b" * 119).warnings
    assert (warning.line, warning.reason) == (2, "a?" + "b" * 118)


def test_a_line_has_a_thousand_characters_and_a_text_a_million():
    line = "NCCL version 2.20.5"
    assert read(" " * (1000 - len(line)) + line).version == "2.20.5"
    with pytest.raises(TextError, match="no line of NCCL"):
        read(" " * 1000 + line)
    text = line + "x" * (1_000_000 - len(line))
    assert read(text).version == "2.20.5"
    with pytest.raises(TextError, match="line 1: 1,000,001 characters; allowed: at most 1,000,000"):
        read(text + "x")
