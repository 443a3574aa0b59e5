"""Error statistics of the chosen runs, and quality of the constants' fit."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from math import exp
from typing import Annotated

from engine.calculators.whole_runs.published_runs.outside_rows import HELD_OUT, PLANS, UNSEEN
from engine.calculators.whole_runs.published_runs.read import (
    Against,
    Bracket,
    Class,
    Group,
    Published,
    brackets,
    classes,
    compare_plans,
    groups,
    median_ratio,
    memory_error,
    memory_groups,
    plan_errors,
    plan_rank,
)
from engine.catalog.constants import AchievedShares
from engine.catalog.over_memory_runs import over_memory_runs
from engine.catalog.unseen_runs import unseen_logs
from engine.core.equation import Equation
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter
from engine.core.text import say
from engine.core.units import COUNT, SHARE, Count, Ratio, Seconds, Share
from engine.core.views import Badge, Bar, Bars, Cell, Segment, Table
from engine.form.run import accuracy
from engine.form.run.fitted_constants import CONSTANTS
from engine.form.run.inputs import Inputs as RunInputs
from engine.simulate.numerics.error_spread import deviations_from_median, summarize_errors
from engine.simulate.step.step_range import PredictionSpread, step_range

# Validation beyond the table of runs: collectives, and an article, never fitted to.

# What a curve may be off in the mean before its reason has to stand beside it; a test holds it.
BAR: Share = 0.15
_CURVES = (
    "Error of the bus bandwidth, for messages from 1 MiB on.",
    "Rows of outside_rows.py; a test compares them with the model.",
)
_OUTSIDE_PLANS = (
    "Predicted step over the measured one, minus one, from shares of the peak.",
    "Micro-batch, recomputation and virtual stages are assumed; the article names none.",
)
_Curve = tuple[str, str, int, int, float, float, str]


def _output(label: str, assumes: tuple[str, ...], note: str = "") -> Output:
    return Output(label, note=note, assumes=assumes, basis="compared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Errors of the model on the outside data."""

    held_out_curves: Annotated[Count, _output("Curves, each left out once", _CURVES)]
    held_out_error: Annotated[Share, _output("Mean error, curve left out", _CURVES)]
    unseen_curves: Annotated[Count, _output("Curves that no fit saw", _CURVES)]
    unseen_within: Annotated[Count, _output("Unseen curves within 15 %", _CURVES)]
    unseen_error: Annotated[Share, _output("Mean error of these", _CURVES)]
    all_reduce_error: Annotated[Share, _output("Mean error, unseen all-reduces", _CURVES)]
    all_gather_error: Annotated[Share, _output("Mean error, unseen all-gathers", _CURVES)]
    rack_error: Annotated[Share, _output("Mean error, all-gathers in a rack", _CURVES)]
    reduce_scatter_error: Annotated[Share, _output("Mean error, unseen reduce-scatters", _CURVES)]
    all_to_all_error: Annotated[Share, _output("Mean error, unseen all-to-alls", _CURVES)]
    sharded_bias: Annotated[
        Share, _output("Error, FSDP + EP", _OUTSIDE_PLANS, "in the mean, with its sign")
    ]
    other_plans: Annotated[Count, _output("Plans without full sharding", _OUTSIDE_PLANS)]
    other_plans_error: Annotated[Share, _output("Their mean error", _OUTSIDE_PLANS)]


def outside() -> Outside:
    """Return the errors of the model on the outside data."""
    within = [mean for *_, mean, _, _ in UNSEEN if mean <= BAR]
    others = [_error(*row[3:]) for row in PLANS if not row[2]]
    return Outside(
        held_out_curves=len(HELD_OUT),
        held_out_error=_mean([mean for *_, mean, _, _ in HELD_OUT]),
        unseen_curves=len(UNSEEN),
        unseen_within=len(within),
        unseen_error=_mean(within),
        all_reduce_error=_operation_error("all-reduce"),
        all_gather_error=_operation_error("all-gather"),
        rack_error=_mean([row[4] for row in UNSEEN if row[3] == 1]),
        reduce_scatter_error=_operation_error("reduce-scatter"),
        all_to_all_error=_operation_error("all-to-all"),
        sharded_bias=_mean([_error(*row[3:]) for row in PLANS if row[1] == "FSDP + EP"]),
        other_plans=len(others),
        other_plans_error=_mean([abs(error) for error in others]),
    )


def _operation_error(operation: str) -> Ratio:
    return _mean([row[4] for row in UNSEEN if row[1] == operation])


def _mean(values: Sequence[Ratio]) -> Ratio:
    return sum(values) / len(values)


def _error(measured: Share, predicted: Share) -> Ratio:
    """Return the step-time error equivalent to two shares of peak."""
    return measured / predicted - 1


def curves() -> Table:
    """Return every curve with its errors."""
    return Table(
        title="Collectives that nothing was fitted to",
        columns=("Curve", "Operation", "GPUs", "Nodes", "Mean", "Worst", "Why"),
        rows=(*_curves(HELD_OUT, "constants fitted to the other curves"), *_curves(UNSEEN, "")),
        caption="Error of the bus bandwidth, for messages from 1 MiB on. From the seventh curve "
        "on, the model is given one point, the largest message, which sets the bandwidth.",
    )


def _curves(rows: Sequence[_Curve], remark: str) -> Iterable[tuple[Cell, ...]]:
    for name, operation, ranks, nodes, mean, worst, fault in rows:
        counts = (say("{n}", n=(float(count), COUNT)) for count in (ranks, nodes))
        errors = (say("{x}", x=(error, SHARE)) for error in (mean, worst))
        yield (name, operation, *counts, *errors, fault or remark)


def plans() -> Table:
    """Return the plans of the article, measured and predicted."""
    return Table(
        title="Full sharding and other plans of one job",
        columns=("Job", "Plan", "Measured MFU", "Predicted MFU"),
        rows=tuple(
            (job, way, *(say("{x}", x=(mfu, SHARE)) for mfu in (measured, predicted)))
            for job, way, _, measured, predicted in PLANS
        ),
    )


# A chosen published run: prediction without its source, range and measurement.

_WITHOUT = (
    "The constants were fitted to all other sources, and this run was then predicted.",
    "The range is that of its class, in which four of five unseen steps lie.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A run with its prediction; zeros if no run is left.

    Attributes:
        run: it.
        low, high: ends of the range of the prediction.
        fitted: predicted with constants that were fitted to it too, if its source stands by it.
        spread: what the range rests on.
        against: its plan beside the best one.
    """

    run: Published | None
    picked_step: Annotated[
        Seconds, Output("Predicted, its source unseen", color="compute", assumes=_WITHOUT)
    ]
    picked_measured: Annotated[
        Seconds, Output("Measured", color="accent", basis="measured", assumes=("By its source.",))
    ]
    low: Seconds
    high: Seconds
    fitted: Seconds
    spread: PredictionSpread | None
    against: Lazy[Against] | None

    @property
    def inside(self) -> bool:
        """Whether the measured step lies in the range."""
        return self.low <= self.picked_measured <= self.high


def picked_run(run: Published | None) -> Picked:
    """Return a run with its prediction that excludes its source."""
    if run is None:
        return Picked(
            run=None,
            picked_step=0.0,
            picked_measured=0.0,
            low=0.0,
            high=0.0,
            fitted=0.0,
            spread=None,
            against=None,
        )
    step = run.measured * exp(unseen_logs()[run.key])
    low, high, spread = step_range(run.case.run, step)
    return Picked(
        run=run,
        picked_step=step,
        picked_measured=run.measured,
        low=low,
        high=high,
        fitted=run.predicted,
        spread=spread,
        against=Lazy(partial(compare_plans, run)),
    )


def verdict(present: Presenter, chosen: Picked) -> Badge:
    """Return whether the measured step lies in the range."""
    run, spread = chosen.run, chosen.spread
    if run is None or spread is None:
        return Badge(text="No run", sentence="No run is left to pick.", color="muted")
    words = f"{run.name} on {{gpus}} {run.family} in {run.inputs.precision}: measured "
    words += "{picked_measured}, predicted {picked_step}, with a range from {low} to {high}. The "
    words += f"range is that of {{runs}} runs of {spread.name}."
    return Badge(
        text="Inside the range" if chosen.inside else "Outside the range",
        sentence=present.say(
            words, gpus=(float(run.world_size), COUNT), runs=(float(spread.runs), COUNT)
        ),
        color="compute" if chosen.inside else "bad",
    )


def bars(present: Presenter, chosen: Picked) -> Bars:
    """Return bars of the prediction with its range, the fitted prediction, and the measurement."""
    most = max(chosen.high, chosen.picked_measured, chosen.fitted)
    return Bars(
        title="Predicted and measured",
        axis=present.axis("picked_step", "time of a step", low=0.0, high=1.08 * most or 1.0),
        bars=(
            _bar("unseen", "predicted, source unseen", chosen.picked_step, "compute", chosen.low,
                 chosen.high),
            _bar("seen", "predicted, all sources seen", chosen.fitted, "muted"),
            _bar("measured", "measured", chosen.picked_measured, "accent"),
        ),
        caption="The thin line is the range. In four of five unseen runs the measured step lies "
        "inside it.",
    )  # fmt: skip


def _bar(
    key: str, label: str, value: Seconds, color: str, low: Seconds = 0.0, high: Seconds = 0.0
) -> Bar:
    segment = Segment(key=key, label=label, value=value, color=color)
    return Bar(key=key, label=label, segments=(segment,), low=low, high=high)


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
    "Predicted memory of the GPU that holds most, of every published plan; each of them ran.",
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
