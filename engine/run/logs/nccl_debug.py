"""Reader of NCCL_DEBUG=INFO output: versions, links, variables, algorithm choices.

A choice has two forms. Up to 2.23 its tuner prints numbers, "N Bytes -> Algo 1 proto 2 time T"
(since 2.23 with the operation before it); from 2.24 on names and channels. The numbers are those of
`nccl_tuner.h`; the formats were read in the source of 2.18 to 2.30.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.core.units import MICRO, Bytes, Count, Seconds
from engine.run.importers.import_report import TextError
from engine.run.logs.nccl_environment import EnvironmentVariable
from engine.run.logs.nccl_tests import LineNote
from engine.run.logs.nccl_words import quote_word

LONGEST_DEBUG = 1_000_000
_LONGEST_LINE, _MOST = 1000, 5000
ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
OPERATIONS: Mapping[str, str] = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "AlltoAll": "all_to_all",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
    "SendRecv": "send_receive",
    "Gather": "gather",
    "Scatter": "scatter",
}
_ALGORITHM_OF = {name.lower(): name for name in ALGORITHMS} | {
    "nvls_tree": "NVLSTree",
    "collnet_direct": "CollNetDirect",
    "collnet_chain": "CollNetChain",
}
_PROTOCOL_OF = {name.lower(): name for name in PROTOCOLS}
_BYTES = r"(?:(\w{1,20})(?: \[([\w ]{1,20})\])?: +)?(\d{1,16}) Bytes -> "
_NUMBERED = re.compile(_BYTES + r"Algo (\d) proto (\d) time ([0-9.]{1,20})")
_NAMED = re.compile(
    _BYTES + r"Algo (\w{1,20}) proto (\w{1,10}) channel\{Lo\.\.Hi\}=\{(\d{1,3})\.\.(\d{1,3})\}"
)
_KERNEL = re.compile(_BYTES + r"(?:Kernel|RMA|cudaMemcpy) ?(\w{0,60})")
_HOST = re.compile(r"([\w.-]{1,80}):\d{1,9}:\d{1,9} \[\d{1,3}\] NCCL ")
_ENV = re.compile(r"(NCCL_[A-Z0-9_]{2,40}) set by environment to (\S{0,60})")
_VIA = re.compile(r"via (P2P|SHM|NET)/?([\w ]{0,30})")
_PORTS = re.compile(r"\[\d{1,2}\]([\w.-]{1,40}):\d{1,3}/(\w{2,10})")
_RANKS = re.compile(r"\brank \d{1,7} n[rR]anks (\d{1,7})\b(?: nNodes (\d{1,7})\b)?")
_PLATFORM = re.compile(r"NET/OFI Running on ([\w-]{2,20})(?:\.\w{1,20})? platform")
_FOUND = re.compile(r"NET/OFI Selected [Pp]rovider is .{1,80}\(found (\d{1,4}) nics\)")
_RACK = re.compile(r"\bMNNVL ([01])\b")
_VERSION = re.compile(r"NCCL version (\d{1,3}(?:\.\d{1,3}){1,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclChoice:
    """NCCL's algorithm and protocol choice for one collective.

    Attributes:
        line: of the text, from 1.
        operation: as `Operation`; empty where the line does not name it.
        size: of the message.
        algorithm: of `ALGORITHMS`, or "symmetric kernel" and the like.
        protocol: of `PROTOCOLS`; empty where there is none.
        channels: that it uses; 0 where the line does not say.
        time: that NCCL expects; 0 likewise.
    """

    line: Count
    operation: str
    size: Bytes
    algorithm: str
    protocol: str = ""
    channels: Count = 0
    time: Seconds = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclDebug:
    """Summary of all NCCL debug lines of a text.

    Attributes:
        version: as 2.27.7; empty where no line says.
        ranks: of the largest communicator; 0 likewise.
        nodes: hosts that wrote lines; 0 likewise.
        said_nodes: of the largest communicator, where a line counts them (2.21 and later).
        network: "IB", "Socket" and the like; empty likewise.
        fabric: "IB" or "RoCE" by the ports' own lines; empty likewise.
        ports: that one process uses, 0 where no line lists them.
        multicast: whether the switch can add: "available", "not available", or empty.
        platform: machine type that Amazon's plug-in names, as "p5"; empty where no line does.
        rack: whether NVLink joins hosts (MNNVL): "on", "off", or empty where no line says.
        ways: kind of transport -> channels that took it.
        direct: channels between nodes with GPUDirect RDMA.
        variables: set by the environment, each once.
        chosen: algorithms, in the order of the text.
        warnings: line and text of NCCL WARN.
        notes: lines that look like a choice and could not be read.
    """

    version: str = ""
    ranks: Count = 0
    nodes: Count = 0
    said_nodes: Count = 0
    network: str = ""
    fabric: str = ""
    ports: Count = 0
    multicast: str = ""
    rack: str = ""
    platform: str = ""
    ways: Mapping[str, Count] = field(default_factory=dict)
    direct: Count = 0
    variables: tuple[EnvironmentVariable, ...] = ()
    chosen: tuple[NcclChoice, ...] = ()
    warnings: tuple[LineNote, ...] = ()
    notes: tuple[LineNote, ...] = ()


class _DebugState:
    """Parser state: the values read so far."""

    def __init__(self) -> None:
        self.version = self.network = self.fabric = self.multicast = self.rack = ""
        self.platform = ""
        self.sockets = False
        self.ranks = self.said_nodes = self.ports = self.direct = 0
        self.hosts: set[str] = set()
        self.ways: dict[str, int] = {}
        self.variables: dict[str, EnvironmentVariable] = {}
        self.chosen: list[NcclChoice] = []
        self.warnings: list[LineNote] = []
        self.notes: list[LineNote] = []


def read_nccl_debug(text: str) -> NcclDebug:
    """Return the summary of a text's NCCL lines; raise `TextError` if there are none."""
    if len(text) > LONGEST_DEBUG:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_DEBUG:,}")
    state, seen = _DebugState(), False
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole[:_LONGEST_LINE]
        if "NCCL " not in line and " Bytes -> " not in line:
            continue
        seen = _read_line(state, number, line) or seen
    if not seen:
        raise TextError(
            "line 1: no line of NCCL is recognized; allowed: what it prints with NCCL_DEBUG=INFO "
            "and NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING"
        )
    sockets = "NET/Socket" in state.ways or (state.sockets and not state.ports)
    return NcclDebug(
        version=state.version,
        ranks=state.ranks,
        nodes=len(state.hosts),
        said_nodes=state.said_nodes,
        network=state.network or ("Socket" if sockets else ""),
        fabric=state.fabric,
        ports=state.ports,
        multicast=state.multicast,
        rack=state.rack,
        platform=state.platform,
        ways=state.ways,
        direct=state.direct,
        variables=tuple(state.variables.values()),
        chosen=tuple(state.chosen[:_MOST]),
        warnings=tuple(state.warnings[:100]),
        notes=tuple(state.notes[:100]),
    )


def _read_line(state: _DebugState, number: int, line: str) -> bool:
    """Read one line; return whether it is a line of NCCL."""
    if host := _HOST.search(line):
        state.hosts.add(host[1])
    taken = [take(state, number, line) for take in _LINE_READERS]
    return any(taken) or "NCCL INFO" in line or "NCCL WARN" in line


def _read_choice(state: _DebugState, number: int, line: str) -> bool:
    if " Bytes -> " not in line:
        return False
    chosen = _parse_choice(number, line)
    if chosen is None:
        reason = "a choice of NCCL in no known form: " + quote_word(
            line.partition(" -> ")[2].strip()
        )
        state.notes.append(LineNote(line=number, reason=reason))
    else:
        state.chosen.append(chosen)
    return chosen is not None


def _parse_choice(number: int, line: str) -> NcclChoice | None:
    if named := _NAMED.search(line):
        algorithm = _ALGORITHM_OF.get(named[4].lower(), named[4])
        protocol = _PROTOCOL_OF.get(named[5].lower(), named[5])
        channels = int(named[7]) - int(named[6]) + 1
        return _make_choice(number, named, algorithm, protocol, channels=max(channels, 0))
    if numbered := _NUMBERED.search(line):
        first, second = int(numbered[4]), int(numbered[5])
        if first >= len(ALGORITHMS) or second >= len(PROTOCOLS):
            return None
        time = _parse_number(numbered[6]) * MICRO
        return _make_choice(number, numbered, ALGORITHMS[first], PROTOCOLS[second], time=time)
    if kernel := _KERNEL.search(line):
        return _make_choice(number, kernel, (kernel[2] or "other").lower() + " kernel", "")
    return None


def _make_choice(
    number: int,
    match: re.Match[str],
    algorithm: str,
    protocol: str,
    channels: Count = 0,
    time: Seconds = 0.0,
) -> NcclChoice:
    return NcclChoice(
        line=number,
        operation=OPERATIONS.get(match[1] or "", ""),
        size=float(match[3]),
        algorithm=algorithm,
        protocol=protocol,
        channels=channels,
        time=time,
    )


def _parse_number(word: str) -> float:
    return float(word) if re.fullmatch(r"\d{1,12}(?:\.\d{0,9})?", word) else 0.0


def _read_variable(state: _DebugState, number: int, line: str) -> bool:
    match = _ENV.search(line)
    if match and len(state.variables) < 200:
        variable = EnvironmentVariable(line=number, name=match[1], value=match[2].rstrip("."))
        state.variables.setdefault(match[1], variable)
    return match is not None


def _read_version(state: _DebugState, number: int, line: str) -> bool:
    match = _VERSION.search(line)
    state.version = state.version or (match[1] if match else "")
    return match is not None


def _read_ranks(state: _DebugState, number: int, line: str) -> bool:
    match = _RANKS.search(line)
    ranks = int(match[1]) if match else 0
    if match and match[2] and ranks >= state.ranks:
        state.said_nodes = int(match[2])
    state.ranks = max(state.ranks, ranks)
    if rack := _RACK.search(line):
        state.rack = "on" if rack[1] == "1" else state.rack or "off"
    return match is not None or rack is not None


def _read_network(state: _DebugState, number: int, line: str) -> bool:
    if "Using network " in line:
        state.network = line.partition("Using network ")[2].strip()[:40]
        return True
    if "NET/Socket : Using " in line:
        state.sockets = True
        return True
    if "NET/IB : Using " in line:
        ports = _PORTS.findall(line)
        state.ports = max(state.ports, len(ports))
        state.fabric = state.fabric or (ports[0][1] if ports else "")
        return True
    if match := _PLATFORM.search(line):
        state.platform = match[1].lower()
        return True
    if match := _FOUND.search(line):
        state.ports = max(state.ports, int(match[1]))
        return True
    if "NVLS multicast support is " in line:
        word = "not available" if "is not available" in line else "available"
        state.multicast = state.multicast or word
        return True
    return False


def _read_transport(state: _DebugState, number: int, line: str) -> bool:
    match = _VIA.search(line) if "Channel" in line else None
    if not match:
        return False
    kind = f"NET/{match[2].strip()}" if match[1] == "NET" else match[1]
    if kind in state.ways or len(state.ways) < 20:
        state.ways[kind] = state.ways.get(kind, 0) + 1
    state.direct += match[1] == "NET" and "GDRDMA" in line
    return True


def _read_warning(state: _DebugState, number: int, line: str) -> bool:
    if "NCCL WARN" not in line:
        return False
    text = line.partition("NCCL WARN")[2].strip()
    shown = "".join(c if c.isprintable() else "?" for c in text[:120])
    state.warnings.append(LineNote(line=number, reason=shown))
    return True


_LINE_READERS: tuple[Callable[[_DebugState, int, str], bool], ...] = (
    _read_choice,
    _read_variable,
    _read_version,
    _read_ranks,
    _read_network,
    _read_transport,
    _read_warning,
)
