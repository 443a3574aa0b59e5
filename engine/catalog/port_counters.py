"""Counters of network ports: meaning, width in bits, and what growth indicates.

InfiniBand's counters stay at their largest value when they are full; Ethernet's and those of
`rdma statistic` begin anew at zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Bytes, Count, Seconds

# What a counter's growth says, from what is surely broken to what is merely busy.
BROKEN, LOST, PAUSED, PAUSES, MARKED, WAITS, DATA, PACKETS = (
    "broken",
    "lost",
    "paused",
    "pauses",
    "marked",
    "waits",
    "data",
    "packets",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortCounter:
    """A counter.

    Attributes:
        says: what its growth says, of those above; empty: nothing by itself.
        meaning: in a few words.
        bits: of its width, where the plain `perfquery` prints it.
        unit: bytes or seconds that one count stands for; 0: it counts things.
        sends: whether it counts what leaves the port.
    """

    says: str
    meaning: str
    bits: Count = 64
    unit: Bytes | Seconds = 0.0
    sends: bool = False


def _ib(
    says: str, meaning: str, bits: Count, unit: float = 0.0, *, sends: bool = False
) -> PortCounter:
    return PortCounter(says=says, meaning=meaning, bits=bits, unit=unit, sends=sends)


# InfiniBand Architecture Specification, attribute PortCounters; data in words of four bytes.
INFINIBAND: Mapping[str, PortCounter] = {
    "SymbolErrorCounter": _ib(BROKEN, "errors on the lanes of the link", 16),
    "LinkErrorRecoveryCounter": _ib(BROKEN, "times the link retrained", 8),
    "LinkDownedCounter": _ib(BROKEN, "times the link went down", 8),
    "PortRcvErrors": _ib(BROKEN, "packets that arrived with errors", 16),
    "PortRcvRemotePhysicalErrors": _ib(BROKEN, "packets that an earlier link had damaged", 16),
    "LocalLinkIntegrityErrors": _ib(BROKEN, "bursts of errors on this link", 4),
    "PortRcvSwitchRelayErrors": _ib("", "packets that a switch could not forward", 16),
    "PortXmitDiscards": _ib(LOST, "packets dropped on the way out", 16, sends=True),
    "ExcessiveBufferOverrunErrors": _ib(LOST, "buffers that overran", 4),
    "VL15Dropped": _ib("", "management packets dropped", 16),
    "PortXmitData": _ib(DATA, "data sent, in words of 4 bytes", 32, 4.0, sends=True),
    "PortRcvData": _ib(DATA, "data received, in words of 4 bytes", 32, 4.0),
    "PortXmitPkts": _ib(PACKETS, "packets sent", 32, sends=True),
    "PortRcvPkts": _ib(PACKETS, "packets received", 32),
    "PortXmitWait": _ib(WAITS, "ticks with data to send and no credit", 32, sends=True),
}

# Linux's documentation of mlx5: what ends in _phy is counted on the physical port.
ETHERNET: Mapping[str, PortCounter] = {
    "tx_bytes_phy": PortCounter(says=DATA, meaning="bytes sent", unit=1.0, sends=True),
    "rx_bytes_phy": PortCounter(says=DATA, meaning="bytes received", unit=1.0),
    "tx_packets_phy": PortCounter(says=PACKETS, meaning="packets sent", sends=True),
    "rx_packets_phy": PortCounter(says=PACKETS, meaning="packets received"),
    "rx_symbol_err_phy": PortCounter(says=BROKEN, meaning="symbols that could not be decoded"),
    "rx_crc_errors_phy": PortCounter(says=BROKEN, meaning="packets with a wrong checksum"),
    "rx_pcs_symbol_err_phy": PortCounter(says=BROKEN, meaning="errors that coding did not correct"),
    "link_down_events_phy": PortCounter(says=BROKEN, meaning="times the link went down"),
    "rx_discards_phy": PortCounter(says=LOST, meaning="packets dropped, no buffer in the port"),
    "tx_discards_phy": PortCounter(says=LOST, meaning="packets dropped on the way out", sends=True),
    "rx_out_of_buffer": PortCounter(says=LOST, meaning="packets dropped, the host gave no buffer"),
    "rx_global_pause": PortCounter(says="", meaning="pause frames for the whole link received"),
    "tx_global_pause": PortCounter(
        says="", meaning="pause frames for the whole link sent", sends=True
    ),
} | {
    name: counter
    for priority in range(8)
    for name, counter in {
        f"rx_prio{priority}_pause": PortCounter(says="", meaning="pause frames received"),
        f"tx_prio{priority}_pause": PortCounter(says="", meaning="pause frames sent", sends=True),
        f"rx_prio{priority}_pause_duration": PortCounter(
            says=PAUSED, meaning="time for which the port was told to pause", unit=1e-6
        ),
        f"tx_prio{priority}_pause_duration": PortCounter(
            says=PAUSES, meaning="time for which it told its neighbor to", unit=1e-6, sends=True
        ),
        f"rx_prio{priority}_discards": PortCounter(says=LOST, meaning="packets dropped, no buffer"),
        f"rx_prio{priority}_buf_discard": PortCounter(
            says=LOST, meaning="packets dropped, no buffer"
        ),
    }.items()
}

# The same for RDMA over either fabric; congestion notifications exist over Ethernet alone.
RDMA: Mapping[str, PortCounter] = {
    "np_ecn_marked_roce_packets": PortCounter(says=MARKED, meaning="marked packets received"),
    "np_cnp_sent": PortCounter(says=MARKED, meaning="senders asked to slow down", sends=True),
    "rp_cnp_handled": PortCounter(says=MARKED, meaning="times this port slowed down"),
    "out_of_sequence": PortCounter(says=LOST, meaning="packets that came out of order"),
    "packet_seq_err": PortCounter(says=LOST, meaning="requests to send again received"),
    "local_ack_timeout_err": PortCounter(says=LOST, meaning="answers that never came"),
    "implied_nak_seq_err": PortCounter(says=LOST, meaning="answers that show a loss"),
    "roce_adp_retrans": PortCounter(says=LOST, meaning="messages sent again", sends=True),
    "out_of_buffer": PortCounter(says="", meaning="messages that the host had no room for"),
    "rnr_nak_retry_err": PortCounter(says="", meaning="answers that the receiver was not ready"),
    "duplicate_request": PortCounter(says="", meaning="requests that came twice"),
    "rx_icrc_encapsulated": PortCounter(says=BROKEN, meaning="packets with a wrong checksum"),
}
KINDS: Mapping[str, Mapping[str, PortCounter]] = {
    "perfquery": INFINIBAND,
    "ethtool": ETHERNET,
    "rdma": RDMA,
}
