"""Counters as the tools print them, and lines that are broken in the ways that texts are."""

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.counters import LONGEST_COUNTERS, read_counters, snapshot_pairs

# As infiniband-diags prints them, shortened.
PERFQUERY = """# Port counters: Lid 6 port 1 (CapMask: 0x5A00)
PortSelect:......................1
CounterSelect:...................0x0000
SymbolErrorCounter:..............0
LinkDownedCounter:...............0
CounterSelect2:..................0x00
PortXmitData:....................16576648
PortXmitWait:....................441
"""
ETHTOOL = """NIC statistics:
     rx_prio3_pause: 148213
     rx_prio3_pause_duration: 3320119
     rx_prio3_buf_discard: 0
"""
RDMA = "link mlx5_0/1 rx_write_requests 0 out_of_buffer 135 np_cnp_sent 7\n"
RDMA_LINES = "link mlx5_0/1\n\trx_write_requests 0\n\tout_of_buffer 135\n\tnp_cnp_sent 7\n"


def one(text):
    found = read_counters(text)
    assert not found.odd
    assert len(found.snapshots) == 1
    return found.snapshots[0]


def test_perfquery():
    found = one(PERFQUERY)
    assert (found.kind, found.port, found.wide) == ("perfquery", "Lid 6 port 1", False)
    assert found.values == {
        "SymbolErrorCounter": 0,
        "LinkDownedCounter": 0,
        "PortXmitData": 16_576_648,
        "PortXmitWait": 441,
    }


def test_the_extended_counters_have_64_bits():
    assert one(PERFQUERY.replace("Port counters", "Port extended counters")).wide


def test_ethtool():
    assert one(ETHTOOL).values["rx_prio3_pause_duration"] == 3_320_119


@pytest.mark.parametrize("text", [RDMA, RDMA_LINES])
def test_rdma_statistic_in_both_of_its_forms(text):
    found = one(text)
    assert (found.kind, found.port) == ("rdma", "mlx5_0/1")
    assert found.values == {"rx_write_requests": 0, "out_of_buffer": 135, "np_cnp_sent": 7}


@pytest.mark.parametrize("text", [PERFQUERY, ETHTOOL, RDMA, RDMA_LINES])
def test_twice_the_same_is_a_pair_with_its_clocks(text):
    found = read_counters(f"1763800000.250\n{text}1763800010.750\n{text}")
    ((first, last),) = snapshot_pairs(found)
    assert last.clock - first.clock == pytest.approx(10.5)
    assert first.values == last.values


def test_rows_without_headings_are_read_too():
    rows = "".join(ETHTOOL.splitlines(keepends=True)[1:])
    assert len(list(snapshot_pairs(read_counters(rows + rows)))) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("     rx_bytes_phy: 12x4\n", "rx_bytes_phy has no whole number behind it"),
        ("     rx_bytes_phy:\n", "rx_bytes_phy has no number"),
        ("     rx_bytes_phy: -5\n", "rx_bytes_phy has no whole number behind it"),
        ("bash: mlnx_perf: command not found\n", "no counter, and no heading"),
    ],
)
def test_a_broken_line_is_named_with_its_reason(line, reason):
    found = read_counters(ETHTOOL + line)
    (odd,) = found.odd
    assert odd.line == 5
    assert odd.reason.startswith(reason)


def test_a_name_without_its_number_at_the_end_of_a_link():
    (odd,) = read_counters(RDMA.rstrip() + " np_ecn\n").odd
    assert odd.reason == "'np_ecn' stands without its number"


@pytest.mark.parametrize("text", ["hello\n", "\n\nstep 1 loss 2.3\n", "link mlx5_0/1\n"])
def test_a_text_without_counters_is_refused_with_its_line(text):
    with pytest.raises(TextError, match=r"^line \d+: .*allowed: the output of perfquery"):
        read_counters(text)


def test_a_text_that_is_too_long_is_refused():
    with pytest.raises(TextError, match="characters"):
        read_counters("x" * (LONGEST_COUNTERS + 1))
