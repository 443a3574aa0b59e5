"""Tables of the published runs: run by run, their memory, and sources left out of the fit."""

from collections.abc import Callable, Sequence

from engine.calculators.whole_runs.published_runs.planned import plan_rank, rank_cell
from engine.calculators.whole_runs.published_runs.read import Published, query_of
from engine.calculators.whole_runs.published_runs.result import Result
from engine.catalog.over_memory_runs import CAUSES, over_memory_runs
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE, Ratio
from engine.core.views import CalculatorLink, Cell, Citation, Table
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
