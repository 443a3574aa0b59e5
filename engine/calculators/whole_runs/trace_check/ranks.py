"""Totals of each trace file, with the waiting times of its rank and the others."""

from engine.core.record import record
from engine.core.units import Seconds
from engine.simulate.profile_analysis.account import TimeUse
from engine.simulate.profile_analysis.check import TraceCheck, mean_use
from engine.simulate.profile_analysis.collectives import clock_offset


@record
class RankUse:
    """A rank of the trace.

    Attributes:
        use: where the time of its mean step went.
        waits: in each step, for the others and they for it; None with one file.
        ahead: its clock, of the first rank's; None where nothing tells.
    """

    use: TimeUse
    waits: tuple[Seconds, Seconds] | None
    ahead: Seconds | None


def rank_uses(checked: TraceCheck) -> tuple[RankUse, ...]:
    """Return all ranks in their order."""
    rows = []
    for place, uses in enumerate(checked.uses):
        both = checked.wait_suffered(place) / len(uses), checked.wait_caused(place) / len(uses)
        ahead = clock_offset(checked.ranks, checked.collectives, place)
        waits = both if checked.collectives else None
        rows.append(RankUse(use=mean_use(uses), waits=waits, ahead=ahead))
    return tuple(rows)
