"""Lines of counters that begin, go on or end a snapshot, and lines that are odd."""

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.counters import UnreadLine, read_counters, snapshot_pairs
from tests.each import each

PERF = "# Port counters: Lid 6 port 1\nPortXmitWait:....5\n"
NIC = "NIC statistics for eth0:\n     rx_pause: 3\n"
LINK = "link mlx5_0/1 sent 4 got 5\n"


def told(text):
    """Return (kind, port, wide, line, values) of each snapshot."""
    found = read_counters(text)
    assert found.odd == ()
    return [(one.kind, one.port, one.wide, one.line, one.values) for one in found.snapshots]


@each(
    ("text", "snapshots"),
    [
        (PERF, [("perfquery", "Lid 6 port 1", False, 1, {"PortXmitWait": 5})]),
        (
            PERF.replace("Port counters", "Port extended counters"),
            [("perfquery", "Lid 6 port 1", True, 1, {"PortXmitWait": 5})],
        ),
        (
            "# Port counters: Lid 6 port 1 (CapMask: 0x5A00)\nPortXmitWait:....5\n",
            [("perfquery", "Lid 6 port 1", False, 1, {"PortXmitWait": 5})],
        ),
        (NIC, [("ethtool", "eth0", True, 1, {"rx_pause": 3})]),
        ("NIC statistics:\n rx: 3\n", [("ethtool", "the port", True, 1, {"rx": 3})]),
        (LINK, [("rdma", "mlx5_0/1", True, 1, {"sent": 4, "got": 5})]),
        ("\n\nlink a/1\n sent 4\n", [("rdma", "a/1", True, 3, {"sent": 4})]),
        ("PortXmitWait:....5\n", [("perfquery", "the port", False, 1, {"PortXmitWait": 5})]),
        ("rx: 5\n", [("ethtool", "the port", True, 1, {"rx": 5})]),
        ("# a remark\nrx: 5\n", [("ethtool", "the port", True, 2, {"rx": 5})]),
        ("rx: 0x1F\n", [("ethtool", "the port", True, 1, {"rx": 31})]),
        ("rx: " + "9" * 20 + "\n", [("ethtool", "the port", True, 1, {"rx": 10**20 - 1})]),
        # A counter that comes again begins the next snapshot of the same port.
        (
            PERF + "PortXmitWait:....6\n",
            [
                ("perfquery", "Lid 6 port 1", False, 1, {"PortXmitWait": 5}),
                ("perfquery", "Lid 6 port 1", False, 3, {"PortXmitWait": 6}),
            ],
        ),
        (
            NIC + "PortXmitWait:....6\n",
            [
                ("ethtool", "eth0", True, 1, {"rx_pause": 3}),
                ("perfquery", "the port", False, 3, {"PortXmitWait": 6}),
            ],
        ),
    ],
)
def test_a_snapshot_has_its_port_its_width_and_its_counters(text, snapshots):
    assert told(text) == snapshots


@each("name", ["PortSelect", "CounterSelect", "CounterSelect2"])
def test_fields_that_choose_counters_count_nothing(name):
    assert told(PERF + f"{name}:....1\n")[0][4] == {"PortXmitWait": 5}
    with pytest.raises(TextError, match=r"^line 1: no counter; allowed: the output of perfquery"):
        read_counters(f"{name}:....1\n")


@each(
    ("line", "reason"),
    [
        ("sent 4", "no counter, and no heading of a tool that is read"),
        ("rx: 1.5", "rx has no whole number behind it"),
        ("rx:", "rx has no number"),
        ("rx: " + "9" * 21, "rx has no whole number behind it"),
        ("link a/1 sent", "'sent' stands without its number"),
        ("link a/1 sent 4 got", "'got' stands without its number"),
        ("link a/1 sent 4 " + "g" * 31, f"'{'g' * 30}' stands without its number"),
        ("0763800000", "no counter, and no heading of a tool that is read"),
        ("x " * 40, "no counter, and no heading of a tool that is read"),
    ],
)
def test_a_line_that_is_not_understood_is_kept_with_its_reason(line, reason):
    found = read_counters(NIC + line)
    assert found.odd == (UnreadLine(line=3, text=line.strip()[:60], reason=reason),)


def test_the_first_line_that_is_not_understood_is_named_where_nothing_is():
    with pytest.raises(TextError, match=r"^line 2: rx has no number; allowed: the output of perf"):
        read_counters("\nrx:\nhello\n")
    with pytest.raises(TextError, match=r"^line 1: no counter; allowed: "):
        read_counters("\n\n")


def test_a_clock_counts_for_what_follows_it():
    found = read_counters(f"{NIC}1763800000\n{NIC}1763800001.5\n{NIC}")
    assert [one.clock for one in found.snapshots] == [0, 1_763_800_000, 1_763_800_001.5]


def test_the_first_and_the_last_snapshot_of_a_port_are_a_pair():
    third = NIC.replace("3", "9")
    found = read_counters(NIC + LINK + NIC.replace("3", "6") + third + LINK.replace("mlx5_0", "b"))
    ((first, last),) = snapshot_pairs(found)
    assert (first.values, last.values) == ({"rx_pause": 3}, {"rx_pause": 9})
    both = snapshot_pairs(read_counters(LINK + NIC + LINK + NIC))
    assert [(one.kind, one.line, two.line) for one, two in both] == [
        ("rdma", 1, 4),
        ("ethtool", 2, 5),
    ]


def test_a_text_may_have_half_a_million_characters():
    text = NIC + "#" * (500_000 - len(NIC))
    assert len(read_counters(text).snapshots) == 1
    with pytest.raises(TextError, match="line 1: 500,001 characters; allowed: at most 500,000"):
        read_counters(text + "#")
