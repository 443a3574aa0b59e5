"""Analysis of a whole trace: ranks, steps, time breakdowns and waiting."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.core.units import Count, Seconds
from engine.run.traces.document import read_traces
from engine.simulate.profile_analysis.account import ClassifiedTrace, TimeUse
from engine.simulate.profile_analysis.collectives import (
    MatchedCollective,
    TraceSteps,
    match_collectives,
    trace_steps,
    wait_table,
)
from engine.simulate.profile_analysis.rules import parse_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCheck:
    """Analysis of all ranks of a trace.

    Attributes:
        ranks: in the order of their numbers.
        steps: of each rank.
        uses: of each rank, of each step.
        collectives: collectives that several ranks ran together.
        waits: [who waits][for whom], in all.
    """

    ranks: tuple[ClassifiedTrace, ...]
    steps: tuple[TraceSteps, ...]
    uses: tuple[tuple[TimeUse, ...], ...]
    collectives: tuple[MatchedCollective, ...]
    waits: tuple[tuple[Seconds, ...], ...]

    def wait_caused(self, rank: int) -> Seconds:
        """Return the total time that other ranks waited for a rank."""
        return sum(row[rank] for row in self.waits)

    def wait_suffered(self, rank: int) -> Seconds:
        """Return the total time that a rank waited for others."""
        return sum(self.waits[rank])

    @property
    def straggler(self) -> int | None:
        """The rank that the others waited for the longest; None where nobody waited."""
        if not self.collectives:
            return None
        late = max(range(len(self.ranks)), key=self.wait_caused)
        return late if self.wait_caused(late) > 0 else None


@lru_cache(maxsize=2)
def check_trace(text: str, rules: str) -> TraceCheck:
    """Return the analysis of a trace under kernel rules.

    Raises:
        TextError: the trace or the rules cannot be read.
    """
    kernel_rules = parse_rules(rules)
    ranks = tuple(ClassifiedTrace(trace, kernel_rules) for trace in read_traces(text))
    steps = tuple(trace_steps(classified.trace) for classified in ranks)
    collectives = match_collectives(ranks, steps) if len(ranks) > 1 else ()
    return TraceCheck(
        ranks=ranks,
        steps=steps,
        uses=tuple(
            tuple(classified.time_use(start, end) for start, end in rank_steps.windows)
            for classified, rank_steps in zip(ranks, steps, strict=True)
        ),
        collectives=collectives,
        waits=wait_table(len(ranks), collectives),
    )


def mean_use(uses: Sequence[TimeUse]) -> TimeUse:
    """Return the mean time breakdown of several steps."""
    count: Count = len(uses)
    return TimeUse(
        length=sum(use.length for use in uses) / count,
        compute=sum(use.compute for use in uses) / count,
        communication=sum(use.communication for use in uses) / count,
        hidden=sum(use.hidden for use in uses) / count,
        exposed=sum(use.exposed for use in uses) / count,
        copies=sum(use.copies for use in uses) / count,
        copying=sum(use.copying for use in uses) / count,
        idle=sum(use.idle for use in uses) / count,
    )
