"""A trace as a whole: its ranks, their steps, and what the steps of one rank were spent on."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.core.units import Count, Seconds
from engine.run.traces.document import read_traces
from engine.simulate.profile_analysis.account import Sorted, TimeUse
from engine.simulate.profile_analysis.collectives import Matched, matched, waits
from engine.simulate.profile_analysis.rules import read_rules
from engine.simulate.profile_analysis.steps import Steps, steps_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """All ranks of a trace.

    Attributes:
        ranks: in the order of their numbers.
        steps: of each rank.
        uses: of each rank, of each step.
        matched: collectives that several ranks ran together.
        waits: [who waits][for whom], in all.
    """

    ranks: tuple[Sorted, ...]
    steps: tuple[Steps, ...]
    uses: tuple[tuple[TimeUse, ...], ...]
    matched: tuple[Matched, ...]
    waits: tuple[tuple[Seconds, ...], ...]

    def caused(self, rank: int) -> Seconds:
        """Return what the others waited for a rank, in all."""
        return sum(row[rank] for row in self.waits)

    def waited(self, rank: int) -> Seconds:
        """Return what a rank waited for the others, in all."""
        return sum(self.waits[rank])

    @property
    def straggler(self) -> int | None:
        """The rank that the others waited for the longest; None where nobody waited."""
        if not self.matched:
            return None
        late = max(range(len(self.ranks)), key=self.caused)
        return late if self.caused(late) > 0 else None


@lru_cache(maxsize=2)
def check_trace(text: str, rules: str) -> Checked:
    """Return what a trace says under rules.

    Raises:
        TextError: the trace or the rules cannot be read.
    """
    named = read_rules(rules)
    ranks = tuple(Sorted(trace, named) for trace in read_traces(text))
    steps = tuple(steps_of(one.trace) for one in ranks)
    found = matched(ranks, steps) if len(ranks) > 1 else ()
    return Checked(
        ranks=ranks,
        steps=steps,
        uses=tuple(
            tuple(one.use(start, end) for start, end in own.windows)
            for one, own in zip(ranks, steps, strict=True)
        ),
        matched=found,
        waits=waits(len(ranks), found),
    )


def mean_use(uses: Sequence[TimeUse]) -> TimeUse:
    """Return the mean of several steps."""
    count: Count = len(uses)
    return TimeUse(
        length=sum(one.length for one in uses) / count,
        compute=sum(one.compute for one in uses) / count,
        communication=sum(one.communication for one in uses) / count,
        hidden=sum(one.hidden for one in uses) / count,
        exposed=sum(one.exposed for one in uses) / count,
        copies=sum(one.copies for one in uses) / count,
        copying=sum(one.copying for one in uses) / count,
        idle=sum(one.idle for one in uses) / count,
    )
