"""Everything in a text of NCCL that speaks against the run, one sentence each."""

import re
from collections.abc import Iterator

from engine.calculators.moving_bytes.nccl_log.result import Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nodes import NODES
from engine.core.text import Text, escape_braces, say
from engine.core.units import COUNT
from engine.run.logs.nccl_debug import NcclDebug

_SHOWN = 3
_STATUS = re.compile(r"Got completion .{1,80}?status=(\d{1,2})\b")
# Status of a completion that failed (verbs, enum ibv_wc_status).
_COMPLETIONS = {
    "5": " Status 5 follows from an error before it: look for the first.",
    "10": " Status 10: the peer refused the access to its memory.",
    "12": " Status 12: a port was asked again and again and did not answer. Its link flaps, the "
    "path loses packets, or, over RoCE, the two use different GIDs or priorities.",
    "13": " Status 13: the peer had no buffer ready, again and again.",
}


def faults(result: Result) -> tuple[Text, ...]:
    """Return every fault that the lines of a log show, then what variables force."""
    debug = result.text.debug
    found: list[Text] = []
    if debug is not None:
        found += [*_network_faults(result, debug), *_node_faults(result, debug)]
        found += _warnings(debug)
    return (*found, *_forced(result))


def _several_hosts(result: Result, debug: NcclDebug) -> bool:
    counted = max(result.nodes, result.found.setting.hosts, debug.nodes)
    return counted > 1 or any(way.startswith("NET") for way in debug.ways)


def _network_faults(result: Result, debug: NcclDebug) -> Iterator[Text]:
    machine = result.found.setting.machine
    if debug.network.startswith("Socket") and _several_hosts(result, debug):
        yield ("NCCL uses IP sockets between the nodes: it found no RDMA, or was told not to look.")
    ports = NODES[machine].nics_per_node if machine else 0
    if 0 < debug.ports < ports and result.nodes > 1:
        yield say(
            "The log lists {ports} of the {all} ports that such a machine has.",
            ports=(debug.ports, COUNT),
            all=(ports, COUNT),
        )
    between = sum(count for way, count in debug.ways.items() if way.startswith("NET"))
    if between > debug.direct:
        yield say(
            "GPUDirect RDMA carries {d} of the {n} channels between nodes.",
            d=(debug.direct, COUNT),
            n=(between, COUNT),
        )


def _node_faults(result: Result, debug: NcclDebug) -> Iterator[Text]:
    machine = result.found.setting.machine
    if "SHM" in debug.ways:
        yield "GPUs of a node talk through the memory of the host (SHM), not directly."
    adds = machine and ACCELERATORS[NODES[machine].gpu].switch_adds
    if debug.multicast == "not available" and adds:
        yield "The NVSwitch cannot add (NVLS is not available), where such a machine can."
    if debug.rack == "off" and machine and NODES[machine].gpus_per_host:
        yield "The network joins the hosts of the rack, not its NVLink (MNNVL 0): look at IMEX."


def _warnings(debug: NcclDebug) -> Iterator[Text]:
    for note in debug.warnings[:_SHOWN]:
        warning = escape_braces(note.reason)
        status = _STATUS.search(note.reason)
        means = _COMPLETIONS.get(status[1], "") if status else ""
        yield say(f"NCCL warns on line {{line}}: {warning}.{means}", line=(note.line, COUNT))


def _forced(result: Result) -> Iterator[Text]:
    for choice in result.found.forced:
        variable = choice.variable
        said = escape_braces(f"{variable.name}={variable.value}")
        words = escape_braces(choice.words)
        yield say(f"You {words} ({said}, line {{line}}).", line=(variable.line, COUNT))
