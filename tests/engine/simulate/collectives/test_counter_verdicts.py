"""Verdicts on counters by adapter, and where nothing can be said."""

import pytest

from engine.calculators.moving_bytes import counter_names
from engine.calculators.moving_bytes.counter_decoder import Inputs, solve, views
from engine.core.text import render_text
from engine.core.units import Gbit
from engine.run.importers.import_report import TextError
from engine.run.logs.counters import read_counters
from engine.simulate.collectives.counter_rates import port_readings
from tests.each import each

LINE = 400 * Gbit
START = 1_763_800_000


def ethtool(values):
    return "NIC statistics:\n" + "".join(f"     {name}: {values[name]}\n" for name in values)


def rdma(values):
    return "link mlx5_0/1 " + " ".join(f"{name} {value}" for name, value in values.items()) + "\n"


def twice(write, grown, start=1000, seconds=10):
    """Return two readings; `grown` by name."""
    first = dict.fromkeys(grown, start)
    last = {name: start + more for name, more in grown.items()}
    return f"{START}.0\n{write(first)}{START + seconds}.0\n{write(last)}"


def port(text):
    (found,) = port_readings(read_counters(text), 10.0, LINE)
    return found


def said(text, **given):
    result = solve(Inputs(counters=text, **given))
    shown = views(Inputs(counters=text, **given), result)
    return shown["verdict"].text, render_text(shown["verdict"].sentence)


MLX5 = {"rx_bytes_phy": 10**11, "tx_bytes_phy": 10**11, "rx_crc_errors_phy": 0}
BNXT = {"rx_bytes": 10**11, "tx_bytes": 10**11, "rx_total_frames": 10**8, "rx_fcs_err_frames": 0}
IONIC = {"octets_rx_ok": 10**11, "octets_tx_ok": 10**11, "frames_rx_bad_fcs": 0}
EFA = {"rx_bytes": 10**11, "tx_bytes": 10**11, "rx_drops": 0, "retrans_pkts": 0}
RDMA = {"out_of_sequence": 0, "packet_seq_err": 0, "local_ack_timeout_err": 0}


@each(
    ("write", "grown", "verdict"),
    [
        # mlx5
        (ethtool, MLX5, "idle"),
        (ethtool, MLX5 | {"rx_global_pause_duration": 6_000_000}, "paused"),
        (ethtool, MLX5 | {"tx_global_pause_duration": 6_000_000}, "pauses"),
        (ethtool, MLX5 | {"rx_discards_phy": 900}, "host"),
        (ethtool, MLX5 | {"rx_out_of_buffer": 900}, "host"),
        (ethtool, MLX5 | {"rx_prio3_buf_discard": 900}, "host"),
        (ethtool, MLX5 | {"outbound_pci_stalled_wr_events": 9}, "host"),
        (ethtool, MLX5 | {"rx_corrected_bits_phy": 900_000_000}, "corrected"),
        (ethtool, MLX5 | {"rx_corrected_bits_phy": 9_000}, "idle"),
        (ethtool, MLX5 | {"module_high_temp": 1}, "module"),
        (ethtool, MLX5 | {"rx_pci_signal_integrity": 3}, "pcie"),
        (ethtool, MLX5 | {"tx_discards_phy": 900}, "lost"),
        (ethtool, MLX5 | {"rx0_packets": 900, "ch3_poll": 7, "rx_vport_unicast_bytes": 9}, "idle"),
        (ethtool, MLX5 | {"rx_something_new_phy": 900}, "unknown"),
        # bnxt, whose rx_bytes are the port's
        (ethtool, BNXT, "idle"),
        (ethtool, BNXT | {"rx_fcs_err_frames": 900}, "broken"),
        (ethtool, BNXT | {"pfc_pri3_rx_duration_us": 4_000_000}, "paused"),
        (ethtool, BNXT | {"rx_pfc_ena_frames_pri3": 4_000}, "frames"),
        (ethtool, BNXT | {"rx_total_discard_pkts": 4_000}, "host"),
        (ethtool, BNXT | {"[0]: rx_ucast_packets": 4_000}, "idle"),
        (ethtool, BNXT | {"[0]: rx_discards": 4_000}, "host"),
        # ionic
        (ethtool, IONIC, "idle"),
        (ethtool, IONIC | {"frames_rx_bad_fcs": 9}, "broken"),
        (ethtool, IONIC | {"rx_pripause_3_1us_count": 4_000_000}, "paused"),
        (ethtool, IONIC | {"hw_rx_missed_errors": 900, "rx_0_pkts": 5}, "host"),
        # an adapter of another kind
        (ethtool, {"rx_bytes": 10**11, "tx_bytes": 10**11}, "unknown"),
        (ethtool, {"port.rx_bytes": 10**11, "port.rx_crc_errors": 9}, "unknown"),
        # RDMA
        (rdma, RDMA | {"out_of_sequence": 51_000_000}, "idle"),
        (rdma, RDMA | {"out_of_sequence": 51_000_000, "packet_seq_err": 70}, "lost"),
        (rdma, RDMA | {"out_of_buffer": 900}, "idle"),
        (rdma, RDMA | {"roce_adp_retrans": 900}, "lost"),
        (rdma, EFA, "idle"),
        (rdma, EFA | {"retrans_pkts": 112_000, "retrans_timeout_events": 12}, "lost"),
        (rdma, EFA | {"rx_drops": 900}, "host"),
        (rdma, EFA | {"impaired_remote_conn_events": 30}, "lost"),
        (rdma, RDMA | {"a_new_counter": 3}, "unknown"),
        (rdma, {"to_retransmits": 90, "active_qps": 0, "rx_bytes": 5}, "lost"),
        (rdma, {"seq_err_naks_rcvd": 0, "rx_roce_discards": 900}, "host"),
    ],
)
def test_every_adapter_has_its_verdicts(write, grown, verdict):
    assert port(twice(write, grown)).verdict == verdict


def test_bytes_of_a_priority_are_data_and_name_their_priority():
    text = twice(ethtool, {"rx_prio0_bytes": 10**11, "tx_prio0_bytes": 10**11})
    found = port(text)
    assert (found.received, found.sent) == (1e10, 1e10)
    title, sentence = said(text)
    assert title == "Cannot say"
    assert "counts no errors, losses or pauses" in sentence
    assert "100.0\u202f% on priority 0" in sentence.replace(" %", "\u202f%")


def test_bytes_of_priorities_are_not_added_to_those_of_the_port():
    grown = MLX5 | {"rx_prio0_bytes": 4 * 10**10, "rx_prio3_bytes": 6 * 10**10}
    found = port(twice(ethtool, grown))
    assert found.received == 1e10
    assert found.priorities == pytest.approx({"rx_prio0_bytes": 0.4, "rx_prio3_bytes": 0.6})


def test_a_percentage_is_no_growth():
    write = ethtool
    values = MLX5 | {"outbound_pci_stalled_wr": 0}
    first, last = (dict.fromkeys(values, 5), {name: 5 + values[name] for name in values})
    last["outbound_pci_stalled_wr"] = 80
    text = f"{START}\n{write(first)}{START + 10}\n{write(last)}"
    found = port(text)
    assert found.verdict == "stalled"
    grown = {growth.name: growth.grown for growth in found.growth}
    assert grown["outbound_pci_stalled_wr"] == 80
    last["outbound_pci_stalled_wr"] = 12
    assert port(f"{START}\n{write(first)}{START + 10}\n{write(last)}").verdict == "idle"


PERFQUERY = "# Port counters: Lid 6 port 1\n"


def test_counters_that_are_full_in_both_readings_acquit_nobody():
    full = {"SymbolErrorCounter": 2**16 - 1, "LinkDownedCounter": 255, "PortXmitData": 2**32 - 1}
    text = PERFQUERY + "".join(f"{name}:....{value}\n" for name, value in full.items())
    found = port(text + text)
    assert (found.verdict, found.full) == ("unknown", tuple(full))
    assert "are full" in said(text + text)[1]


def test_a_full_counter_beside_growing_errors_stays_a_bad_link():
    text = PERFQUERY + "PortXmitData:....{}\nPortRcvErrors:....{}\n"
    assert port(text.format(2**32 - 1, 4) + text.format(2**32 - 1, 90)).verdict == "broken"


def test_a_share_above_the_whole_is_no_share():
    text = twice(ethtool, MLX5 | {"rx_prio3_pause_duration": 50_000_000})
    title, sentence = said(text)
    assert (title, "above 100 %" in sentence) == ("Cannot say", True)
    # A port that carries more than its speed.
    assert said(twice(ethtool, MLX5 | {"rx_bytes_phy": 10**13}))[0] == "Cannot say"


def test_two_outputs_under_each_time_are_two_ports():
    first, second = (ethtool(dict.fromkeys(MLX5, value)) for value in (1000, 5_000_000_000))
    later = ethtool({name: 1000 + MLX5[name] for name in MLX5})
    other = ethtool(dict.fromkeys(MLX5, 5_000_000_007))
    text = f"{START}\n{first}{second}{START + 10}\n{later}{other}"
    found = port_readings(read_counters(text), 10.0, LINE)
    assert [own.name for own in found] == ["the port, output 1 of 2", "the port, output 2 of 2"]
    assert found[0].received == 1e10


def test_outputs_that_cannot_be_told_apart_are_refused():
    first, second = (ethtool(dict.fromkeys(MLX5, value)) for value in (1000, 10))
    with pytest.raises(TextError, match="line 5: a second output of the port"):
        read_counters(first + second + first + second)
    with pytest.raises(TextError, match="a second output of the port"):
        read_counters(f"{START}\n{first}{second}{START + 10}\n{first}")


def test_the_command_names_the_port():
    grown = ethtool({name: 1000 + more for name, more in MLX5.items()})
    first = ethtool(dict.fromkeys(MLX5, 1000))
    text = "".join(
        f"{clock}\nroot@h1:~# ethtool -S eth0\n{a}root@h1:~# ethtool -S eth1\n{b}"
        for clock, a, b in ((START, first, first), (START + 10, grown, first))
    )
    found = port_readings(read_counters(text), 10.0, LINE)
    assert {own.name: own.received for own in found} == {"eth0": 1e10, "eth1": 0.0}


SYSFS = "/sys/class/infiniband/mlx5_0/ports/1/{}:{}\n"


def test_files_of_sysfs_as_grep_prints_them():
    def reading(data, errors, lost):
        return (
            SYSFS.format("counters/port_xmit_data", data)
            + SYSFS.format("counters/symbol_error", errors)
            + SYSFS.format("hw_counters/packet_seq_err", lost)
        )

    text = f"{START}\n{reading(10, 0, 0)}{START + 10}\n{reading(10 + 10**10, 3, 0)}"
    found = {own.kind: own for own in port_readings(read_counters(text), 10.0, LINE)}
    assert found["sysfs"].name == found["rdma"].name == "mlx5_0/1"
    assert (found["sysfs"].sent, found["sysfs"].verdict) == (4e9, "broken")
    assert found["rdma"].verdict == "idle"


def test_files_of_sysfs_as_tail_prints_them():
    head = "==> /sys/class/infiniband/mlx5_0/ports/1/counters/{} <==\n{}\n\n"
    text = head.format("port_rcv_data", 1_763_800_000) + head.format("port_rcv_errors", 4)
    (snapshot,) = read_counters(text).snapshots
    assert snapshot.values == {"port_rcv_data": 1_763_800_000, "port_rcv_errors": 4}


PFC = (
    "  Port {}    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "---------  ------  ------  ------  ------  ------  ------  ------  ------\n"
    "Ethernet0       0       0       0  {:6,}       0       0       0       0\n"
    "Ethernet4       0       0       0       0       0       0       0       0\n\n"
)
IFACE = (
    "Last cached time was 2026-11-29 10:00:00\n"
    "    IFACE    STATE    RX_OK      RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR    TX_OK"
    "      TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR\n"
    "---------  -------  -------  ----------  ---------  --------  --------  --------  -------"
    "  ----------  ---------  --------  --------  --------\n"
    "Ethernet0        U   11,052   0.65 MB/s      0.00%         0  {:8,}         0    2,788"
    "   1.16 B/s      0.00%         0         0       N/A\n"
)


def test_tables_of_sonic():
    text = f"{START}\n{PFC.format('Rx', 200)}{PFC.format('Tx', 0)}{IFACE.format(0)}"
    text += f"{START + 10}\n{PFC.format('Rx', 9200)}{PFC.format('Tx', 0)}{IFACE.format(0)}"
    found = {own.name: own for own in port_readings(read_counters(text), 10.0, LINE)}
    assert {name: own.verdict for name, own in found.items()} == {
        "Ethernet0": "frames",
        "Ethernet4": "idle",
    }
    (grown,) = [growth for growth in found["Ethernet0"].growth if growth.grown]
    assert (grown.name, grown.grown) == ("Rx PFC3", 9000)


def test_drops_of_a_switch_port():
    text = f"{START}\n{IFACE.format(5)}{START + 10}\n{IFACE.format(6417)}"
    assert port(text).verdict == "lost"
    assert read_counters(text).odd == ()


def test_several_adapters_in_one_text_have_verdicts_of_their_own():
    text = twice(ethtool, MLX5 | {"rx_discards_phy": 90}) + twice(rdma, RDMA)
    kinds = [own.verdict for own in port_readings(read_counters(text), 10.0, LINE)]
    assert kinds == ["host", "idle"]


def test_a_list_of_efas_files_is_read_as_rdma():
    # As a loop over /sys/class/infiniband/.../hw_counters prints it (perftest, issue 113).
    names = (
        "cmds_err",
        "completed_cmds",
        "keep_alive_rcvd",
        "rdma_read_wrs",
        "rx_bytes",
        "rx_drops",
    )
    text = "".join(f"{name} :{1000 * at}\n" for at, name in enumerate(names))
    grown = text.replace("rx_bytes :4000", "rx_bytes :9000")
    found = port(text + grown)
    assert (found.table.name, found.received, found.verdict) == ("EFA", 500.0, "idle")


def test_two_lists_without_headings_under_a_command():
    # byteps, issue 179: bytes by priority before and after.
    text = (
        "Before benchmarking:\n`ethtool -S enp178s0f0 |grep prio`\n     rx_prio0_bytes: "
        "88034564921216\n     rx_prio3_bytes: 0\nAfter:\n     rx_prio0_bytes: 88171136852706\n"
        "     rx_prio3_bytes: 0\n"
    )
    found = port(text)
    assert found.received == pytest.approx(136.57e9 / 10, rel=1e-4)
    assert found.priorities["rx_prio0_bytes"] == 1.0


def test_counters_without_bytes_do_not_say_that_the_port_could_carry_more():
    grown = {"rx_write_requests": 10**9, "out_of_buffer": 0, **RDMA, "out_of_sequence": 51_000_000}
    title, sentence = said(twice(rdma, grown))
    assert title == "Nothing against it"
    assert "none says how busy it is" in sentence
    assert "does not count errors of the link or pauses" in sentence


def test_commands_with_grep_name_their_ports():
    """As in BytePS's issue 179, where quoted commands stand above what is left of their output."""
    command = (
        "`ethtool -S {} |grep prio`\n```\n     rx_prio0_bytes: {}\n     rx_prio1_bytes: 0\n```\n"
    )
    text = (
        command.format("eth0", 10**9) + command.format("eth1", 5) + command.format("eth0", 10**10)
    )
    snapshots = read_counters(text).snapshots
    assert [snapshot.port for snapshot in snapshots] == ["eth0", "eth1", "eth0"]
    assert read_counters(text).odd == ()


def test_impossible_shares_are_those_that_the_text_counts():
    reading = "NIC statistics:\n     rx_bytes_phy: {}\n     rx_crc_errors_phy: 0\n"
    title, sentence = said(reading.format(1) + reading.format(10**14))
    assert title == "Cannot say"
    assert "received" in sentence
    assert "no finite value" not in sentence


def sysfs(device):
    return lambda values: "".join(
        f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}:{values[name]}\n"
        for name in values
    )


@each(
    ("device", "grown", "title"),
    [
        ("mlx5_0", {"out_of_sequence": 500, "packet_seq_err": 0}, "Nothing against it"),
        # Broadcom's own driver: the file counts requests to send again (rccl-tests, PR 5016).
        ("bnxt_re0", {"out_of_sequence": 500, "rp_cnp_handled": 0}, "Packets are lost"),
        ("bnxt_re_bond0", {"out_of_buffer": 500, "rp_cnp_handled": 0}, "Packets are lost"),
        # Under another name of the device: files that mlx5 does not have.
        ("rocep9", {"out_of_sequence": 500, "rx_roce_discards": 0}, "Packets are lost"),
        ("ionic_0", {"tx_rdma_ack_timeout": 40, "rx_rdma_ucast_bytes": 10**11}, "Packets are lost"),
        ("ionic_0", {"resp_rx_outof_buf": 40, "rx_rdma_ucast_bytes": 1}, "This host drops packets"),
        ("rocep1", {"tx_rdma_ack_timeout": 0, "rx_rdma_ucast_bytes": 10**9}, "Not this port"),
    ],
)
def test_a_device_of_rdma_has_the_counters_of_its_driver(device, grown, title):
    assert said(twice(sysfs(device), grown))[0] == title


def test_the_table_of_both_fabrics_begins_with_what_people_look_for():
    inputs = counter_names.Inputs()
    table = counter_names.views(inputs, counter_names.solve(inputs))["both"]()
    rows = {row[0]: row[2] for row in table.rows}
    assert rows["a full port elsewhere"].startswith("rx_prio3_pause")
    assert rows["a host that takes data too slowly"].startswith("tx_prio3_pause")
    assert rows["packets lost"].startswith("tx_discards_phy")
    assert "out_of_sequence" not in str(rows)
