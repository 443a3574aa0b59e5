"""What each file of a trace adds up to, beside what its rank and the others waited."""

from engine.core.record import record
from engine.core.units import Seconds
from engine.simulate.profile_analysis.account import TimeUse
from engine.simulate.profile_analysis.check import Checked, mean_use
from engine.simulate.profile_analysis.collectives import clock_offset


@record
class OfRank:
    """A rank of the trace.

    Attributes:
        use: where the time of its mean step went.
        waits: in each step, for the others and they for it; None with one file.
        ahead: its clock, of the first rank's; None where nothing tells.
    """

    use: TimeUse
    waits: tuple[Seconds, Seconds] | None
    ahead: Seconds | None


def of_ranks(checked: Checked) -> tuple[OfRank, ...]:
    """Return all ranks in their order."""
    found = []
    for place, uses in enumerate(checked.uses):
        both = checked.waited(place) / len(uses), checked.caused(place) / len(uses)
        ahead = clock_offset(checked.ranks, checked.matched, place)
        waits = both if checked.matched else None
        found.append(OfRank(use=mean_use(uses), waits=waits, ahead=ahead))
    return tuple(found)
