"""Error statistics of the chosen runs, and quality of the constants' fit."""

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
from engine.calculators.whole_runs.published_runs.planned import median_ratio, plan_rank
from engine.calculators.whole_runs.published_runs.read import Published
from engine.catalog.constants import AchievedShares
from engine.catalog.over_memory_runs import over_memory_runs
from engine.core.equation import Equation
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Count, Ratio, Seconds, Share
from engine.form.run import accuracy
from engine.form.run.fitted_constants import CONSTANTS
from engine.form.run.inputs import Inputs as RunInputs
from engine.simulate.numerics.error_spread import deviations_from_median, summarize_errors

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
    """The chosen runs, and their error statistics."""

    runs: tuple[Published, ...]
    groups: Lazy[tuple[Group, ...]]
    classes: Lazy[tuple[Class, ...]]
    plan_errors: Lazy[Mapping[tuple[str, str], Ratio]]
    memory_groups: Lazy[tuple[Group, ...]]
    brackets: Lazy[Mapping[str, Bracket]]
    rows: Annotated[
        Count,
        Output(
            "Runs",
            assumes=("Rows of engine/catalog/published_table.tsv with a step time.",),
            basis="measured",
        ),
    ]
    mean: Annotated[Share, Output("Mean error", assumes=_TOGETHER, basis="compared")]
    median: Annotated[Share, Output("Median error", assumes=_TOGETHER, basis="compared")]
    p90: Annotated[Share, Output("Nine in ten are within", assumes=_TOGETHER, basis="compared")]
    bias: Annotated[Share, Output("Bias", assumes=_TOGETHER, basis="compared")]
    within: Annotated[Share, Output("Within 10 %", assumes=_TOGETHER, basis="compared")]
    worst: Annotated[
        Share,
        Output(
            "Worst error", symbol="e", assumes=("The run with the largest error of either sign.",)
        ),
    ]
    worst_run: Published | None
    worst_predicted: Annotated[Seconds, Output(symbol="P")]
    worst_measured: Annotated[Seconds, Output(symbol="M")]
    repeated: Annotated[Count, Output("Runs with a twin", assumes=_TWINS, basis="measured")]
    noise: Annotated[Share, Output("Mean distance of twins", assumes=_TWINS, basis="measured")]
    memory_runs: tuple[Published, ...]
    memory_rows: Annotated[Count, Output("Runs with a memory", assumes=_PEAKS)]
    memory_mean: Annotated[
        Share, Output("Mean error of the peak", assumes=_PEAKS, basis="compared")
    ]
    memory_p90: Annotated[
        Share, Output("Peaks: nine in ten are within", assumes=_PEAKS, basis="compared")
    ]
    left_out_dense: Annotated[Share, Output("Left out, dense", assumes=_LEFT_OUT, basis="compared")]
    left_out_mixture: Annotated[
        Share, Output("Left out, mixtures", assumes=_LEFT_OUT, basis="compared")
    ]
    first_plans: Annotated[
        Count, Output("Plans that no other beats", note="of {rows} published", assumes=_PLANS)
    ]
    plan_ratio: Annotated[
        Ratio, Output("Step over the best plan's", note="in the median", assumes=_PLANS)
    ]
    beyond_rows: Annotated[
        Count,
        Output("Plans that do not fit by the model", note="of {rows} that ran", assumes=_BEYOND),
    ]
    picked: Picked
    outside: Outside
    constants: Annotated[
        Count,
        Output(
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
    """Return the error statistics of the runs and their groups, and the picked run."""
    error_spread = summarize_errors([row.error for row in runs])
    memory_runs = tuple(row for row in runs if row.memory)
    peaks = summarize_errors([memory_error(row) for row in memory_runs])
    worst = max(runs, key=lambda row: abs(row.error), default=None)
    twins = _repeat_spread(runs)
    left_out = {kind: mean for name, kind, _, mean, _, _ in accuracy.LEFT_OUT if name == "all"}
    types = {owner for owner, *_ in CONSTANTS} - {"common"}
    shared = sum(owner == "common" for owner, *_ in CONSTANTS)
    return Result(
        runs=tuple(runs),
        groups=Lazy(partial(groups, runs, by)),
        classes=Lazy(partial(classes, runs, division)),
        plan_errors=Lazy(partial(plan_errors, runs)),
        memory_groups=Lazy(partial(memory_groups, memory_runs)),
        brackets=Lazy(brackets),
        rows=len(runs),
        mean=error_spread.mean,
        median=error_spread.median,
        p90=error_spread.p90,
        bias=error_spread.bias,
        within=error_spread.within,
        worst=worst.error if worst else math.nan,
        worst_run=worst,
        worst_predicted=worst.predicted if worst else math.nan,
        worst_measured=worst.measured if worst else math.nan,
        repeated=len(twins),
        noise=summarize_errors(twins).mean,
        memory_runs=memory_runs,
        memory_rows=len(memory_runs),
        memory_mean=peaks.mean,
        memory_p90=peaks.p90,
        left_out_dense=left_out["dense"],
        left_out_mixture=left_out["mixture"],
        first_plans=sum(plan_rank(row).rank == 1 for row in runs),
        plan_ratio=median_ratio(runs),
        beyond_rows=sum(row.key in over_memory_runs() for row in runs),
        picked=picked,
        outside=outside(),
        constants=len(CONSTANTS),
        free=(len(CONSTANTS) - shared) // len(types),
        every=len(fields(AchievedShares)),
        types=len(types),
        shared=shared,
    )


def _repeat_spread(runs: Sequence[Published]) -> list[Ratio]:
    """Return the spread of runs with equal inputs around their median."""
    alike: dict[RunInputs, list[Seconds]] = {}
    for row in runs:
        alike.setdefault(row.inputs, []).append(row.measured)
    return deviations_from_median(alike.values())
