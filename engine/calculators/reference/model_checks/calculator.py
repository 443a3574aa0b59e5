"""What the model is checked by and no fit saw: our own measurements, and peaks of memory."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.reference.model_checks import tables
from engine.catalog.unfitted_errors import OWN, PEAKS
from engine.core.inputs import Choice
from engine.core.outputs import Teller, Told, Views
from engine.core.units import Count, Share

TITLE = "Checks of the model"
QUESTION = "How far off is the model where nothing was fitted?"
EQUATIONS = ()
PRESETS = {"What is far off": {"show": "far"}}
_TIMED = ("Kernels, layers and steps on one H100 and one H200, by class.",)
_HELD = ("Peaks that torchtitan and SimuMax published; nothing was fitted to them.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    show: Annotated[
        str,
        Choice(label="Show", options={"all": "every class", "far": "more than 15 % off"}),
    ] = "all"


def _told(label: str, assumes: tuple[str, ...]) -> Told:
    return Told(label, assumes=assumes, basis="compared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The measurements, and how far off the model is in the mean."""

    measured: Annotated[Count, _told("Measurements of our own", _TIMED)]
    far: Annotated[Count, _told("Classes that are more than 15 % off", _TIMED)]
    peaks: Annotated[Count, _told("Peaks of memory", _HELD)]
    peak_error: Annotated[Share, _told("Mean error of these peaks", _HELD)]
    worst_peak: Annotated[Share, _told("Worst error of these peaks", _HELD)]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    errors = [abs(predicted / measured - 1) for _, measured, predicted in PEAKS]
    return Result(
        measured=sum(count for _, count, *_ in OWN),
        far=sum(mean > tables.BAR for _, _, mean, *_ in OWN),
        peaks=len(PEAKS),
        peak_error=sum(errors) / len(errors),
        worst_peak=max(errors),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the numbers and the tables."""
    tell = Teller(result)
    return {
        **tell.values("measured", "far", "peaks", "peak_error", "worst_peak"),
        "own_measurements": partial(tables.own, only_far=inputs.show == "far"),
        "peak_table": tables.peaks,
    }
