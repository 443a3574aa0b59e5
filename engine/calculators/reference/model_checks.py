"""Checks of the model on data outside its fit: our measurements, and peak memory."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.unfitted_errors import OWN, PEAKS
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SHARE, Count, Ratio, Share
from engine.core.views import Cell, Table

# What a class may be off in the mean before its reason has to stand beside it; a test holds it.
BAR: Share = 0.15
_ALONE = (
    "alone a kernel is faster than in a step, whose power is limited; the constants are a step's"
)
_TILES = "the model has tiles of 128 rows; libraries have smaller ones"
_HOST = (
    "one sequence of a small model: the host launches kernels more slowly than the GPU runs them "
    "(the faster GPU took longer), and the model has no such floor"
)
# Beginning of a class -> why it is off.
REASONS: tuple[tuple[str, str], ...] = (
    ("attention, few heads", "one rate for all; few heads leave most of the GPU idle"),
    ("attention, short", "one rate for all; of a short sequence, start and end of a kernel count"),
    ("attention, latent", _ALONE),
    ("attention, long", _ALONE),
    ("few rows", _TILES),
    ("grouped", f"{_TILES}; and {_ALONE}"),
    ("Llama layers", _ALONE),
    ("short inner sum", "the time to fill a tile is fitted to longer sums"),
    ("square", "small ones: the time to fill a tile is fitted to larger products"),
    ("vocabulary", _ALONE),
    (
        "unaligned",
        "one size, whose rows are no multiple of 16 bytes: its kernel takes about six times as "
        "long, which the check leaves out",
    ),
    ("layer time, GPT", "an unfused layer, two runs; we found no reason"),
    ("LoRA time, compiled", _HOST),
    ("LoRA time, eager", _HOST),
    ("step time, compiled", _HOST),
    (
        "step time, eager",
        "selective recomputation took longer than full: a policy in Python is asked for each "
        "operation, and the model has no such floor",
    ),
)


def error_reason(kind: str) -> str:
    """Return the reason for a class's error, or an empty string."""
    return next((why for start, why in REASONS if kind.startswith(start)), "")


def signed_percent(value: Ratio) -> str:
    """Return a share in percent with its sign."""
    return f"{'+' if value >= 0 else '−'}{abs(value) * 100:.1f} %"


def own_table(*, only_far: bool) -> Table:
    """Return the classes of our own measurements, the worst first."""
    rows: list[tuple[Cell, ...]] = []
    for kind, count, mean, worst, bias in sorted(OWN, key=lambda row: -row[2]):
        if only_far and mean <= BAR:
            continue
        number, size = say("{n}", n=(float(count), COUNT)), say("{x}", x=(mean, SHARE))
        why = error_reason(kind) if mean > BAR or abs(worst) > 0.2 else ""
        rows.append((kind, number, size, signed_percent(worst), signed_percent(bias), why))
    return Table(
        title="Beside our own measurements",
        columns=("What", "Measured", "Mean", "Worst", "Bias", "Why"),
        rows=tuple(rows),
        caption="One H100 and one H200, nothing fitted but two shares of memory. Times, unless it "
        "says memory. A positive bias: the prediction is too slow, or too large.",
    )


def peak_table() -> Table:
    """Return the published peaks of memory that nothing was fitted to."""
    rows: list[tuple[Cell, ...]] = []
    for name, measured, predicted in sorted(PEAKS, key=lambda row: -abs(row[2] / row[1] - 1)):
        sizes = (say("{m}", m=(size, BYTES)) for size in (measured, predicted))
        rows.append((name, *sizes, signed_percent(predicted / measured - 1)))
    return Table(
        title="Peaks of memory that nothing was fitted to",
        columns=("Run", "Measured", "Predicted", "Error"),
        rows=tuple(rows),
        caption="The 405B model with FSDP, tensor parallelism and eight stages is short in two of "
        "its runs. Of four rows that differ only in how the sequence is cut, the model expects the "
        "same peak, and three of them nearly have it.",
    )


TITLE = "Checks of the model"
QUESTION = "How far off is the model where nothing was fitted?"
HEADLINE = "peak_error"
EQUATIONS = ()
PRESETS = {"What is far off": {"show": "far"}}
_TIMED = ("Kernels, layers and steps on one H100 and one H200, by class.",)
_HELD = ("Peaks that torchtitan and SimuMax published; nothing was fitted to them.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    show: Annotated[
        str,
        Choice(label="Show", options={"all": "every class", "far": "more than 15 % off"}),
    ] = "all"


def _output(label: str, assumes: tuple[str, ...]) -> Output:
    return Output(label, assumes=assumes, basis="compared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The measurements, and how far off the model is in the mean."""

    measured: Annotated[Count, _output("Measurements of our own", _TIMED)]
    far: Annotated[Count, _output("Classes that are more than 15 % off", _TIMED)]
    peaks: Annotated[Count, _output("Peaks of memory", _HELD)]
    peak_error: Annotated[Share, _output("Mean error of these peaks", _HELD)]
    worst_peak: Annotated[Share, _output("Worst error of these peaks", _HELD)]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    errors = [abs(predicted / measured - 1) for _, measured, predicted in PEAKS]
    return Result(
        measured=sum(count for _, count, *_ in OWN),
        far=sum(mean > BAR for _, _, mean, *_ in OWN),
        peaks=len(PEAKS),
        peak_error=sum(errors) / len(errors),
        worst_peak=max(errors),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the numbers and the tables."""
    present = Presenter(result)
    return {
        **present.values("measured", "far", "peaks", "peak_error", "worst_peak"),
        "own_measurements": partial(own_table, only_far=inputs.show == "far"),
        "peak_table": peak_table,
    }
