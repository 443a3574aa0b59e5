"""Paste nccl-tests or NCCL_DEBUG=INFO: bandwidth against the link, algorithm and protocol."""

from dataclasses import replace
from functools import partial
from math import inf

from engine.calculators.moving_bytes.nccl_log.result import PRESETS as PRESETS
from engine.calculators.moving_bytes.nccl_log.result import Inputs as Inputs
from engine.calculators.moving_bytes.nccl_log.result import Result
from engine.calculators.moving_bytes.nccl_log.result import solve as solve
from engine.calculators.moving_bytes.nccl_log.verdict import verdict
from engine.catalog.nccl_constants import VERSION
from engine.catalog.nccl_variables import VARIABLES
from engine.catalog.nodes import NODES
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, BYTES, COUNT, GB, RATIO, SECONDS
from engine.core.views import Axis, Cell, Lines, Point, Rule, Series, Table
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import difference_text, size_text
from engine.run.logs.nccl_debug import NcclChoice
from engine.run.logs.nccl_tests import LineNote
from engine.simulate.collectives.nccl_check import MessageCheck
from engine.simulate.collectives.nccl_effect import CONDITION_NAMES

TITLE = "Is my network fine?"
LARGEST = "of the largest message"
QUESTION = "Does my table of nccl-tests fit my links, and what does NCCL's log say it chose?"
HEADLINE = "bus_bandwidth"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "bus_bandwidth": present.value("bus_bandwidth", note=measured_note(result, LARGEST)),
        "verdict": verdict(result),
        **present.values("expected"),
        "line": present.value("line", note=line_note(result)),
        "share": present.value("share", note=measured_note(result, "")),
        "latency": present.value("latency", note=measured_note(result, "its time is latency")),
        "curve": partial(curve, result),
        "alike": partial(condition_bars, result),
        "rows": partial(row_table, result),
        "choices": partial(choice_table, result),
        "variables": partial(variable_table, result),
        "reading": reading_table(result),
    }


# Facts read from a log: versions, network, choices, variables and unread lines.

_SHOWN = 12
_NODES_FROM = "hosts in the text (a rack counts once), you, or the GPUs of a machine"
_KINDS = {
    "system": "describes the system; may stay",
    "debugging": "for debugging; take it out of jobs",
    "logging": "prints",
}


def choice_table(result: Result) -> Table:
    """Return the table of NCCL's choices beside the model's fastest."""
    return Table(
        title="What NCCL chose",
        columns=("Operation", "Message", "Algorithm, protocol", "Channels", "Model's choice"),
        rows=tuple(_choice_row(result, chosen, ours) for chosen, ours in result.chosen())
        or (("none in the text", "", "", "", ""),),
        caption="From lines of NCCL_DEBUG_SUBSYS=TUNING, each operation and size once.",
    )


def _choice_row(result: Result, chosen: NcclChoice, ours: str) -> tuple[Cell, ...]:
    operation = chosen.operation or result.check.setting.operation
    planned = say("{t} planned", t=(chosen.time, SECONDS)) if chosen.time else ""
    return (
        TESTED.get(operation, operation),
        size_text(chosen.size),
        f"{chosen.algorithm} {chosen.protocol}".strip(),
        say("{n}", n=(chosen.channels, COUNT)) if chosen.channels else planned,
        ours,
    )


def variable_table(result: Result) -> Table:
    """Return the table of NCCL variables in the environment, with advice."""
    rows: list[tuple[Cell, ...]] = []
    for variable in result.text.variables:
        known = VARIABLES.get(variable.name)
        rows.append(
            (
                variable.name,
                variable.value,
                say("{n}", n=(variable.line, COUNT)),
                _KINDS[known.kind] if known else "not in the table of this page",
                f"Never: {known.never}" if known else "",
            )
        )
    return Table(
        title="Variables that the environment sets",
        columns=("Variable", "Value", "Line", "Kind", "When not"),
        rows=tuple(rows) or (("none in the text", "", "", "", ""),),
        caption="From the command, a script, or lines of NCCL_DEBUG_SUBSYS=ENV. Every one of them "
        "changes what was measured.",
    )


def reading_table(result: Result) -> Table:
    """Return the table of facts read from the text, with their origin."""
    rows = [
        *_setting_rows(result),
        *_unjudged_rows(result),
        *_debug_rows(result),
        *_unread_rows(result),
    ]
    return Table(title="What was read", columns=("What", "Read", "From"), rows=tuple(rows))


def _setting_rows(result: Result) -> list[tuple[Cell, ...]]:
    setting, table, debug = result.check.setting, result.text.table, result.text.debug
    version = (table.version if table else "") or (debug.version if debug else "")
    counted = "the text, or you" if setting.counted else "the ratio of two columns, or one node"
    named = "you" if setting.chosen else "the name of the GPU, or Amazon's plug-in"
    machine = NODES[setting.machine].name if setting.machine else "not known"
    devices = ", ".join(result.text.devices[:_SHOWN])
    operation = TESTED.get(setting.operation, setting.operation)
    return [
        ("Rows of a table", _count_text(len(result.check.rows)), "nccl-tests"),
        ("Operation", operation, "the text, or you"),
        ("GPU", devices or "not named", "the list of ranks"),
        ("Machine", machine, named),
        ("GPUs", _count_text(result.ranks) if result.ranks else "not known", counted),
        ("Nodes", _count_text(result.nodes) if result.nodes else "not known", _NODES_FROM),
        ("NCCL", version_text(version), "its own line"),
    ]


def version_text(version: str) -> str:
    """Return the version of the NCCL that wrote the text, for the table, e.g. 2.27.7."""
    major, minor = (int(part) for part in VERSION.split("."))
    numbers = [int(part) for part in version.split(".")[:2]] if version else []
    if numbers > [major, minor]:
        return f"{version}: newer than this model, which chooses as {VERSION} does"
    return version or "not named"


def _unjudged_rows(result: Result) -> list[tuple[Cell, ...]]:
    """Return the operations of the text that are not judged."""
    if not (names := result.check.others):
        return []
    words = ", ".join(TESTED.get(name, name) for name in names)
    return [("Other tables", words, "the text; choose one under Operation")]


def _debug_rows(result: Result) -> list[tuple[Cell, ...]]:
    debug = result.text.debug
    if debug is None:
        return []
    ways = ", ".join(f"{name}: {count}" for name, count in sorted(debug.ways.items()))
    rows: list[tuple[Cell, ...]] = [
        ("Network", debug.network or "not named", "Using network"),
        ("Channels by wire", ways or "not listed", "lines with via"),
        ("Sums in the NVSwitch", debug.multicast or "not named", "NVLS multicast support"),
    ]
    if debug.platform:
        words = f"EFA, {debug.platform}" if debug.ports else f"of {debug.platform}, no port found"
        rows.append(("Amazon's network", words, "NET/OFI"))
    if debug.ports:
        line = "NET/OFI" if debug.platform else f"NET/IB, {debug.fabric}"
        rows.append(("Ports in use", _count_text(debug.ports), line))
    between = sum(count for name, count in debug.ways.items() if name.startswith("NET"))
    if between:
        direct = say("{d} of {n} channels", d=(debug.direct, COUNT), n=(between, COUNT))
        rows.append(("GPUDirect RDMA", direct, "GDRDMA"))
    if debug.rack:
        rows.append(("NVLink between hosts", debug.rack, "MNNVL"))
    rows += [("Warning", note.reason, _line_number(note)) for note in debug.warnings[:_SHOWN]]
    return rows


def _unread_rows(result: Result) -> list[tuple[Cell, ...]]:
    table, debug = result.text.table, result.text.debug
    notes = [*(table.notes if table else ()), *(debug.notes if debug else ())]
    rows: list[tuple[Cell, ...]] = [("Lines in doubt", _count_text(len(notes)), "")]
    rows += [("In doubt", note.reason, _line_number(note)) for note in notes[:_SHOWN]]
    return rows


def _line_number(note: LineNote) -> Text:
    return say("line {n}", n=(note.line, COUNT))


def _count_text(number: int) -> Text:
    return say("{n}", n=(number, COUNT))


# Charts of a benchmark table: measured and modeled curve, rows, and alternative conditions.

_LEAST: float = 0.001 * GB


def measured_note(result: Result, note: str) -> str:
    """Return the note of a measured number, or why there is none."""
    return note if result.check.largest else "the text holds no table"


def line_note(result: Result) -> Text:
    """Return the note that names the link of the line rate."""
    setting = result.check.setting
    if not setting.machine:
        return "choose the machines"
    name = NODES[setting.machine].name
    if result.nodes > 1:
        return say(f"{name}: ports of one of {{n}} nodes", n=(result.nodes, COUNT))
    return f"{name}: links of one GPU"


def curve(result: Result) -> Lines:
    """Return bus bandwidth against the size of the message, measured and expected."""
    judged = [line for line in result.check.rows if line.row.size > 0]
    bandwidths = result.curve()
    sizes = bandwidths.sizes
    measured, expected = (
        tuple(value or _LEAST for value in column)
        for column in (bandwidths.measured, bandwidths.expected)
    )
    least = min(_LEAST, *measured, *expected)
    last = Point(key="largest", label="", x=sizes[-1], y=_LEAST)
    if judged:
        label = say("{b}", b=(judged[-1].row.bus_bandwidth, BANDWIDTH))
        last = replace(last, label=label, y=measured[-1])
    series = [
        Series(key="expected", label="expected", x=sizes, y=expected, color="ink", dashed=True)
    ]
    series = series if result.check.where or not judged else []
    if judged:
        measured_series = Series(
            key="measured", label="measured", x=sizes, y=measured, color="communication"
        )
        series.insert(0, measured_series)
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
            high=1.6 * max(*measured, *expected, result.line if result.check.where else _LEAST),
            scale="log",
        ),
        series=tuple(series),
        points=(last,) if judged else (),
        rules=_line_rule(result),
        caption="Both axes are logarithmic. The expected time is the one that a training step is "
        "charged for the same collective.",
    )


def _line_rule(result: Result) -> tuple[Rule, ...]:
    if result.check.where is None:
        return ()
    label = say("line rate {b}", b=(result.line, BANDWIDTH))
    return (Rule(key="line", label=label, axis="y", at=result.line, color="muted"),)


def condition_bars(result: Result) -> Table:
    """Return the modeled bandwidth of the largest message under other conditions, nearest first."""
    largest = result.check.largest
    rows: list[tuple[Cell, ...]] = []
    for condition in result.check.alike:
        name = CONDITION_NAMES.get(condition.key, "nothing is wrong")
        ratio = condition.bandwidth / largest.row.bus_bandwidth if largest else inf
        rows.append(
            (
                name[0].upper() + name[1:],
                say("{b}", b=(condition.bandwidth, BANDWIDTH)),
                say("{r}", r=(ratio, RATIO)),
            )
        )
    return Table(
        title="What would give this number?",
        columns=("If it were", "Bus bandwidth", "Over the measured"),
        rows=tuple(rows) or (("nothing to compare with", "", ""),),
        caption="Each row changes one thing in the model. A row near 1 is a suspect, not a proof. "
        "What is slower than the measurement is left out.",
    )


def row_table(result: Result) -> Table:
    """Return every row of the table, judged; with NCCL's choices where the text has some."""
    shown = result.check.rows[-60:]
    columns = "Message", "Time", "Expected", "Off by", "By model", "By NCCL"
    last = len(columns) if any(row.chosen for row in shown) else -1
    return Table(
        title="Row by row",
        columns=columns[:last],
        rows=tuple(_row(row)[:last] for row in shown),
        caption="Off by: bandwidth against the expected one. Small messages differ by more, since "
        "how the test starts its ranks counts there. By model, by NCCL: the algorithm and the "
        "protocol that each of them takes.",
    )


def _row(judged: MessageCheck) -> tuple[Cell, ...]:
    chosen = judged.chosen
    return (
        size_text(judged.row.size),
        say("{t}", t=(judged.row.time, SECONDS)),
        say("{t}", t=(judged.time, SECONDS)) if judged.expected else "",
        difference_text(judged.off) if judged.expected else "",
        judged.fastest,
        f"{chosen.algorithm} {chosen.protocol}".strip() if chosen else "",
    )
