"""The verdict on a table, its curve beside the model's, its rows, and what else would give it."""

from dataclasses import replace
from math import inf
from typing import cast

from engine.basis.text import Sentence, Text, say
from engine.basis.units import BANDWIDTH, BYTES, COUNT, GB, RATIO, SECONDS, SHARE
from engine.basis.views import Axis, Badge, Cell, Lines, Point, Rule, Series, Table
from engine.calculators.moving_bytes.nccl_log.inputs import Result
from engine.catalog.nodes import NODES
from engine.form.nccl_fields import off_words, size_words
from engine.formulas.bandwidth import Operation, algorithm_bandwidth
from engine.run.logs.nccl_tests import Row
from engine.simulate.nccl_check import ALIKE, Judged, has_factor
from engine.simulate.nccl_choice import charged
from engine.simulate.nccl_effect import NAMES, bandwidth_of

_LEAST: float = 0.001 * GB
_SIZES = tuple(2.0**power for power in range(10, 35, 2))
_TITLES = {
    "wrong": ("Wrong results", "bad"),
    "slow": ("Slow", "communication"),
    "expected": ("As expected", "compute"),
    "fast": ("Faster than expected", "memory"),
    "small": ("Too small to judge", "muted"),
    "unjudged": ("No model", "muted"),
    "no table": ("No table", "muted"),
}


def measured_note(result: Result, note: str) -> str:
    """Return the note of a measured number, or why there is none."""
    return note if result.found.largest else "the text holds no table"


def verdict(result: Result) -> Badge:
    """Return whether the largest message is as fast as the machines allow."""
    name = result.found.verdict
    title, color = _TITLES[name]
    return Badge(text=title, sentence=_SENTENCES[name](result), color=color)


def _wrong(result: Result) -> Text:
    rows = [one.row for one in result.found.rows if one.row.wrong]
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
        words += f" Nearest to it comes {NAMES[nearest.key]}, with {{alike}}."
    return _of_largest(result, words)


def _expected(result: Result) -> Text:
    return _of_largest(result, "Within {alike_share} of {expected}, which the model gives.")


def _fast(result: Result) -> Text:
    return _of_largest(
        result,
        "{off} above the expected {expected}: are machines, GPUs and nodes those of the test? "
        "Sums in the switches of the network (SHARP) can do it too.",
    )


def _small(result: Result) -> Text:
    return _of_largest(
        result,
        f"The largest message is {size_words(result.size)}, whose time is mostly latency. "
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


def _of_largest(result: Result, words: str) -> Sentence:
    largest = result.found.largest
    nearest = result.found.alike[0].bandwidth if result.found.alike else 0.0
    return say(
        words,
        off=(abs(largest.off) if largest else 0.0, SHARE),
        expected=(largest.expected if largest else 0.0, BANDWIDTH),
        best=(result.found.best, BANDWIDTH),
        alike=(nearest, BANDWIDTH),
        alike_share=(ALIKE, SHARE),
    )


def line_note(result: Result) -> Text:
    """Return whose line rate it is."""
    setting = result.found.setting
    assumed = "" if setting.known else ", assumed"
    name = f"{NODES[setting.machine].name}{assumed}"
    if result.nodes > 1:
        return say(f"{name}: ports of one of {{n}} nodes", n=(result.nodes, COUNT))
    return f"{name}: links of one GPU"


def curve(result: Result) -> Lines:
    """Return bus bandwidth against the size of the message, measured and expected."""
    judged = [one for one in result.found.rows if one.row.size > 0]
    sizes = tuple(one.row.size for one in judged) or _SIZES
    measured = tuple(_bus(result, one.row) for one in judged)
    expected = tuple(_model(result, size) or _LEAST for size in sizes)
    least = min(_LEAST, *measured, *expected)
    last = Point(key="largest", label="", x=sizes[-1], y=_LEAST)
    if judged:
        label = say("{b}", b=(judged[-1].row.bus_bandwidth, BANDWIDTH))
        last = replace(last, label=label, y=measured[-1])
    series = [
        Series(key="expected", label="expected", x=sizes, y=expected, color="ink", dashed=True)
    ]
    if judged:
        one = Series(key="measured", label="measured", x=sizes, y=measured, color="communication")
        series.insert(0, one)
    return Lines(
        title="Your table: bus bandwidth by size of the message",
        x=Axis(
            label="message",
            quantity=BYTES,
            low=min(sizes),
            high=max(*sizes, min(sizes) * 2),
            scale="log",
        ),
        y=Axis(
            label="bus bandwidth",
            quantity=BANDWIDTH,
            low=least,
            high=1.6 * max(*measured, *expected, result.line),
            scale="log",
        ),
        series=tuple(series),
        points=(last,) if judged else (),
        rules=(
            Rule(
                key="line",
                label=say("line rate {b}", b=(result.line, BANDWIDTH)),
                axis="y",
                at=result.line,
                color="muted",
            ),
        ),
        caption="Both axes are logarithmic. The expected time is the one that a training step is "
        "charged for the same collective.",
    )


def _model(result: Result, size: float) -> float:
    setting = result.found.setting
    if not has_factor(setting.operation):
        return 0.0
    operation = cast(Operation, setting.operation)
    time = charged(operation, size, result.found.where)
    return bandwidth_of(operation, size, time, result.ranks)


def _bus(result: Result, row: Row) -> float:
    """Return the bus bandwidth from size and time: printed ones of small messages are 0.00."""
    operation = result.found.setting.operation
    if has_factor(operation) and result.ranks > 1:
        return bandwidth_of(cast(Operation, operation), row.size, row.time, result.ranks) or _LEAST
    factor = row.bus_bandwidth / row.algorithm_bandwidth if row.algorithm_bandwidth else 1.0
    return factor * algorithm_bandwidth(row.size, row.time) or _LEAST


def alike(result: Result) -> Table:
    """Return what the largest message would reach under other conditions, the nearest first."""
    largest = result.found.largest
    rows: list[tuple[Cell, ...]] = []
    for one in result.found.alike:
        name = NAMES.get(one.key, "nothing is wrong")
        ratio = one.bandwidth / largest.row.bus_bandwidth if largest else inf
        rows.append(
            (
                name[0].upper() + name[1:],
                say("{b}", b=(one.bandwidth, BANDWIDTH)),
                say("{r}", r=(ratio, RATIO)),
            )
        )
    return Table(
        title="What would give this number?",
        columns=("If it were", "Bus bandwidth", "Over the measured"),
        rows=tuple(rows),
        caption="Each row changes one thing in the model. A row near 1 is a suspect, not a proof.",
    )


def rows(result: Result) -> Table:
    """Return every row of the table, judged; with NCCL's choices where the text has some."""
    shown = result.found.rows[-60:]
    columns = "Message", "Time", "Expected", "Off by", "Model's choice", "NCCL's choice"
    last = len(columns) if any(one.chosen for one in shown) else -1
    return Table(
        title="Row by row",
        columns=columns[:last],
        rows=tuple(_row(one)[:last] for one in shown),
        caption="Off by: bandwidth against the expected one. Small messages differ by more, since "
        "how the test starts its ranks counts there.",
    )


def _row(one: Judged) -> tuple[Cell, ...]:
    chosen = one.chosen
    return (
        size_words(one.row.size),
        say("{t}", t=(one.row.time, SECONDS)),
        say("{t}", t=(one.time, SECONDS)) if one.expected else "",
        off_words(one.off) if one.expected else "",
        one.fastest,
        f"{chosen.algorithm} {chosen.protocol}".strip() if chosen else "",
    )
