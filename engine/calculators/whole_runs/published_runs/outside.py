"""Validation beyond the table of runs: collectives, and an article, never fitted to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from engine.calculators.whole_runs.published_runs.outside_rows import HELD_OUT, PLANS, UNSEEN
from engine.core.outputs import Output
from engine.core.text import say
from engine.core.units import COUNT, SHARE, Count, Ratio, Share
from engine.core.views import Cell, Table

# What a curve may be off in the mean before its reason has to stand beside it; a test holds it.
BAR: Share = 0.15
_CURVES = (
    "Error of the bus bandwidth, for messages from 1 MiB on.",
    "Rows of outside_rows.py; a test compares them with the model.",
)
_PLANS = (
    "Predicted step over the measured one, minus one, from shares of the peak.",
    "Micro-batch, recomputation and pieces per stage are assumed; the article names none.",
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
        Share, _output("Error, FSDP + EP", _PLANS, "in the mean, with its sign")
    ]
    other_plans: Annotated[Count, _output("Plans without full sharding", _PLANS)]
    other_plans_error: Annotated[Share, _output("Their mean error", _PLANS)]


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
