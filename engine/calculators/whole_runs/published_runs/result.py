"""How far the chosen runs are off, together, and what the fit of the constants was."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.published_runs.classes import Class, classes
from engine.calculators.whole_runs.published_runs.grouped import (
    Bracket,
    Group,
    brackets,
    groups,
    memory_error,
    memory_groups,
    plan_errors,
)
from engine.calculators.whole_runs.published_runs.outside import Outside, outside
from engine.calculators.whole_runs.published_runs.picked import Picked
from engine.calculators.whole_runs.published_runs.planned import median_ratio, standing
from engine.calculators.whole_runs.published_runs.read import Published
from engine.catalog.constants import Achieved
from engine.catalog.over_memory_runs import beyond
from engine.core.equation import Equation
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Count, Ratio, Seconds, Share
from engine.form.run import accuracy
from engine.form.run.fitted_constants import CONSTANTS
from engine.form.run.inputs import Inputs as RunInputs
from engine.simulate.numerics.error_spread import from_median, spread

ERROR = Equation(
    name="relative_error",
    tex=r"\v{e} = \frac{\v{P}}{\v{M}} - 1",
    symbols={
        "e": ("e", "error; above zero the prediction is too slow"),
        "P": (r"T_{\mathrm{predicted}}", "predicted step"),
        "M": (r"T_{\mathrm{measured}}", "measured step"),
    },
)
_TOGETHER = (
    "Error: predicted step time divided by the measured one, minus one.",
    "The constants were fitted to most of these runs; no row has a factor of its own.",
)
_TWINS = (
    "Runs of which every input of ours is the same, in other releases or papers.",
    "Distance from the median of their group, which no prediction can beat by much.",
)
_PEAKS = (
    "Peaks of an allocator, or of nvidia-smi with the context that it counts.",
    "No script fits anything to them; allowances for allocator and CUDA were read off such "
    "measurements.",
)
_PLANS = (
    "Both steps are predicted, with the software and the precision of the run.",
    "All plans that divide and need no more memory than a GPU has, or than the published plan.",
)
_BEYOND = (
    "Predicted memory of the fullest GPU, of every published plan; each of them ran.",
    "Rows of engine/catalog/beyond_table.tsv; a test compares them with the model.",
)
_LEFT_OUT = (
    "For each source in turn, the constants were fitted to all others and tried on it.",
    "The filters do not apply.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The chosen runs, and what their errors amount to."""

    runs: tuple[Published, ...]
    groups: Later[tuple[Group, ...]]
    classes: Later[tuple[Class, ...]]
    plan_errors: Later[Mapping[tuple[str, str], Ratio]]
    memory_groups: Later[tuple[Group, ...]]
    brackets: Later[Mapping[str, Bracket]]
    rows: Annotated[
        Count,
        Told(
            "Runs",
            assumes=("Rows of engine/catalog/published_table.tsv with a step time.",),
            basis="measured",
        ),
    ]
    mean: Annotated[Share, Told("Mean error", assumes=_TOGETHER, basis="compared")]
    median: Annotated[Share, Told("Median error", assumes=_TOGETHER, basis="compared")]
    p90: Annotated[Share, Told("Nine in ten are within", assumes=_TOGETHER, basis="compared")]
    bias: Annotated[Share, Told("Bias", assumes=_TOGETHER, basis="compared")]
    within: Annotated[Share, Told("Within 10 %", assumes=_TOGETHER, basis="compared")]
    worst: Annotated[
        Share,
        Told(
            "Worst error", symbol="e", assumes=("The run with the largest error of either sign.",)
        ),
    ]
    worst_run: Published | None
    worst_predicted: Annotated[Seconds, Told(symbol="P")]
    worst_measured: Annotated[Seconds, Told(symbol="M")]
    repeated: Annotated[Count, Told("Runs with a twin", assumes=_TWINS, basis="measured")]
    noise: Annotated[Share, Told("Mean distance of twins", assumes=_TWINS, basis="measured")]
    memory_runs: tuple[Published, ...]
    memory_rows: Annotated[Count, Told("Runs with a memory", assumes=_PEAKS)]
    memory_mean: Annotated[Share, Told("Mean error of the peak", assumes=_PEAKS, basis="compared")]
    memory_p90: Annotated[
        Share, Told("Peaks: nine in ten are within", assumes=_PEAKS, basis="compared")
    ]
    left_out_dense: Annotated[Share, Told("Left out, dense", assumes=_LEFT_OUT, basis="compared")]
    left_out_mixture: Annotated[
        Share, Told("Left out, mixtures", assumes=_LEFT_OUT, basis="compared")
    ]
    first_plans: Annotated[
        Count, Told("Plans that no other beats", note="of {rows} published", assumes=_PLANS)
    ]
    plan_ratio: Annotated[
        Ratio, Told("Step over the best plan's", note="in the median", assumes=_PLANS)
    ]
    beyond_rows: Annotated[
        Count,
        Told("Plans that do not fit by the model", note="of {rows} that ran", assumes=_BEYOND),
    ]
    picked: Picked
    outside: Outside
    constants: Annotated[
        Count,
        Told(
            "Fitted constants",
            assumes=(
                "{free} of {every} constants of each of {types} types of GPU; the others are read "
                "off measured bandwidths. {shared} more are shared by all types.",
            ),
            basis="definition",
        ),
    ]
    free: Count
    every: Count
    types: Count
    shared: Count


def result_of(runs: Sequence[Published], picked: Picked, by: str, division: str) -> Result:
    """Return what the errors of these runs and their groups amount to, and the picked run."""
    found = spread([row.error for row in runs])
    held = tuple(row for row in runs if row.memory)
    peaks = spread([memory_error(row) for row in held])
    worst = max(runs, key=lambda row: abs(row.error), default=None)
    twins = _twins(runs)
    left_out = {kind: mean for name, kind, _, mean, _, _ in accuracy.LEFT_OUT if name == "all"}
    types = {owner for owner, *_ in CONSTANTS} - {"common"}
    shared = sum(owner == "common" for owner, *_ in CONSTANTS)
    return Result(
        runs=tuple(runs),
        groups=Later(partial(groups, runs, by)),
        classes=Later(partial(classes, runs, division)),
        plan_errors=Later(partial(plan_errors, runs)),
        memory_groups=Later(partial(memory_groups, held)),
        brackets=Later(brackets),
        rows=len(runs),
        mean=found.mean,
        median=found.median,
        p90=found.p90,
        bias=found.bias,
        within=found.within,
        worst=worst.error if worst else math.nan,
        worst_run=worst,
        worst_predicted=worst.predicted if worst else math.nan,
        worst_measured=worst.measured if worst else math.nan,
        repeated=len(twins),
        noise=spread(twins).mean,
        memory_runs=held,
        memory_rows=len(held),
        memory_mean=peaks.mean,
        memory_p90=peaks.p90,
        left_out_dense=left_out["dense"],
        left_out_mixture=left_out["mixture"],
        first_plans=sum(standing(row).rank == 1 for row in runs),
        plan_ratio=median_ratio(runs),
        beyond_rows=sum(row.key in beyond() for row in runs),
        picked=picked,
        outside=outside(),
        constants=len(CONSTANTS),
        free=(len(CONSTANTS) - shared) // len(types),
        every=len(fields(Achieved)),
        types=len(types),
        shared=shared,
    )


def _twins(runs: Sequence[Published]) -> list[Ratio]:
    """Return how far runs with the same inputs lie from their own median."""
    alike: dict[RunInputs, list[Seconds]] = {}
    for row in runs:
        alike.setdefault(row.given, []).append(row.measured)
    return from_median(alike.values())
