"""The verdict on a text of NCCL."""

from engine.calculators.moving_bytes.nccl_log.result import Result
from engine.catalog.nodes import NODES
from engine.core.text import Sentence, Text, say
from engine.core.units import BANDWIDTH, COUNT, SHARE
from engine.core.views import Badge
from engine.form.nccl_fields import size_text
from engine.simulate.collectives.nccl_check import EXPECTED_TOLERANCE
from engine.simulate.collectives.nccl_effect import CONDITION_NAMES

_TITLES = {
    "wrong": ("Wrong results", "bad"),
    "slow": ("Slow", "communication"),
    "expected": ("As expected", "compute"),
    "fast": ("Faster than expected", "memory"),
    "small": ("Too small to judge", "muted"),
    "unjudged": ("No model", "muted"),
    "no table": ("No table", "muted"),
}


def verdict(result: Result) -> Badge:
    """Return whether the largest message is as fast as the machines allow."""
    name = result.found.verdict
    title, color = _TITLES[name]
    return Badge(text=title, sentence=_SENTENCES[name](result), color=color)


def _wrong(result: Result) -> Text:
    rows = [judged.row for judged in result.found.rows if judged.row.wrong]
    return say(
        "Line {line} counts {n} wrong values. Find the broken part before you read any bandwidth.",
        line=(rows[0].line, COUNT),
        n=(rows[0].wrong, COUNT),
    )


def _slow(result: Result) -> Text:
    largest, nearest = result.found.largest, result.found.alike[0]
    words = "{off} below the expected {expected}."
    if largest and largest.row.bus_bandwidth < 0.6 * result.found.best:
        words += " Smaller messages reached {best}: look for loss or pauses in the network first."
    elif nearest.key:
        words += f" The closest match: {CONDITION_NAMES[nearest.key]}, which would give {{alike}}."
    return _largest_sentence(result, words)


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


def _unjudged(result: Result) -> Text:
    return (
        "The model has no time for this operation. Compare its bus bandwidth with the line rate "
        "yourself."
    )


def _no_table(result: Result) -> Text:
    debug = result.text.debug
    if debug is None:
        return "The text holds no row of a table."
    ports = NODES[result.found.setting.machine].nics_per_node
    between = sum(count for way, count in debug.ways.items() if way.startswith("NET"))
    numbers = {
        "b": (result.found.plateau, BANDWIDTH),
        "ports": (debug.ports, COUNT),
        "all": (ports, COUNT),
    }
    if debug.network.startswith("Socket") and result.nodes > 1:
        words = "NCCL uses IP sockets between the nodes: it found no RDMA, or was told not to look."
    elif "SHM" in debug.ways:
        words = "GPUs of a node talk through the memory of the host (SHM), not directly."
    elif 0 < debug.ports < ports and result.nodes > 1:
        words = "The log lists {ports} of the {all} ports that such a machine has."
    elif between > debug.direct:
        words = "Not every channel between nodes uses GPUDirect RDMA; look below."
    else:
        words = "A log names wires, variables and choices, but no bandwidth."
    return say(words + " A large all-reduce should reach {b} on whole machines.", **numbers)


_SENTENCES = {
    "wrong": _wrong,
    "slow": _slow,
    "expected": _expected,
    "fast": _fast,
    "small": _small,
    "unjudged": _unjudged,
    "no table": _no_table,
}


def _largest_sentence(result: Result, words: str) -> Sentence:
    largest = result.found.largest
    nearest = result.found.alike[0].bandwidth if result.found.alike else 0.0
    return say(
        words,
        off=(abs(largest.off) if largest else 0.0, SHARE),
        expected=(largest.expected if largest else 0.0, BANDWIDTH),
        best=(result.found.best, BANDWIDTH),
        alike=(nearest, BANDWIDTH),
        alike_share=(EXPECTED_TOLERANCE, SHARE),
    )
