"""What a fault or a setting would make of a collective: the same model with one thing changed.

These are the conditions that a measured bus bandwidth is compared with, and the effect of the
variables of `engine.catalog.nccl_variables`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog.measured_collectives import PCIE_5, SOCKETS
from engine.core.units import Bandwidth, Bytes, Seconds
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.simulate.collectives.nccl_choice import Place, choice, place, times

# What binds instead, by the names of the variables' table.
NAMES: Mapping[str, str] = {
    "ring": "a ring only, no sums in the switch",
    "no_switch": "no sums in the switch",
    "small": "only the protocol for small messages (LL)",
    "half_ports": "half of the network ports",
    "one_port": "one network port of each node",
    "pcie": "PCIe in the node instead of NVLink",
    "sockets": "TCP sockets between the nodes",
}
# Above PCIe 5.0 nothing was measured; the share of its line rate holds for the others.
_PCIE_5 = 63e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One such case: its key and the time; infinite where the model has none."""

    key: str
    time: Seconds


def conditions(operation: str, size: Bytes, where: Place, machine: str) -> tuple[Condition, ...]:
    """Return what can be wrong at this place, with the time of the collective then."""
    nodes = where.group.nodes
    keys = ["ring", "small"] if operation == "all_reduce" else []
    if nodes > 1:
        keys += ["half_ports", "one_port", "sockets"]
    elif where.pcie:
        keys.append("pcie")
    found = (
        Condition(key=key, time=changed_time(key, operation, size, where, machine)) for key in keys
    )
    return tuple(one for one in found if one.time < float("inf"))


def changed_time(key: str, operation: str, size: Bytes, where: Place, machine: str) -> Seconds:
    """Return the time of a collective with one thing changed; infinite where it cannot be."""
    return min(_changed(key, operation, size, where, machine).values(), default=float("inf"))


def _changed(
    key: str, operation: str, size: Bytes, where: Place, machine: str
) -> Mapping[str, Seconds]:
    if key in ("ring", "small", "no_switch"):
        found = times(operation, size, where)
        if key == "small":
            return {name: time for name, time in found.items() if name.endswith("LL")}
        if key == "no_switch":
            plain = {name: time for name, time in found.items() if not name.startswith("NVLS")}
            taken = choice(operation, size, where, plain) if plain else ""
            return {taken: plain[taken]} if len(plain) < len(found) and taken else {}
        rings = {name: time for name, time in found.items() if name.startswith("Ring")}
        return rings if any(name.startswith("NVLS") for name in found) else {}
    if key == "pcie" and not where.pcie:
        return {}
    return times(operation, size, _elsewhere(key, where, machine))


def _elsewhere(key: str, where: Place, machine: str) -> Place:
    """Return the same ranks on other wires."""
    group, ports = where.group, where.node.nics_per_node
    if key in ("half_ports", "one_port"):
        left = max(1, ports // 2) if key == "half_ports" else 1
        return place(machine, group.ranks, group.nodes, left, where.own)
    if key == "pcie":
        return _limited(where, PCIE_5 * where.pcie / _PCIE_5)
    return _limited(where, SOCKETS)


def _limited(where: Place, bandwidth: Bandwidth) -> Place:
    """Return the place whose group reaches no more than a bandwidth, and whose switch is idle."""
    rank = replace(
        where.rank,
        switch_adds=False,
        port=bandwidth * where.group.nodes / where.group.ranks,
        scale_up=where.rank.scale_up if where.group.nodes > 1 else bandwidth,
    )
    group = replace(where.group, bandwidth=bandwidth)
    return replace(where, rank=rank, group=group)


def bandwidth_of(operation: Operation, size: Bytes, time: Seconds, ranks: int) -> Bandwidth:
    """Return the bus bandwidth of a time; 0 of an infinite one."""
    return 0.0 if time == float("inf") else bus_bandwidth(size, time, operation, ranks)
