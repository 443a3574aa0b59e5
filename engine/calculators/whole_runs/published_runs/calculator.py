"""Published runs: predicted against measured step times and memory, for any part of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.published_runs import read, tables
from engine.calculators.whole_runs.published_runs import result as outside
from engine.calculators.whole_runs.published_runs import result as pick
from engine.calculators.whole_runs.published_runs import tables as pictures
from engine.calculators.whole_runs.published_runs.read import DIVISIONS, Published, named, published
from engine.calculators.whole_runs.published_runs.result import (
    ERROR,
    Picked,
    Result,
    picked_run,
    result_of,
)
from engine.calculators.whole_runs.published_runs.tables import reports
from engine.catalog.published_runs import SOURCES
from engine.core.inputs import Choice, Number, Switch
from engine.core.outputs import Presenter, Views
from engine.core.text import Sentence, say
from engine.core.units import RATIO, SECONDS, SHARE, Quantity
from engine.core.views import Cell, Citation, Table, Value
from engine.form.run.fitted_constants import CONSTANTS
from engine.form.run.unfitted_constants import ROWS, value_of

TITLE = "Published runs"
QUESTION = "How far are predicted step times and memory from what others measured?"
HEADLINE = "mean"
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
        "by_class": partial(tables.table, result.classes),
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
        "picked_plan": partial(read.verdict, picked.against),
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


# Fitted constants: value, prior assumption, and sensitivity to a single source.

_WORDS: Mapping[str, tuple[str, Quantity]] = {
    "matmul": ("products in 16 bits, of the peak", SHARE),
    "matmul_fp8": ("products in FP8, of the peak", SHARE),
    "attention_forward": ("fused attention forward, of the 16-bit peak", SHARE),
    "attention_backward": ("fused attention backward, of the 16-bit peak", SHARE),
    "fill": ("to fill and to empty a tile", SECONDS),
    "hidden": ("of a layer's collectives, hidden where they overlap", SHARE),
    "exchange_hidden": ("of the exchange of tokens, hidden beside another micro-batch", SHARE),
    "cover": ("share of the backward products that hides a collective", SHARE),
    "exposed_sends": ("of the messages between pieces, exposed", SHARE),
    "host": ("the host's share of a step", SECONDS),
    "deviation": ("standard deviation of the speed of GPUs", SHARE),
    "layer_deviation": (
        "deviation of their speed, where all meet in every layer (ZeRO-3)",
        SHARE,
    ),
    "taken": ("taken from computation by gathers of ZeRO-3, of their time", SHARE),
    "fetch_ahead": ("share of computation that hides DeepSpeed's gathers of ZeRO-3", SHARE),
    "expert_launches": ("launches of a layer of experts, forward", SECONDS),
    "grace_launches": ("launches of a layer of experts, host Grace with captured parts", SECONDS),
    "first_attention": ("first FlashAttention, of the rate of the second", SHARE),
    "busiest": ("busiest rank of experts over the mean, router not forced", RATIO),
    "matmul_fp4": ("products in FP4, of the peak", SHARE),
    "expert_biases": ("bytes for an element of a copy, biases of experts", RATIO),
    "unfused_copy": ("bytes for an element of a copy, separate kernels", RATIO),
}


def constants() -> Table:
    """Return the table."""
    return Table(
        title="Every fitted constant",
        columns=("Of", "Constant", "Assumed before", "Fitted", "Without any one source"),
        rows=tuple(_row(*constant) for constant in CONSTANTS),
        caption="The last column tells between which values a constant lies when one source after "
        "another is left out of the fit. The fit to all sources need not lie between them. An A100 "
        "has no FP8, so that constant stays as it was assumed.",
    )


def unfitted() -> Table:
    """Return the constants that were not fitted to training runs."""
    rows: list[tuple[Cell, ...]] = []
    for key, words, quantity, ends, origin, sources in ROWS:
        value = say("{x}", x=(value_of(key), quantity))
        reach: Cell = "-"
        if ends:
            reach = say("{a} to {b}", a=(ends[0], quantity), b=(ends[1], quantity))
        rows.append((words, value, reach, origin, Citation(sources) if sources else "-"))
    return Table(
        title="Every other constant",
        columns=("Constant", "Value", "Its sources range", "From", "Source"),
        rows=tuple(rows),
        caption="No training run was fitted for these. A dash for the range: the source states one "
        "value, or we assume it. What is counted in formulas and tile sizes of libraries are left "
        "out.",
    )


def _row(
    owner: str, name: str, value: float, before: float, low: float, high: float
) -> tuple[Cell, ...]:
    words, quantity = _WORDS[name]

    def number_text(number: float) -> Sentence:
        return say("{x}", x=(number, quantity))

    reach = say("{a} to {b}", a=(low, quantity), b=(high, quantity))
    return (
        owner if owner != "common" else "all",
        words,
        number_text(before),
        number_text(value),
        reach,
    )
