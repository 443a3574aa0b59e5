"""Results of the failure-lives calculator."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.whole_runs.failure_lives.curves import PublishedRate, Saving
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import COUNT, Count, Seconds, Share
from engine.simulate.job.failure_monte_carlo import SimulatedRuns
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
        Seconds, Output("Something fails every", "M", "{failures} times", assumes=(_POISSON,))
    ]
    wall: Annotated[
        Seconds, Output("Mean of all lives", "", "± {spread} by luck alone", assumes=(_POISSON,))
    ]
    promised: Annotated[
        Seconds,
        Output(
            "Nine lives in ten end within",
            note="of {count} lives that were played",
            assumes=(_PLAYED, _POISSON),
            basis="simulated",
        ),
    ]
    goodput: Annotated[
        Share, Output("Goodput", "g", "share of the time spent on work that lasts", "compute")
    ]
    young: Annotated[Seconds, Output("Save every (Young)", "t", "first order", assumes=(_POISSON,))]
    daly: Annotated[Seconds, Output("Save every (Daly)", "t", "higher order", assumes=(_POISSON,))]
    best: Annotated[
        Share,
        Output("Goodput at Daly's interval", "g", "instead of {goodput}", assumes=(_POISSON,)),
    ]
    failures: Annotated[float, COUNT]
    spread: Annotated[
        Seconds,
        Output(
            "Luck alone, one standard deviation",
            assumes=(_POISSON, "The variances of all intervals in the model of goodput, added up."),
        ),
    ]
    count: Count
    whole: WholeRun
    played: SimulatedRuns | None
    tried: tuple[tuple[Seconds, Share], ...]
    ended: Lazy[tuple[tuple[Seconds, ...], tuple[Share, ...]]]
    saving: Lazy[Saving]
    required: Lazy[tuple[tuple[Share, ...], ...]]
    scale: tuple[Seconds, ...]
    reports: tuple[PublishedRate, ...]
