"""Published runs: predicted against measured step times and memory, for any part of them."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.published_runs import by_class, outside, planned, tables
from engine.calculators.whole_runs.published_runs import picked as pick
from engine.calculators.whole_runs.published_runs import views as pictures
from engine.calculators.whole_runs.published_runs.classes import DIVISIONS
from engine.calculators.whole_runs.published_runs.constants import constants, unfitted
from engine.calculators.whole_runs.published_runs.picked import Picked, picked_run
from engine.calculators.whole_runs.published_runs.read import Published, named, published
from engine.calculators.whole_runs.published_runs.reports import reports
from engine.calculators.whole_runs.published_runs.result import ERROR, Result, result_of
from engine.catalog.published_runs import SOURCES
from engine.core.inputs import Choice, Number, Switch
from engine.core.outputs import Presenter, Views
from engine.core.views import Value

TITLE = "Published runs"
QUESTION = "How far are predicted step times and memory from what others measured?"
EQUATIONS = (ERROR,)
PRESETS = {
    "Mixtures of experts, by GPU": {"kind": "mixture", "group": "gpu"},
    "From 256 GPUs on": {"gpus_from": 256, "group": "gpus"},
    "Only complete dense rows": {"kind": "dense", "complete": True},
}
ALL = "all"
_ERRORS = ("rows", "mean", "median", "p90", "bias", "within")
_PEAKS = ("memory_rows", "memory_mean", "memory_p90")
_OUTSIDE = (
    *("held_out_curves", "held_out_error", "unseen_curves", "unseen_within", "unseen_error"),
    *("all_reduce_error", "all_gather_error", "rack_error"),
    *("reduce_scatter_error", "all_to_all_error"),
    *("sharded_bias", "other_plans", "other_plans_error"),
)
_PAGES = -(-len(published()) // tables.PER_PAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs: filter and view of the runs."""

    kind: Annotated[
        str,
        Choice(label="Models", options={ALL: "all", "dense": "dense", "mixture": "mixtures"}),
    ] = ALL
    gpu: Annotated[
        str,
        Choice(
            label="GPU",
            options={
                ALL: "all",
                "A100": "A100",
                "H100": "H100",
                "B200": "B200",
                "B300": "B300",
                "GB200": "GB200",
                "GB300": "GB300",
            },
        ),
    ] = ALL
    precision: Annotated[
        str,
        Choice(label="Precision", options={ALL: "all", "16": "16 bits", "8": "8 bits"}),
    ] = ALL
    source: Annotated[
        str,
        Choice(
            label="Source",
            options={ALL: "all"} | {str(i): title for i, (_, title) in enumerate(SOURCES.values())},
        ),
    ] = ALL
    gpus_from: Annotated[
        int, Number(label="GPUs, from", low=1, high=4096, scale="log2", whole=True)
    ] = 1
    gpus_to: Annotated[int, Number(label="to", low=1, high=4096, scale="log2", whole=True)] = 4096
    complete: Annotated[
        bool,
        Switch(label="Only complete rows", help="Nothing about the run had to be assumed."),
    ] = False
    group: Annotated[str, Choice(label="Group by", options=pictures.GROUPS)] = "source"
    division: Annotated[str, Choice(label="Classes by", options=DIVISIONS)] = "gpu"
    constants_of: Annotated[
        str,
        Choice(label="Constants", options={"fit": "fitted to runs", "others": "all others"}),
    ] = "fit"
    order: Annotated[
        str,
        Choice(
            label="Order of the rows",
            options={
                "worst": "worst first",
                "best": "best first",
                "source": "as published",
                "rank": "furthest from the best plan first",
            },
        ),
    ] = "worst"
    page: Annotated[int, Number(label="Page", low=1, high=_PAGES, whole=True)] = 1
    pick: Annotated[
        int,
        Number(
            label="Run",
            low=1,
            high=len(published()),
            whole=True,
            help="Of the chosen runs, in their order.",
        ),
    ] = 100


def solve(inputs: Inputs) -> Result:
    """Return the chosen runs and their error statistics."""
    wanted = [row for row in published() if _filtered_runs(row, inputs)]
    ordered = tables.sort_runs(wanted, inputs.order)
    chosen = ordered[min(inputs.pick, len(ordered)) - 1] if ordered else None
    return result_of(wanted, picked_run(chosen), inputs.group, inputs.division)


def _filtered_runs(row: Published, inputs: Inputs) -> bool:
    bits = "8" if row.inputs.precision == "fp8" else "16"
    return (
        inputs.kind in (ALL, row.kind)
        and inputs.gpu in (ALL, row.family)
        and inputs.precision in (ALL, bits)
        and inputs.source in (ALL, str(row.source))
        and inputs.gpus_from <= row.world_size <= inputs.gpus_to
        and (row.case.complete or not inputs.complete)
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result)
    runs, memory_runs = result.runs, result.memory_runs
    cited, peaks = named(runs), named(memory_runs)
    return {
        **{name: present.value(name, sources=cited) for name in _ERRORS},
        "worst": _worst(present, result),
        **{name: present.value(name, sources=cited) for name in ("repeated", "noise")},
        "groups": partial(pictures.groups, result, inputs.group),
        "scale_residuals": partial(pictures.residuals, runs, "gpus"),
        "gpu_residuals": partial(pictures.residuals, runs, "board"),
        "sequence_residuals": partial(pictures.residuals, runs, "sequence"),
        "plan_errors": partial(pictures.plan_errors, result),
        **present.values("first_plans", "plan_ratio", "beyond_rows"),
        "beyond": partial(tables.beyond_memory, runs),
        "runs": partial(tables.run_table, runs, inputs.order, inputs.page),
        **{name: present.value(name, sources=peaks) for name in _PEAKS},
        "memory_groups": partial(tables.memory_groups, result),
        **present.values("left_out_dense", "left_out_mixture"),
        "by_class": partial(by_class.table, result.classes),
        **present.values("constants"),
        "constants_table": constants if inputs.constants_of == "fit" else unfitted,
        "reports": partial(reports, result),
        **Presenter(result.outside).values(*_OUTSIDE),
        "curves": outside.curves,
        "article_plans": outside.plans,
        **_picked(result.picked),
    }


def _picked(picked: Picked) -> Views:
    """Return the run that the reader picked."""
    present, run = Presenter(picked), picked.run
    cited, name = (named([run]), run.name) if run else ((), "no run is left")
    return {
        "picked_verdict": pick.verdict(present, picked),
        "picked_bars": partial(pick.bars, present, picked),
        "picked_plan": partial(planned.verdict, picked.against),
        "picked_step": present.value("picked_step", note=name, sources=cited),
        "picked_measured": present.value("picked_measured", sources=cited),
    }


def _worst(present: Presenter, result: Result) -> Value:
    """Return the largest error of either sign."""
    run = result.worst_run
    if run is None:
        return present.value("worst", assumes=("No run is left.",))
    note = f"{run.name}, row {run.key}"
    return present.value("worst", equation=ERROR, sources=named([run]), note=note)
