"""Counters of `ethtool -S` by adapter: mlx5, bnxt and ionic.

Sources: Linux's documentation of mlx5 (what ends in _phy is counted on the physical port), and the
drivers' own tables of strings: bnxt_ethtool.c and ionic_stats.c.
"""

import re
from collections.abc import Mapping

from engine.catalog.port_counters import (
    BROKEN,
    CORRECTED,
    DATA,
    FRAMES,
    HOST,
    LOST,
    MARKED,
    MODULE,
    PACKETS,
    PAUSED,
    PAUSES,
    PCIE,
    PRIORITY,
    STALLED,
    CounterTable,
    PortCounter,
    count,
    patterns,
)

_TOLD, _TELLS = (
    "time for which the port was told to pause",
    "time for which it told its neighbor to",
)
_SECONDS = 1e-6  # pauses are counted in microseconds
_RING = count("", "of a queue of this host")
_RING_FAULT = count(HOST, "faults of a queue of this host")

MLX5: Mapping[str, PortCounter] = {
    "tx_bytes_phy": count(DATA, "bytes sent", 1.0, sends=True),
    "rx_bytes_phy": count(DATA, "bytes received", 1.0),
    "tx_packets_phy": count(PACKETS, "packets sent", sends=True),
    "rx_packets_phy": count(PACKETS, "packets received"),
    "rx_symbol_err_phy": count(BROKEN, "packets dropped for errors of coding"),
    "rx_crc_errors_phy": count(BROKEN, "packets with a wrong checksum"),
    "rx_pcs_symbol_err_phy": count(BROKEN, "errors that coding did not correct"),
    "rx_jabbers_phy": count(BROKEN, "long packets with a wrong checksum"),
    "rx_fragments_phy": count(BROKEN, "short packets with a wrong checksum"),
    "link_down_events_phy": count(BROKEN, "times the link went down"),
    "rx_corrected_bits_phy": count(CORRECTED, "bits that coding corrected"),
    "rx_bits_phy": count("", "bits that could have arrived"),
    "rx_in_range_len_errors_phy": count(LOST, "packets dropped for their length field"),
    "rx_out_of_range_len_phy": count(LOST, "packets dropped, longer than this port's MTU"),
    "rx_oversize_pkts_phy": count(LOST, "packets dropped, longer than this port's MTU"),
    "rx_undersize_pkts_phy": count(LOST, "packets dropped, too short"),
    "tx_errors_phy": count(LOST, "packets dropped, longer than the MTU", sends=True),
    "tx_discards_phy": count(LOST, "packets dropped on the way out", sends=True),
    "rx_unsupported_op_phy": count("", "control packets that the port does not know"),
    "rx_discards_phy": count(HOST, "packets dropped, this adapter had no buffer"),
    "rx_out_of_buffer": count(HOST, "packets dropped, the host gave no buffer"),
    "rx_if_down_packets": count("", "packets dropped, the interface was down"),
    "rx_steer_missed_packets": count("", "packets that no rule of the adapter took"),
    "dev_internal_queue_oob": count(HOST, "packets dropped, an internal queue was full"),
    "dev_out_of_buffer": count(HOST, "times a queue of the device had no buffer"),
    "rx_oversize_pkts_buffer": count(HOST, "packets dropped, longer than the host's buffers"),
    "rx_oversize_pkts_sw_drop": count(HOST, "packets dropped by the driver, too long"),
    "rx_buffer_passed_thres_phy": count("", "times the port's buffer was 85 % full"),
    "tx_pause_storm_warning_events": count(PAUSES, "long pauses that this port sent", sends=True),
    "tx_pause_storm_error_events": count(PAUSES, "pauses cut off, after which packets drop"),
    "rx_pause_ctrl_phy": count("", "pause packets received"),
    "tx_pause_ctrl_phy": count("", "pause packets sent", sends=True),
    "rx_global_pause": count("", "pause frames for the whole link received"),
    "tx_global_pause": count("", "pause frames for the whole link sent", sends=True),
    "rx_global_pause_duration": count(PAUSED, _TOLD, _SECONDS),
    "tx_global_pause_duration": count(PAUSES, _TELLS, _SECONDS, sends=True),
    "rx_global_pause_transition": count("", "ends of pauses of the whole link"),
    "module_high_temp": count(MODULE, "times the transceiver was too hot"),
    "module_bus_stuck": count(MODULE, "times the transceiver's bus had a short"),
    "module_bad_shorted": count(MODULE, "times the transceiver's cable had a short"),
    "module_unplug": count(MODULE, "times the transceiver was pulled"),
    "rx_pci_signal_integrity": count(PCIE, "errors on the PCIe link of the adapter"),
    "tx_pci_signal_integrity": count(PCIE, "errors that the host saw on the adapter's PCIe link"),
    "outbound_pci_buffer_overflow": count(HOST, "packets dropped, PCIe was too slow"),
    "outbound_pci_stalled_rd": count(STALLED, "of the last second reads waited", gauge=True),
    "outbound_pci_stalled_wr": count(STALLED, "of the last second writes waited", gauge=True),
    "outbound_pci_stalled_rd_events": count(HOST, "seconds in which reads waited above 30 %"),
    "outbound_pci_stalled_wr_events": count(HOST, "seconds in which writes waited above 30 %"),
} | {
    name: counter
    for priority in range(8)
    for name, counter in {
        f"rx_prio{priority}_bytes": count(PRIORITY, "bytes of this priority received", 1.0),
        f"tx_prio{priority}_bytes": count(PRIORITY, "bytes of this priority sent", 1.0, sends=True),
        f"rx_prio{priority}_packets": count("", "packets of this priority received"),
        f"tx_prio{priority}_packets": count("", "packets of this priority sent", sends=True),
        f"rx_prio{priority}_pause": count("", "pause frames received"),
        f"tx_prio{priority}_pause": count("", "pause frames sent", sends=True),
        f"rx_prio{priority}_pause_duration": count(PAUSED, _TOLD, _SECONDS),
        f"tx_prio{priority}_pause_duration": count(PAUSES, _TELLS, _SECONDS, sends=True),
        f"rx_prio{priority}_pause_transition": count("", "ends of pauses"),
        f"rx_prio{priority}_discards": count(HOST, "packets dropped, this adapter had no buffer"),
        f"rx_prio{priority}_buf_discard": count(HOST, "packets dropped, no buffer for this host"),
        f"rx_prio{priority}_cong_discard": count(HOST, "packets dropped, this host was too slow"),
        f"rx_prio{priority}_marked": count(MARKED, "packets that the adapter marked"),
    }.items()
}
# Software's counters and those of queues, of which a text holds hundreds.
_MLX5_PATTERNS = patterns(
    {
        r"rx\d*_ecn_mark": count(MARKED, "marked packets received"),
        r"rx_err_lane_\d_phy": count("", "errors of a lane before correction"),
        r"[rt]x_(?:multicast|broadcast|mac_control)_phy": count("", "packets of that kind"),
        r"rx_\d+(?:_to_\d+)?_bytes_phy": count("", "packets of that length"),
        r"[rt]x_vport_(?:rdma_)?(?:uni|multi|broad)cast_(?:packets|bytes)": count(
            "", "traffic of this function"
        ),
        r"vport_loopback_(?:packets|bytes)": count("", "traffic of this host with itself"),
        r"(?:rx|tx|ch|ptp_\w+?)\d*_(?:\w*_)?(?:err|errors|recover|eq_rearm|dropped|alloc_err)": (
            _RING_FAULT
        ),
        r"tx_queue_dropped": _RING_FAULT,
        r"(?:rx|tx|ch|ptp_\w+?)\d+_\w+": _RING,
        r"(?:rx|tx)_(?:packets|bytes|\w*(?:csum|tso|lro|gro|xdp|xsk|tls|cqe|mpwqe|pp|arfs)_\w+)": (
            _RING
        ),
        r"(?:rx|tx)_(?:cqes?|nop|timestamps|xmit_more|queue_\w+|congst_umr|(?:added|removed)_vlan_"
        r"packets|mcast_packets)": _RING,
        r"ch_(?:events|poll|arm|aff_change|force_irq)": _RING,
    }
)
# Of the port, not of the software: rx_bytes and tx_bytes too.
BNXT: Mapping[str, PortCounter] = {
    "rx_bytes": count(DATA, "bytes received", 1.0),
    "tx_bytes": count(DATA, "bytes sent", 1.0, sends=True),
    "rx_total_frames": count(PACKETS, "packets received"),
    "tx_total_frames": count(PACKETS, "packets sent", sends=True),
    "rx_fcs_err_frames": count(BROKEN, "packets with a wrong checksum"),
    "tx_fcs_err_frames": count(BROKEN, "packets sent with a wrong checksum", sends=True),
    "rx_align_err_frames": count(BROKEN, "packets that ended in the middle of a byte"),
    "rx_runt_frames": count(BROKEN, "packets that were cut short"),
    "rx_undrsz_frames": count(LOST, "packets dropped, too short"),
    "rx_ovrsz_frames": count(LOST, "packets dropped, too long"),
    "rx_mtu_err_frames": count(LOST, "packets dropped, longer than this port's MTU"),
    "rx_stat_err": count(BROKEN, "packets received with errors"),
    "tx_err": count(LOST, "packets that could not be sent", sends=True),
    "tx_stat_error": count(LOST, "packets that could not be sent", sends=True),
    "tx_fifo_underruns": count(LOST, "packets cut on the way out, PCIe was too slow", sends=True),
    "rx_stat_discard": count(HOST, "packets dropped by this port"),
    "tx_stat_discard": count(LOST, "packets dropped on the way out", sends=True),
    "rx_total_discard_pkts": count(HOST, "packets dropped, the host gave no buffer"),
    "tx_total_discard_pkts": count(LOST, "packets dropped on the way out", sends=True),
    "rx_corrected_bits": count(CORRECTED, "bits that coding corrected"),
    "rx_bits": count("", "bits that arrived"),
    "rx_pcs_symbol_err": count(BROKEN, "errors that coding did not correct"),
    "rx_fec_uncorrectable_blocks": count(BROKEN, "blocks that coding could not correct"),
    "rx_fec_corrected_blocks": count("", "blocks that coding corrected"),
    "rx_buffer_passed_threshold": count("", "times the port's buffer was nearly full"),
    "link_down_events": count(BROKEN, "times the link went down"),
    "rx_pause_frames": count(FRAMES, "pause frames received"),
    "tx_pause_frames": count(FRAMES, "pause frames sent", sends=True),
    "rx_pfc_frames": count(FRAMES, "pause frames of priorities received"),
    "tx_pfc_frames": count(FRAMES, "pause frames of priorities sent", sends=True),
} | {
    name: counter
    for priority in range(8)
    for name, counter in {
        f"rx_pfc_ena_frames_pri{priority}": count(FRAMES, "pause frames received"),
        f"tx_pfc_ena_frames_pri{priority}": count(FRAMES, "pause frames sent", sends=True),
        f"pfc_pri{priority}_rx_duration_us": count(PAUSED, _TOLD, _SECONDS),
        f"pfc_pri{priority}_tx_duration_us": count(PAUSES, _TELLS, _SECONDS, sends=True),
        f"pfc_pri{priority}_rx_transitions": count("", "pauses received"),
        f"pfc_pri{priority}_tx_transitions": count("", "pauses sent", sends=True),
        f"rx_bytes_pri{priority}": count(PRIORITY, "bytes of this priority received", 1.0),
        f"tx_bytes_pri{priority}": count(PRIORITY, "bytes of this priority sent", 1.0, sends=True),
        f"rx_discard_packets_cos{priority}": count(HOST, "packets dropped, no buffer"),
    }.items()
}
_BNXT_PATTERNS = patterns(
    {
        r"\[\d+\]: (?:rx_(?:discards|drops|errors|buf_errors)|missed_irqs)": _RING_FAULT,
        r"\[\d+\]: tx_(?:discards|drops|errors)": _RING_FAULT,
        r"\[\d+\]: \w+": _RING,
        r"[rt]x_(?:64b|\d+b_\d+b|good_vlan|ucast|mcast|bcast|ctrl|jbr|tagged|double_tagged|good|"
        r"xthol|jabber)_frames": count("", "packets of that kind"),
        r"[rt]x_(?:packets|bytes)_(?:cos|pri)\d": count("", "traffic of a class"),
        r"rx_discard_bytes_cos\d": count("", "bytes dropped, no buffer"),
        r"[rt]x_eee_lpi_(?:events|duration)": count("", "sleep of the link"),
        r"(?:continuous|resume)_(?:roce_)?pause_events": count("", "begins and ends of pauses"),
        r"rx_runt_bytes|tx_total_collisions|rx_filter_miss|rx_resets|tx_resets|rx_total_\w+|"
        r"tx_total_\w+": count("", "of the driver"),
    }
)
IONIC: Mapping[str, PortCounter] = {
    "octets_rx_ok": count(DATA, "bytes received", 1.0),
    "octets_tx_ok": count(DATA, "bytes sent", 1.0, sends=True),
    "octets_rx_all": count("", "bytes received, damaged ones too"),
    "octets_tx_total": count("", "bytes sent, damaged ones too", sends=True),
    "frames_rx_ok": count(PACKETS, "packets received"),
    "frames_tx_ok": count(PACKETS, "packets sent", sends=True),
    "frames_rx_bad_fcs": count(BROKEN, "packets with a wrong checksum"),
    "frames_rx_bad_all": count(BROKEN, "packets received with errors"),
    "frames_rx_stomped_crc": count(BROKEN, "packets that an earlier link had damaged"),
    "frames_rx_jabber": count(BROKEN, "long packets with a wrong checksum"),
    "frames_rx_fragments": count(BROKEN, "short packets with a wrong checksum"),
    "frames_rx_bad_length": count(LOST, "packets dropped for their length field"),
    "frames_rx_undersized": count(LOST, "packets dropped, too short"),
    "frames_rx_oversized": count(LOST, "packets dropped, too long"),
    "frames_rx_too_long": count(LOST, "packets dropped, too long"),
    "frames_rx_dropped": count(HOST, "packets dropped by this port"),
    "frames_tx_bad": count(LOST, "packets that could not be sent", sends=True),
    "frames_tx_truncated": count(LOST, "packets cut on the way out", sends=True),
    "hw_rx_dropped": count(HOST, "packets dropped by this adapter"),
    "hw_rx_over_errors": count(HOST, "packets dropped, a queue overran"),
    "hw_rx_missed_errors": count(HOST, "packets dropped, the host gave no buffer"),
    "hw_tx_dropped": count(LOST, "packets dropped on the way out", sends=True),
    "hw_tx_aborted_errors": count(LOST, "packets given up on the way out", sends=True),
    "rx_pause_1us_count": count(PAUSED, _TOLD, _SECONDS),
    "rx_bits_phy": count("", "bits that arrived"),
} | {
    name: counter
    for priority in range(8)
    for name, counter in {
        f"rx_pripause_{priority}_1us_count": count(PAUSED, _TOLD, _SECONDS),
        f"tx_pripause_{priority}_1us_count": count(PAUSES, _TELLS, _SECONDS, sends=True),
    }.items()
}
_IONIC_PATTERNS = patterns(
    {
        r"frames_[rt]x_(?:pause|pripause_?\d?)": count("", "pause frames"),
        r"frames_[rt]x_(?:all|unicast|multicast|broadcast|vlan|vlan_good|other|less_than_64b|64b|"
        r"\d+b_\d+b|pri_\d)": count("", "packets of that kind"),
        r"[rt]x_\d+_(?:dma_map_err|alloc_err|dropped|csum_error)": _RING_FAULT,
        r"[rt]x_\d+_\w+": _RING,
        r"(?:[rt]x_(?:packets|bytes|tso|tso_bytes|csum\w*|hwstamp_\w+)|xdp_\w+)": _RING,
    }
)
TABLES: tuple[CounterTable, ...] = (
    CounterTable(
        name="mlx5",
        kind="ethtool",
        counters=MLX5,
        patterns=_MLX5_PATTERNS,
        sign=re.compile(
            r"\w+_phy|[rt]x_prio\d_\w+|[rt]x_vport_\w+|rx_out_of_buffer|[rt]x_global_\w+"
        ),
        source="mlx5_counters",
    ),
    CounterTable(
        name="bnxt",
        kind="ethtool",
        counters=BNXT,
        patterns=_BNXT_PATTERNS,
        sign=re.compile(
            r"[rt]x_total_discard_pkts|[rt]x_pfc_ena_frames_pri\d|[rt]x_fcs_err_frames|"
            r"pfc_pri\d_[rt]x_\w+|rx_stat_discard|[rt]x_total_frames"
        ),
        source="bnxt_counters",
    ),
    CounterTable(
        name="ionic",
        kind="ethtool",
        counters=IONIC,
        patterns=_IONIC_PATTERNS,
        sign=re.compile(r"frames_[rt]x_\w+|octets_[rt]x_\w+|[rt]x_pripause_\d_1us_count"),
        source="ionic_counters",
    ),
)
