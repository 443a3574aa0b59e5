"""Effects of faults and NCCL settings on a collective: the same model with one change.

These are the conditions that a measured bus bandwidth is compared with, and the effect of the
variables of `engine.catalog.nccl_variables`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog.measured_collectives import PCIE_5, SOCKETS
from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.simulate.collectives.nccl_choice import (
    CollectivePlacement,
    algorithm_times,
    chosen_algorithm,
    place_collective,
)

# Changed conditions, by the names of the variables' table.
CONDITION_NAMES: Mapping[str, str] = {
    "ring": "a ring only, no sums in the switch",
    "no_switch": "no sums in the switch",
    "small": "only the protocol for small messages (LL)",
    "half_ports": "half of the network ports",
    "one_port": "one network port of each node",
    "pcie": "PCIe in the node instead of NVLink",
    "trays": "the network between the hosts of a rack instead of its NVLink",
    "sockets": "TCP sockets between the nodes",
}
# Above PCIe 5.0 nothing was measured; the share of its line rate holds for the others.
_PCIE_5 = 63e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Time of a collective under one changed condition; infinite without a model."""

    key: str
    time: Seconds


def possible_conditions(
    operation: str, size: Bytes, placement: CollectivePlacement, machine: str
) -> tuple[Condition, ...]:
    """Return the conditions that can apply to this placement, with the collective's time."""
    nodes = placement.group.nodes
    keys = ["ring", "small"] if operation == "all_reduce" else []
    if nodes > 1:
        keys += ["half_ports", "one_port", "sockets"]
    elif placement.pcie:
        keys.append("pcie")
    if _trays(placement) > 1:
        keys.append("trays")
    candidates = (
        Condition(key=key, time=changed_time(key, operation, size, placement, machine))
        for key in keys
    )
    return tuple(condition for condition in candidates if condition.time < float("inf"))


def changed_time(
    key: str, operation: str, size: Bytes, placement: CollectivePlacement, machine: str
) -> Seconds:
    """Return the time of a collective under a condition; infinite if it cannot apply."""
    return min(
        _changed_times(key, operation, size, placement, machine).values(), default=float("inf")
    )


def _changed_times(
    key: str, operation: str, size: Bytes, placement: CollectivePlacement, machine: str
) -> Mapping[str, Seconds]:
    if key in ("ring", "small", "no_switch"):
        times = algorithm_times(operation, size, placement)
        if key == "small":
            return {name: time for name, time in times.items() if name.endswith("LL")}
        if key == "no_switch":
            without_switch = {
                name: time for name, time in times.items() if not name.startswith("NVLS")
            }
            algorithm = (
                chosen_algorithm(operation, size, placement, without_switch)
                if without_switch
                else ""
            )
            return (
                {algorithm: without_switch[algorithm]}
                if len(without_switch) < len(times) and algorithm
                else {}
            )
        rings = {name: time for name, time in times.items() if name.startswith("Ring")}
        return rings if any(name.startswith("NVLS") for name in times) else {}
    if (key == "pcie" and not placement.pcie) or (key == "trays" and _trays(placement) < 2):
        return {}
    return algorithm_times(operation, size, _changed_placement(key, placement, machine))


def _trays(placement: CollectivePlacement) -> Count:
    """Return the hosts of a rack that its ranks take; 0 where the ranks are in no rack, or two."""
    per_host = placement.node.gpus_per_host
    return -(-placement.group.ranks // per_host) if per_host and placement.group.nodes == 1 else 0


def _changed_placement(
    key: str, placement: CollectivePlacement, machine: str
) -> CollectivePlacement:
    """Return the placement of the same ranks on other links or fewer ports."""
    group, ports = placement.group, placement.node.nics_per_node
    if key == "trays":
        return place_collective(machine, group.ranks, _trays(placement), own=placement.own)
    if key in ("half_ports", "one_port"):
        num_ports = max(1, ports // 2) if key == "half_ports" else 1
        return place_collective(machine, group.ranks, group.nodes, num_ports, placement.own)
    if key == "pcie":
        return _limit_bandwidth(placement, PCIE_5 * placement.pcie / _PCIE_5)
    return _limit_bandwidth(placement, SOCKETS)


def _limit_bandwidth(placement: CollectivePlacement, bandwidth: Bandwidth) -> CollectivePlacement:
    """Return the placement with a limited group bandwidth and without in-switch reduction."""
    rank = replace(
        placement.rank,
        switch=0.0,
        port=bandwidth * placement.group.nodes / placement.group.ranks,
        scale_up=placement.rank.scale_up if placement.group.nodes > 1 else bandwidth,
    )
    group = replace(placement.group, bandwidth=bandwidth)
    return replace(placement, rank=rank, group=group)


def bus_bandwidth_of(operation: Operation, size: Bytes, time: Seconds, ranks: int) -> Bandwidth:
    """Return the bus bandwidth of a time; 0 of an infinite one."""
    return 0.0 if time == float("inf") else bus_bandwidth(size, time, operation, ranks)
