"""Tables of the published runs: run by run, their memory, and sources left out of the fit."""

import math
from collections.abc import Callable, Mapping, Sequence

from engine.calculators.whole_runs.published_runs.read import (
    Bracket,
    Class,
    Published,
    group_of,
    named,
    plan_rank,
    query_of,
    rank_cell,
)
from engine.calculators.whole_runs.published_runs.result import Result
from engine.catalog.over_memory_runs import CAUSES, over_memory_runs
from engine.catalog.reported_runs import REPORTED, ReportedRun
from engine.core.lazy import Lazy
from engine.core.text import Sentence, Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE, TOKEN_RATE, Ratio
from engine.core.views import CalculatorLink, Cell, Citation, Heatmap, Table
from engine.form.run.form_values import fits_form

PER_PAGE = 12


def signed_share(value: Ratio) -> str:
    """Return a share in percent with its sign."""
    return f"{'+' if value >= 0 else '−'}{abs(value) * 100:.1f} %"


def sort_runs(rows: Sequence[Published], order: str) -> list[Published]:
    """Return the runs in an order: by error, as published, or by distance from the best plan."""
    keys: dict[str, Callable[[Published], float]] = {
        "worst": lambda row: -abs(row.error),
        "best": lambda row: abs(row.error),
        "source": lambda row: 0.0,
        "rank": lambda row: -plan_rank(row).slower,
    }
    return sorted(rows, key=keys[order])


def run_table(rows: Sequence[Published], order: str, page: int) -> Table:
    """Return a page of the chosen runs, each with a link to its estimate."""
    ordered = sort_runs(rows, order)
    pages = max(1, -(-len(ordered) // PER_PAGE))
    page = min(page, pages)
    shown = ordered[(page - 1) * PER_PAGE : page * PER_PAGE]
    return Table(
        title="Predicted and measured, run by run",
        columns=(
            "Run",
            "Error",
            "Estimate",
            "Measured",
            "Predicted",
            "GPUs",
            "Plan",
            "Rank",
            "Source",
        ),
        rows=tuple(_run(row) for row in shown),
        caption=say(
            "Page {page} of {pages}. A row with (?) was not fitted: its source doubts it, or its "
            "GPU is in no catalog. A row that does not open says what the form has no field for. "
            "Rank: of the plan among all plans of its job, and its step over the best one's.",
            page=(page, COUNT),
            pages=(pages, COUNT),
        ),
    )


def _run(row: Published) -> tuple[Cell, ...]:
    doubt = "" if row.case.trusted else " (?)"
    return (
        f"{row.name}, {row.inputs.precision}{doubt}",
        signed_share(row.error),
        CalculatorLink("open", "estimate_run", query_of(row)) if fits_form(row.case.run) else "",
        say("{t}", t=(row.measured, SECONDS)),
        say("{t}", t=(row.predicted, SECONDS)),
        say(f"{{n}} {row.family}", n=(row.world_size, COUNT)),
        _plan(row),
        rank_cell(row),
        Citation((row.cited[0],)),
    )


def _plan(row: Published) -> str:
    """Return the plan in the field's abbreviations, degrees of 1 omitted."""
    inputs = row.inputs
    sizes = {
        "TP": inputs.tensor_parallel,
        "PP": inputs.pipeline_parallel,
        "VP": inputs.virtual_pipeline,
        "CP": inputs.context_parallel,
        "EP": inputs.expert_parallel,
    }
    parts = [f"{key}{size}" for key, size in sizes.items() if size > 1]
    return " ".join(parts + [f"ZeRO-{inputs.zero_stage}"] * (inputs.zero_stage != "0"))


def memory_groups(result: Result) -> Table:
    """Return the errors of the peak by source, and the largest peak there."""
    body: list[tuple[Cell, ...]] = []
    for group in result.memory_groups():
        off, largest = group.errors, max(group.runs, key=lambda row: row.memory[0]).memory
        body.append(
            (
                group.name,
                say("{n}", n=(float(len(group.runs)), COUNT)),
                *(say("{x}", x=(x, SHARE)) for x in (off.median, off.mean, off.worst)),
                signed_share(off.bias),
                say("{m}, predicted {p}", m=(largest[0], BYTES), p=(largest[1], BYTES)),
            )
        )
    return Table(
        title="Error of the peak of memory by source",
        columns=("Source", "Runs", "Median", "Mean", "Worst", "Bias", "Largest peak"),
        rows=tuple(body),
    )


def beyond_memory(rows: Sequence[Published]) -> Table:
    """Return published plans that exceed the modeled memory, by cause."""
    cases = [over_memory_runs()[row.key] for row in rows if row.key in over_memory_runs()]
    body: list[tuple[Cell, ...]] = []
    for cause, (title, why) in CAUSES.items():
        filled = [case.filled for case in cases if case.cause == cause]
        if filled:
            count = say("{n}", n=(float(len(filled)), COUNT))
            shares = say("{a} to {b}", a=(min(filled), SHARE), b=(max(filled), SHARE))
            body.append((title, count, shares, why))
    return Table(
        title="Plans that ran, and do not fit by the model",
        columns=("Cause", "Runs", "Memory filled", "What the model does not know"),
        rows=tuple(body),
    )


# Groups of published runs: their errors as a table and as pictures.

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


# The table of errors on unseen runs, by class.


def table(classes: Lazy[tuple[Class, ...]]) -> Table:
    """Return a row for each class."""
    return Table(
        title="Errors on unseen runs, by class",
        columns=(
            *("Class", "Runs", "Mean", "90 %", "Worst", "Bias"),
            *("In the range", "Without the model"),
        ),
        rows=tuple(_class_row(run_class) for run_class in classes()),
        caption="Absolute errors with constants fitted without the source of each run; the bias "
        "keeps the sign. The range is to hold four in five, also with constants fitted without the "
        "model of each run: the last column.",
    )


def _class_row(run_class: Class) -> tuple[Cell, ...]:
    errors = run_class.errors
    sizes = (say("{x}", x=(x, SHARE)) for x in (errors.mean, errors.p90, errors.worst))
    count = say("{n}", n=(float(run_class.runs), COUNT))
    inside = (say("{x}", x=(x, SHARE)) for x in (run_class.inside, run_class.inside_model))
    return (run_class.name, count, *sizes, signed_share(errors.bias), *inside)


# Famous runs: prediction, range and published figure.

_FIGURES = {
    "step_time": ("step", SECONDS),
    "token_rate": ("tokens per second of a GPU", TOKEN_RATE),
    "mfu": ("MFU", SHARE),
}


def reports(result: Result) -> Table:
    """Return each of them."""
    brackets = result.brackets()
    return Table(
        title="Predicted with its range, and published",
        columns=("Run", "Figure", "Predicted", "Range", "Published", "It lies", "Source"),
        rows=tuple(_report_row(name, report, brackets[name]) for name, report in REPORTED.items()),
        caption="Published figures of whole runs hold restarts and slow phases, which a predicted "
        "step does not. Where a source gives no plan, we take the usual one of its software.",
    )


def _report_row(name: str, report: ReportedRun, bracket: Bracket) -> tuple[Cell, ...]:
    label, quantity = _FIGURES[report.figure]

    def number_text(number: float) -> Sentence:
        return say("{x}", x=(number, quantity))

    between = say("{a} to {b}", a=(bracket.low, quantity), b=(bracket.high, quantity))
    where = "inside" if bracket.holds(report.value) else "outside"
    return (
        name,
        label,
        number_text(bracket.value),
        between,
        number_text(report.value),
        where,
        Citation((report.source,)),
    )
