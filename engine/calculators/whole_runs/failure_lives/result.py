"""The numbers of the lives of a job."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.whole_runs.failure_lives.curves import Here, Saving
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import COUNT, Count, Seconds, Share
from engine.simulate.job.failure_monte_carlo import Lives
from engine.simulate.job.whole_run import WholeRun

_POISSON = "Failures strike at random and independently, at a constant rate."
_PLAYED = "Every life has its own failures, by a seeded sequence."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A job.

    Attributes:
        whole: the run by the formula.
        played: many lives; None where they would hold too many failures to play.
        tried: goodput of long lives, at some intervals.
        ended, saving, required, scale, reports: what `curves` draws.
    """

    mtbf: Annotated[
        Seconds, Told("Something fails every", "M", "{failures} times", assumes=(_POISSON,))
    ]
    wall: Annotated[
        Seconds, Told("Mean of all lives", "", "± {spread} by luck alone", assumes=(_POISSON,))
    ]
    promised: Annotated[
        Seconds,
        Told(
            "Nine lives in ten end within",
            note="of {count} lives that were played",
            assumes=(_PLAYED, _POISSON),
            basis="simulated",
        ),
    ]
    goodput: Annotated[
        Share, Told("Goodput", "g", "share of the time spent on work that lasts", "compute")
    ]
    young: Annotated[Seconds, Told("Save every (Young)", "t", "first order", assumes=(_POISSON,))]
    daly: Annotated[Seconds, Told("Save every (Daly)", "t", "higher order", assumes=(_POISSON,))]
    best: Annotated[
        Share, Told("Goodput at Daly's interval", "g", "instead of {goodput}", assumes=(_POISSON,))
    ]
    failures: Annotated[float, COUNT]
    spread: Annotated[
        Seconds,
        Told(
            "Luck alone, one standard deviation",
            assumes=(_POISSON, "The variances of all intervals in the model of goodput, added up."),
        ),
    ]
    count: Count
    whole: WholeRun
    played: Lives | None
    tried: tuple[tuple[Seconds, Share], ...]
    ended: Later[tuple[tuple[Seconds, ...], tuple[Share, ...]]]
    saving: Later[Saving]
    required: Later[tuple[tuple[Share, ...], ...]]
    scale: tuple[Seconds, ...]
    reports: tuple[Here, ...]
