"""The curve of a table beside the model's, its rows, and what else would give it."""

from dataclasses import replace
from math import inf

from engine.calculators.moving_bytes.nccl_log.result import Result
from engine.catalog.nodes import NODES
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, BYTES, COUNT, GB, RATIO, SECONDS
from engine.core.views import Axis, Cell, Lines, Point, Rule, Series, Table
from engine.form.nccl_fields import off_words, size_words
from engine.simulate.collectives.nccl_check import Judged
from engine.simulate.collectives.nccl_effect import NAMES

_LEAST: float = 0.001 * GB


def measured_note(result: Result, note: str) -> str:
    """Return the note of a measured number, or why there is none."""
    return note if result.found.largest else "the text holds no table"


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
    found = result.curve()
    sizes = found.sizes
    measured, expected = (
        tuple(one or _LEAST for one in column) for column in (found.measured, found.expected)
    )
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
    columns = "Message", "Time", "Expected", "Off by", "By model", "By NCCL"
    last = len(columns) if any(one.chosen for one in shown) else -1
    return Table(
        title="Row by row",
        columns=columns[:last],
        rows=tuple(_row(one)[:last] for one in shown),
        caption="Off by: bandwidth against the expected one. Small messages differ by more, since "
        "how the test starts its ranks counts there. By model, by NCCL: the algorithm and the "
        "protocol that each of them takes.",
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
