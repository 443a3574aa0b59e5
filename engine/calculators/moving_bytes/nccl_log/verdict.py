"""The verdict on a text of NCCL: fine, not fine, or why neither can be said."""

import re
from collections.abc import Iterator

from engine.calculators.moving_bytes.nccl_log.result import Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nccl_devices import device_row, published_bandwidth
from engine.catalog.nodes import NODES
from engine.core.text import Text, escape_braces, joined, say
from engine.core.units import BANDWIDTH, COUNT, SHARE
from engine.core.views import Badge
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import size_text
from engine.run.logs.nccl_debug import NcclDebug
from engine.run.machines import transport_of
from engine.simulate.collectives.nccl_check import EXPECTED_TOLERANCE
from engine.simulate.collectives.nccl_effect import CONDITION_NAMES

CANNOT_SAY = "Cannot say"
_TITLES = {
    "wrong": ("Wrong results", "bad"),
    "slow": ("Slow", "communication"),
    "as set": ("As you set it", "memory"),
    "expected": ("As expected", "compute"),
    "fast": ("Faster than expected", "memory"),
    "small": ("Too small to judge", "muted"),
    "doubt": (CANNOT_SAY, "muted"),
    "several groups": (CANNOT_SAY, "muted"),
    "no machine": (CANNOT_SAY, "muted"),
    "unjudged": (CANNOT_SAY, "muted"),
    "no table": ("No table", "muted"),
}


def verdict(result: Result) -> Badge:
    """Return whether the largest message is as fast as the machines allow, and every fault."""
    name = result.check.verdict
    title, color = _TITLES[name]
    against = faults(result)
    if name == "no table" and against:
        title, color = "Faults in the log", "communication"
    sentences = [_SENTENCES[name](result), *_assumed(result, name), *against]
    return Badge(text=title, sentence=joined(sentences), color=color)


def _assumed(result: Result, name: str) -> list[Text]:
    """Return that the network was taken from a machine that only the GPU's name suggests."""
    setting = result.check.setting
    debug = result.text.debug
    machine_is_known = setting.chosen or (debug is not None and debug.platform == setting.machine)
    if name not in ("slow", "fast") or machine_is_known or result.nodes < 2:
        return []
    words = f"The ports are those of a {NODES[setting.machine].name}, by the name of the GPU:"
    return [f"{words} choose your machines if they have others."]


def _wrong(result: Result) -> Text:
    rows = [judged.row for judged in result.check.rows if judged.row.wrong]
    return say(
        "Line {line} counts {n} wrong values. Find the broken part before you read any bandwidth.",
        line=(rows[0].line, COUNT),
        n=(rows[0].wrong, COUNT),
    )


# A fault that leaves more bandwidth than this, over the measured, explains nothing.
_FAR = 1.5


def _slow(result: Result) -> Text:
    largest, nearest = result.check.largest, result.check.alike[0]
    words = "{off} below the expected {expected}."
    if largest and largest.row.bus_bandwidth < 0.6 * result.check.best:
        words += " Smaller messages reached {best}: look for loss or pauses in the network first."
    elif nearest.key and largest and nearest.bandwidth > _FAR * largest.row.bus_bandwidth:
        words += " No fault that this page knows gives so little: several at once, or another one."
    elif nearest.key:
        words += f" The closest match: {CONDITION_NAMES[nearest.key]}, which would give {{alike}}."
    return _largest_sentence(result, words)


def _as_set(result: Result) -> Text:
    choice = result.check.forced_match
    key = choice.key if choice else ""
    gives = next(
        (alternative.bandwidth for alternative in result.check.alike if alternative.key == key), 0.0
    )
    return _largest_sentence(
        result,
        "{off} below the {expected} that NCCL would reach, and within {alike_share} of the "
        f"{{alike}} that this setting gives: {CONDITION_NAMES.get(key, key)}.",
        alike=gives,
    )


def _expected(result: Result) -> Text:
    return _largest_sentence(result, "Within {alike_share} of {expected}, which the model gives.")


def _fast(result: Result) -> Text:
    return _largest_sentence(
        result,
        "{off} above the expected {expected}: are machines, GPUs and nodes those of the test? "
        "Sums in the switches of the network (SHARP) can do it too.",
    )


def _small(result: Result) -> Text:
    return _largest_sentence(
        result,
        f"The largest message is {size_text(result.size)}, whose time is mostly latency. "
        "Run the test up to 8 GiB.",
    )


def _doubt(result: Result) -> Text:
    rows = result.check.rows
    return say(
        "Every row contradicts itself, the first on line {line}: size over time is not its "
        "bandwidth. Is a column missing, or the table from before 2019?",
        line=(rows[0].row.line, COUNT),
    )


def _several_groups(result: Result) -> Text:
    return (
        "The rows are of several numbers of GPUs, or of fewer than are listed, by the ratio of "
        "their two bandwidths. Paste one table, or set the number of GPUs."
    )


def _no_machine(result: Result) -> Text:
    devices = result.text.devices
    if not devices:
        return "The text names no GPU. Choose the machines."
    names = escape_braces(", ".join(devices[:4]))
    if len(devices) > 1:
        return f"The text lists several GPUs ({names}). Choose the machines of the slowest."
    row = device_row(devices[0])
    if row is None:
        return f"{names} is not known here. Choose the machines if they are on the list."
    words = f"The name {names} does not say how fast these GPUs can talk: {row.joined_by}. "
    words += "Choose the machines if they are on the list."
    published = published_bandwidth(devices[0], result.ranks, result.check.setting.operation)
    if published is None:
        return words
    words += (
        f" As many of them, joined by {published.joined}, were reported with {{b}} "
        f"({published.report})."
    )
    return say(words, b=(published.bandwidth, BANDWIDTH))


def _unjudged(result: Result) -> Text:
    operation = result.check.setting.operation
    return (
        f"The model has no time for this operation ({TESTED.get(operation, operation)}). Compare "
        "its bus bandwidth with the line rate yourself."
    )


def _no_table(result: Result) -> Text:
    if result.text.debug is None:
        return "The text holds no row of a table."
    words = "A log names wires, variables and choices, but no bandwidth."
    if not result.check.plateau:
        return words + " Choose the machines to see what a large message should reach."
    words += " A large message should reach {b} on whole machines."
    return say(words, b=(result.check.plateau, BANDWIDTH))


_SENTENCES = {
    "wrong": _wrong,
    "slow": _slow,
    "as set": _as_set,
    "expected": _expected,
    "fast": _fast,
    "small": _small,
    "doubt": _doubt,
    "several groups": _several_groups,
    "no machine": _no_machine,
    "unjudged": _unjudged,
    "no table": _no_table,
}


def _largest_sentence(result: Result, words: str, alike: float = 0.0) -> Text:
    largest = result.check.largest
    nearest = result.check.alike[0].bandwidth if result.check.alike else 0.0
    return say(
        words,
        off=(abs(largest.off) if largest else 0.0, SHARE),
        expected=(largest.expected if largest else 0.0, BANDWIDTH),
        best=(result.check.best, BANDWIDTH),
        alike=(alike or nearest, BANDWIDTH),
        alike_share=(EXPECTED_TOLERANCE, SHARE),
    )


# Everything in a text of NCCL that speaks against the run, one sentence each.

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
    sentences: list[Text] = []
    if debug is not None:
        sentences += [*_network_faults(result, debug), *_node_faults(result, debug)]
        sentences += _warnings(debug)
    return (*sentences, *_forced(result))


def _several_hosts(result: Result, debug: NcclDebug) -> bool:
    counted = max(result.nodes, result.check.setting.hosts, debug.nodes)
    return counted > 1 or any(transport.startswith("NET") for transport in debug.ways)


def _network_faults(result: Result, debug: NcclDebug) -> Iterator[Text]:
    machine = result.check.setting.machine
    if debug.network.startswith("Socket") and _several_hosts(result, debug):
        words = "NCCL uses IP sockets between the nodes: it found no RDMA, or was told not to look."
        if machine and transport_of(machine).startswith("efa"):
            words += (
                " It reaches EFA only through the plug-in aws-ofi-nccl, whose lines begin with "
                "NET/OFI: is its library in the path, and NCCL_NET_PLUGIN right?"
            )
        yield words
    ports = NODES[machine].nics_per_node if machine else 0
    if 0 < debug.ports < ports and result.nodes > 1:
        yield say(
            "The log lists {ports} of the {all} ports that such a machine has.",
            ports=(debug.ports, COUNT),
            all=(ports, COUNT),
        )
    between = sum(count for transport, count in debug.ways.items() if transport.startswith("NET"))
    if between > debug.direct:
        yield say(
            "GPUDirect RDMA carries {d} of the {n} channels between nodes.",
            d=(debug.direct, COUNT),
            n=(between, COUNT),
        )


def _node_faults(result: Result, debug: NcclDebug) -> Iterator[Text]:
    machine = result.check.setting.machine
    if "SHM" in debug.ways:
        yield "GPUs of a node talk through the memory of the host (SHM), not directly."
    adds = machine and ACCELERATORS[NODES[machine].gpu].switch_adds
    if debug.multicast == "not available" and adds:
        yield "The NVSwitch cannot add (NVLS is not available), where such a machine can."
    if machine and NODES[machine].gpus_per_host and debug.rack != "on":
        yield from _rack_faults(debug)


_IMEX = (
    " IMEX gives memory of one host to the GPUs of another: its daemon has to run on every host "
    "of the rack (nvidia-imex-ctl -N), and a container needs its channel "
    "(/dev/nvidia-caps-imex-channels)."
)


def _rack_faults(debug: NcclDebug) -> Iterator[Text]:
    """Return why NVLink does not join the hosts of a rack, as NCCL decides it.

    Source: `ncclMnnvlCheck` of NCCL's mnnvl.cc, which gives up without a line unless cuMem is on
    and the fabric of every rank is complete.
    """
    values = {variable.name: variable.value for variable in debug.variables}
    for name, words in _NEEDED_BY_RACK.items():
        if values.get(name) == "0":
            yield (
                f"{words} ({name}=0), so the network joins the hosts of the rack, not its NVLink. "
                "No line of NCCL says so."
            )
            return
    if debug.rack == "off":
        yield "The network joins the hosts of the rack, not its NVLink (MNNVL 0)." + _IMEX


_NEEDED_BY_RACK = {
    "NCCL_CUMEM_ENABLE": "Buffers are not those of CUDA's cuMem, which NVLink between hosts needs",
    "NCCL_MNNVL_ENABLE": "NVLink between hosts is switched off",
}


def _warnings(debug: NcclDebug) -> Iterator[Text]:
    for note in debug.warnings[:_SHOWN]:
        warning = escape_braces(note.reason)
        status = _STATUS.search(note.reason)
        means = _COMPLETIONS.get(status[1], "") if status else ""
        if "MNNVL" in note.reason:
            means = _IMEX
        yield say(f"NCCL warns on line {{line}}: {warning}.{means}", line=(note.line, COUNT))


def _forced(result: Result) -> Iterator[Text]:
    for choice in result.check.forced:
        variable = choice.variable
        setting = escape_braces(f"{variable.name}={variable.value}")
        words = escape_braces(choice.words)
        yield say(f"You {words} ({setting}, line {{line}}).", line=(variable.line, COUNT))
