"""Published runs: predicted against measured step times and memory, for any part of them."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import Choice, Number, Switch
from engine.basis.views import View
from engine.calculators.whole_runs.published_runs import errors, tables, views
from engine.calculators.whole_runs.published_runs.read import Published, published, sources

TITLE = "Published runs"
QUESTION = "How far are predicted step times and memory from what others measured?"
EQUATIONS = (errors.ERROR,)
PRESETS = {
    "Mixtures of experts, by GPU": {"kind": "mixture", "group": "gpu"},
    "From 256 GPUs on": {"gpus_from": 256, "group": "gpus"},
    "Only complete dense rows": {"kind": "dense", "complete": True},
}
ALL = "all"
_PAGES = -(-len(published()) // tables.PER_PAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Which runs are shown, and how."""

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
            options={ALL: "all"} | {str(i): title for i, (_, title) in enumerate(sources())},
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
    group: Annotated[str, Choice(label="Group by", options=views.GROUPS)] = "source"
    order: Annotated[
        str,
        Choice(
            label="Order of the rows",
            options={"worst": "worst first", "best": "best first", "source": "as published"},
        ),
    ] = "worst"
    page: Annotated[int, Number(label="Page", low=1, high=_PAGES, whole=True)] = 1


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    rows = [row for row in published() if _wanted(row, inputs)]
    return {
        **errors.summary(rows),
        **errors.noise(rows),
        "groups": views.groups(rows, inputs.group),
        "scale_residuals": views.residuals(rows, "gpus"),
        "gpu_residuals": views.residuals(rows, "board"),
        "sequence_residuals": views.residuals(rows, "sequence"),
        "plan_errors": views.plan_errors(rows),
        "runs": tables.runs(rows, inputs.order, inputs.page),
        **tables.memory_summary(rows),
        "memory_groups": tables.memory_groups(rows),
        **tables.left_out_summary(),
        "left_out": tables.left_out(),
        "constants": tables.constants(),
    }


def _wanted(row: Published, inputs: Inputs) -> bool:
    kind = "mixture" if row.mixture else "dense"
    bits = "8" if row.precision == "fp8" else "16"
    return (
        inputs.kind in (ALL, kind)
        and inputs.gpu in (ALL, row.family)
        and inputs.precision in (ALL, bits)
        and inputs.source in (ALL, str(row.source))
        and inputs.gpus_from <= row.sizes["world_size"] <= inputs.gpus_to
        and (row.complete or not inputs.complete)
    )
