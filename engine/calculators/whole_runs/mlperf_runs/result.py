"""Errors of the chosen rows, the picked row, and how one log's time is made up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.mlperf_runs.groups import Group, groups
from engine.calculators.whole_runs.mlperf_runs.read import Compared
from engine.catalog.mlperf_log import EXAMPLE
from engine.catalog.mlperf_runs import mlperf_runs
from engine.core.equation import Equation
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Count, Ratio, Seconds, Share
from engine.simulate.numerics.error_spread import median, summarize_errors

TIME_TO_TRAIN = Equation(
    name="time_to_train",
    tex=r"\v{T} = \v{n}\,\v{t} + \v{m}\,\v{v}",
    symbols={
        "T": ("T", "time to train"),
        "n": ("n", "steps until the target is reached"),
        "t": ("t", "a step"),
        "m": ("m", "evaluations"),
        "v": ("v", "an evaluation"),
    },
)
_SOURCES = ("mlcommons_results",)
_UNVERIFIED = (
    "Step times are derived from the logs of MLPerf® Training. They are not its metric, which is "
    "the time to train, and they are not verified by MLCommons Association."
)
_TOGETHER = (
    "Error: predicted step time divided by the measured one, minus one. Above zero the prediction "
    "is too slow.",
    _UNVERIFIED,
    "Rows of engine/catalog/mlperf_table.tsv with a run file; logs submitted twice count once.",
)
_LOG = (
    "One log of NVIDIA, theia_ngpu72_ngc25.09_nemo, Llama 3.1 8B, version 5.1, Closed division; "
    "the step is the median over all logs of that row.",
    _UNVERIFIED,
)


def _compared(label: str) -> Output:
    return Output(label, assumes=_TOGETHER, basis="compared", sources=_SOURCES)


def _logged(label: str, symbol: str = "") -> Output:
    return Output(label, symbol, assumes=_LOG, basis="measured", sources=_SOURCES)


def _counted(label: str, assumes: str) -> Output:
    return Output(label, assumes=(assumes,), basis="definition", sources=_SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The row that the reader picked; zeros if none is left."""

    row: Compared | None
    picked_step: Annotated[
        Seconds, Output("Predicted", color="compute", assumes=("No row has a factor of its own.",))
    ]
    picked_measured: Annotated[
        Seconds,
        Output(
            "Measured, unverified",
            color="accent",
            basis="measured",
            assumes=("The median step of its logs.", _UNVERIFIED),
            sources=_SOURCES,
        ),
    ]
    picked_jitter: Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The chosen rows and their errors."""

    chosen: tuple[Compared, ...]
    picked: Picked
    groups: Lazy[tuple[Group, ...]]
    rows: Annotated[Count, _compared("Rows")]
    mean: Annotated[Share, _compared("Mean error")]
    median: Annotated[Share, _compared("Median error")]
    bias: Annotated[Share, _compared("Bias")]
    worst: Annotated[Share, _compared("Worst error")]
    inside: Annotated[Share, _compared("In the range")]
    jitter_median: Annotated[Ratio, _logged("Jitter, median of the rows")]
    jitter_most: Annotated[Ratio, _logged("Largest jitter")]
    pauses_most: Annotated[Ratio, _logged("Mean step over median, at most")]
    unfit: Annotated[
        Count,
        Output(
            "Plans that do not fit by the model",
            note="of {rows} that ran",
            assumes=("Predicted memory of the fullest GPU; each of these plans ran.",),
        ),
    ]
    seen: Annotated[
        Count, _counted("Rows that a constant has seen", "Rows that any constant was fitted to.")
    ]
    calibrating: Annotated[
        Count,
        _counted(
            "Rows that ranges were calibrated on",
            "The ranges of their classes were chosen so that most of these rows lie inside.",
        ),
    ]
    inside_new: Annotated[Share, _compared("In the range, of the other rows")]
    unseen: Annotated[
        Count, _counted("Rows that no constant has seen", "No constant was fitted to these rows.")
    ]
    duplicates: Annotated[
        Count, _counted("Logs submitted again", "Equal step times in two rounds; they count once.")
    ]
    unpredicted: Annotated[
        Count,
        _counted("Rows without a prediction", "Their GPU is in no catalog, or no step is logged."),
    ]
    to_train: Annotated[Seconds, Output("Steps and evaluations", "T", assumes=_LOG)]
    steps: Annotated[Count, _logged("Steps", "n")]
    step: Annotated[Seconds, _logged("Median step", "t")]
    evaluations: Annotated[Count, _logged("Evaluations", "m")]
    evaluation: Annotated[Seconds, _logged("An evaluation", "v")]
    evaluation_share: Annotated[Share, _logged("Evaluation, of the clock")]
    clock: Annotated[Seconds, _logged("On the clock")]
    untimed: Annotated[Seconds, _logged("Before the clock")]


def picked_row(row: Compared | None) -> Picked:
    """Return a row with its prediction."""
    return Picked(
        row=row,
        picked_step=row.step.predicted if row else 0.0,
        picked_measured=row.row.step if row else 0.0,
        picked_jitter=row.row.jitter if row else 0.0,
    )


def result_of(chosen: Sequence[Compared], pick: Count, division: str) -> Result:
    """Return the errors of the chosen rows, in their order, and the picked one of them."""
    spread = summarize_errors([row.error for row in chosen])
    every = mlperf_runs()
    example = next(row for row in every if row.key == EXAMPLE.key)
    jitters = [row.row.jitter for row in chosen if row.row.jitter] or [0.0]
    new = [row.inside for row in chosen if not row.step.calibrates]
    pauses = [row.row.block_mean / row.row.step for row in chosen]
    return Result(
        chosen=tuple(chosen),
        picked=picked_row(chosen[min(pick, len(chosen)) - 1] if chosen else None),
        groups=Lazy(partial(groups, chosen, division)),
        rows=len(chosen),
        mean=spread.mean,
        median=spread.median,
        bias=spread.bias,
        worst=spread.worst,
        inside=sum(row.inside for row in chosen) / max(1, len(chosen)),
        jitter_median=median(jitters),
        jitter_most=max(jitters),
        pauses_most=max(pauses, default=0.0),
        unfit=sum(not row.step.fits for row in chosen),
        seen=sum(row.step.seen for row in chosen),
        calibrating=len(chosen) - len(new),
        inside_new=sum(new) / max(1, len(new)),
        unseen=sum(not row.step.seen for row in chosen),
        duplicates=sum(bool(row.duplicate_of) for row in every),
        unpredicted=sum(not row.run_file for row in every),
        to_train=EXAMPLE.steps * example.step + EXAMPLE.evaluations * EXAMPLE.evaluation,
        steps=EXAMPLE.steps,
        step=example.step,
        evaluations=EXAMPLE.evaluations,
        evaluation=EXAMPLE.evaluation,
        evaluation_share=EXAMPLE.evaluations * EXAMPLE.evaluation / EXAMPLE.run,
        clock=EXAMPLE.run,
        untimed=EXAMPLE.start,
    )
