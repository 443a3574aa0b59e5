"""Counters of network ports: meaning, width in bits, and what growth indicates.

InfiniBand's counters stay at their largest value when they are full; Ethernet's and those of
`rdma statistic` begin anew at zero. Adapters of one kind share names that mean different things
(`rx_bytes` is software's with mlx5 and the port's with bnxt), so each has a table of its own; those
of Ethernet and RDMA stand in `ethernet_counters` and `rdma_counters`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Bytes, Count, Seconds

# What a counter's growth says, from what is surely broken to what is merely busy. `HOST`: this
# host's adapter had no room; `FRAMES`: pauses whose time nothing counts; `CORRECTED`: bits that
# coding repaired; `PRIORITY`: data that another counter of the port holds as well.
BROKEN, PCIE, LOST, HOST, PAUSED, PAUSES, CORRECTED, MODULE = (
    *("broken", "pcie", "lost", "host", "paused", "pauses", "corrected", "module"),
)
FRAMES, MARKED, WAITS, DATA, PRIORITY, PACKETS, STALLED = (
    *("frames", "marked", "waits", "data", "priority", "packets", "stalled"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortCounter:
    """A counter.

    Attributes:
        says: what its growth says, of those above; empty: nothing by itself.
        meaning: in a few words.
        bits: of its width, where a tool prints it in full.
        unit: bytes or seconds that one count stands for; 0: it counts things.
        sends: whether it counts what leaves the port.
        gauge: whether it is a state of the moment, in percent, and no count.
    """

    says: str
    meaning: str
    bits: Count = 64
    unit: Bytes | Seconds = 0.0
    sends: bool = False
    gauge: bool = False


Patterns = tuple[tuple[re.Pattern[str], PortCounter], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterTable:
    """The counters of one tool or adapter.

    Attributes:
        name: of tool or adapter.
        kind: of the text that holds them: "perfquery", "sysfs", "ethtool", "rdma" or "sonic".
        counters: by name. patterns: of names that come with a number, tried after the names.
        sign: a name that only this table has; a text without any is of an unknown adapter.
        source: key of the bibliography.
    """

    name: str
    kind: str
    counters: Mapping[str, PortCounter]
    sign: re.Pattern[str]
    source: str
    patterns: Patterns = ()

    def find(self, name: str) -> PortCounter | None:
        """Return the counter of a name; None if it is not known."""
        if name in self.counters:
            return self.counters[name]
        return next(
            (counter for pattern, counter in self.patterns if pattern.fullmatch(name)), None
        )


def count(
    says: str, meaning: str, unit: float = 0.0, *, sends: bool = False, gauge: bool = False
) -> PortCounter:
    """Return a counter of 64 bits."""
    return PortCounter(says=says, meaning=meaning, unit=unit, sends=sends, gauge=gauge)


def patterns(rows: Mapping[str, PortCounter]) -> Patterns:
    """Return patterns of names, compiled."""
    return tuple((re.compile(pattern), counter) for pattern, counter in rows.items())


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
    "PortXmitConstraintErrors": _ib(LOST, "packets that a rule kept from leaving", 8, sends=True),
    "PortRcvConstraintErrors": _ib(LOST, "packets that a rule kept from entering", 8),
    "PortXmitDiscards": _ib(LOST, "packets dropped on the way out", 16, sends=True),
    "ExcessiveBufferOverrunErrors": _ib(LOST, "buffers that overran", 4),
    "VL15Dropped": _ib("", "management packets dropped", 16),
    "QP1Dropped": _ib("", "management packets dropped", 16),
    "PortXmitData": _ib(DATA, "data sent, in words of 4 bytes", 32, 4.0, sends=True),
    "PortRcvData": _ib(DATA, "data received, in words of 4 bytes", 32, 4.0),
    "PortXmitPkts": _ib(PACKETS, "packets sent", 32, sends=True),
    "PortRcvPkts": _ib(PACKETS, "packets received", 32),
    "PortUnicastXmitPkts": _ib(PACKETS, "packets to one receiver sent", 64, sends=True),
    "PortUnicastRcvPkts": _ib(PACKETS, "packets to one receiver received", 64),
    "PortMulticastXmitPkts": _ib(PACKETS, "packets to several sent", 64, sends=True),
    "PortMulticastRcvPkts": _ib(PACKETS, "packets to several received", 64),
    "PortXmitWait": _ib(WAITS, "ticks with data to send and no credit", 32, sends=True),
}
# Linux's names of the same in /sys/class/infiniband/DEVICE/ports/PORT/counters, as
# Documentation/ABI/stable/sysfs-class-infiniband lists them; packets and data have 64 bits there.
_SYSFS_NAMES = {
    "symbol_error": "SymbolErrorCounter",
    "link_error_recovery": "LinkErrorRecoveryCounter",
    "link_downed": "LinkDownedCounter",
    "port_rcv_errors": "PortRcvErrors",
    "port_rcv_remote_physical_errors": "PortRcvRemotePhysicalErrors",
    "local_link_integrity_errors": "LocalLinkIntegrityErrors",
    "port_rcv_switch_relay_errors": "PortRcvSwitchRelayErrors",
    "port_xmit_constraint_errors": "PortXmitConstraintErrors",
    "port_rcv_constraint_errors": "PortRcvConstraintErrors",
    "port_xmit_discards": "PortXmitDiscards",
    "excessive_buffer_overrun_errors": "ExcessiveBufferOverrunErrors",
    "VL15_dropped": "VL15Dropped",
    "port_xmit_data": "PortXmitData",
    "port_rcv_data": "PortRcvData",
    "port_xmit_packets": "PortXmitPkts",
    "port_rcv_packets": "PortRcvPkts",
    "unicast_xmit_packets": "PortUnicastXmitPkts",
    "unicast_rcv_packets": "PortUnicastRcvPkts",
    "multicast_xmit_packets": "PortMulticastXmitPkts",
    "multicast_rcv_packets": "PortMulticastRcvPkts",
    "port_xmit_wait": "PortXmitWait",
}


def _wide(counter: PortCounter) -> PortCounter:
    bits = 64 if counter.bits == 32 else counter.bits
    return _ib(counter.says, counter.meaning, bits, counter.unit, sends=counter.sends)


SYSFS: Mapping[str, PortCounter] = {
    name: _wide(INFINIBAND[named]) for name, named in _SYSFS_NAMES.items()
}
# Columns of SONiC's `show interfaces counters`, and of `show pfc counters` by direction.
_SWITCH_FRAMES = "pause frames of this priority"
SONIC: Mapping[str, PortCounter] = {
    "RX_OK": count(PACKETS, "packets received"),
    "TX_OK": count(PACKETS, "packets sent", sends=True),
    "RX_ERR": count(BROKEN, "packets that arrived with errors"),
    "TX_ERR": count(BROKEN, "packets that left with errors", sends=True),
    "RX_DRP": count(LOST, "packets dropped on the way in"),
    "TX_DRP": count(LOST, "packets dropped on the way out", sends=True),
    "RX_OVR": count(LOST, "packets too long for the port"),
    "TX_OVR": count(LOST, "packets too long for the port", sends=True),
    **{f"Rx PFC{priority}": count(FRAMES, f"{_SWITCH_FRAMES} received") for priority in range(8)},
    **{
        f"Tx PFC{priority}": count(FRAMES, f"{_SWITCH_FRAMES} sent", sends=True)
        for priority in range(8)
    },
}
_ANY = re.compile(r".*")
TABLES: tuple[CounterTable, ...] = (
    CounterTable(
        name="perfquery", kind="perfquery", counters=INFINIBAND, sign=_ANY, source="ib_counters"
    ),
    CounterTable(name="sysfs", kind="sysfs", counters=SYSFS, sign=_ANY, source="ib_sysfs"),
    CounterTable(name="SONiC", kind="sonic", counters=SONIC, sign=_ANY, source="sonic_commands"),
)
