"""Charts of a benchmark table: measured and modeled curve, rows, and alternative conditions."""

from dataclasses import replace
from math import inf

from engine.calculators.moving_bytes.nccl_log.result import Result
from engine.catalog.nodes import NODES
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, BYTES, COUNT, GB, RATIO, SECONDS
from engine.core.views import Axis, Cell, Lines, Point, Rule, Series, Table
from engine.form.nccl_fields import difference_text, size_text
from engine.simulate.collectives.nccl_check import MessageCheck
from engine.simulate.collectives.nccl_effect import CONDITION_NAMES

_LEAST: float = 0.001 * GB


def measured_note(result: Result, note: str) -> str:
    """Return the note of a measured number, or why there is none."""
    return note if result.found.largest else "the text holds no table"


def line_note(result: Result) -> Text:
    """Return the note that names the link of the line rate."""
    setting = result.found.setting
    if not setting.machine:
        return "choose the machines"
    name = NODES[setting.machine].name
    if result.nodes > 1:
        return say(f"{name}: ports of one of {{n}} nodes", n=(result.nodes, COUNT))
    return f"{name}: links of one GPU"


def curve(result: Result) -> Lines:
    """Return bus bandwidth against the size of the message, measured and expected."""
    judged = [line for line in result.found.rows if line.row.size > 0]
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
    series = series if result.found.where or not judged else []
    if judged:
        own = Series(key="measured", label="measured", x=sizes, y=measured, color="communication")
        series.insert(0, own)
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
            high=1.6 * max(*measured, *expected, result.line if result.found.where else _LEAST),
            scale="log",
        ),
        series=tuple(series),
        points=(last,) if judged else (),
        rules=_line_rule(result),
        caption="Both axes are logarithmic. The expected time is the one that a training step is "
        "charged for the same collective.",
    )


def _line_rule(result: Result) -> tuple[Rule, ...]:
    if result.found.where is None:
        return ()
    label = say("line rate {b}", b=(result.line, BANDWIDTH))
    return (Rule(key="line", label=label, axis="y", at=result.line, color="muted"),)


def condition_bars(result: Result) -> Table:
    """Return the modeled bandwidth of the largest message under other conditions, nearest first."""
    largest = result.found.largest
    rows: list[tuple[Cell, ...]] = []
    for condition in result.found.alike:
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
    shown = result.found.rows[-60:]
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
