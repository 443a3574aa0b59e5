"""Groups of published runs: their errors as a table and as pictures."""

import math
from collections.abc import Mapping, Sequence

from engine.calculators.whole_runs.published_runs.read import Published, group_of, named
from engine.calculators.whole_runs.published_runs.result import Result
from engine.calculators.whole_runs.published_runs.tables import signed_share
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE
from engine.core.views import Cell, Citation, Heatmap, Table

GROUPS: Mapping[str, str] = {
    "source": "source",
    "gpu": "type of GPU",
    "precision": "precision",
    "gpus": "GPUs",
    "tensor": "tensor parallel",
    "pipeline": "pipeline parallel",
    "sequence": "sequence length",
    "batch": "micro-batch",
}
_BINS: tuple[tuple[str, float], ...] = (
    ("> +20 %", 0.20),
    ("+10 to +20", 0.10),
    ("+5 to +10", 0.05),
    ("−5 to +5 %", -0.05),
    ("−10 to −5", -0.10),
    ("−20 to −10", -0.20),
    ("< −20 %", -math.inf),
)
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "gpus": ("8", "16", "32", "64", "128", "256", "512", "1K", "2K"),
    "board": ("A100", "H100", "B200/300", "GB200", "GB300"),
    "sequence": ("512", "1K", "2K", "4K", "8K", "16K", "32K", "64K"),
}
_TENSOR = ("1", "2", "4", "8")
_PIPELINE = ("1", "2", "4", "8", "16", "32", "64")


def groups(result: Result, by: str) -> Table:
    """Return a table of error statistics by group."""
    body: list[tuple[Cell, ...]] = []
    for group in result.groups():
        off = group.errors
        sizes: tuple[Cell, ...] = tuple(
            say("{x}", x=(x, SHARE)) for x in (off.median, off.mean, off.p90, off.worst)
        )
        cited: tuple[Cell, ...] = (Citation(named(group.runs)),) if by == "source" else ()
        count: Text = say("{n}", n=(float(len(group.runs)), COUNT))
        body.append((group.name, count, *sizes, signed_share(off.bias), *cited))
    more = by not in ("source", "gpu", "precision")
    head = f"{GROUPS[by]}, from" if more else GROUPS[by]
    cite = ("Cited",) if by == "source" else ()
    return Table(
        title=f"Error of the step time by {GROUPS[by]}",
        columns=(
            head[:1].upper() + head[1:],
            "Runs",
            "Median",
            "Mean",
            "90 %",
            "Worst",
            "Bias",
            *cite,
        ),
        rows=tuple(body),
        caption='Absolute errors; nine in ten runs have at most the error under "90 %". The bias '
        "keeps the sign: above "
        "zero, predictions are too slow.",
    )


def residuals(rows: Sequence[Published], by: str) -> Heatmap:
    """Return the error distribution of every column: shares of runs per bin."""
    columns, words = _COLUMNS[by], GROUPS.get(by, GROUPS["gpu"])
    count = {name: [0] * len(_BINS) for name in columns}
    for row in rows:
        column = count.get(_short(group_of(row, by)))
        if column:
            column[next(i for i, (_, low) in enumerate(_BINS) if row.error >= low)] += 1
    values = tuple(
        tuple(
            count[name][index] / sum(count[name]) if count[name][index] else math.nan
            for name in columns
        )
        for index in range(len(_BINS))
    )
    return Heatmap(
        title=f"Errors against {words}",
        x_label=words if by == "board" else f"{words}, from",
        y_label="error",
        x=columns,
        y=tuple(name for name, _ in _BINS),
        values=values,
        quantity=SHARE,
        caption="Share of the runs of a column. Without a trend the middle is strongest.",
    )


def _short(name: str) -> str:
    """Return 4096 as 4K, anything else as it is."""
    return f"{int(name) // 1024}K" if name.isdigit() and int(name) >= 1024 else name


def plan_errors(result: Result) -> Heatmap:
    """Return the mean absolute error for each pair of tensor and pipeline parallelism."""
    mean = result.plan_errors()
    return Heatmap(
        title="Mean error by tensor and pipeline parallelism",
        x_label="pipeline parallel",
        y_label="tensor",
        x=_PIPELINE,
        y=_TENSOR,
        values=tuple(
            tuple(mean.get((tensor, pipeline), math.nan) for pipeline in _PIPELINE)
            for tensor in _TENSOR
        ),
        quantity=SHARE,
        caption="Blank: no published run.",
    )
