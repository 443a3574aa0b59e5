"""Where each published plan stands among all plans of its job, as the planner ranked them."""

from dataclasses import dataclass
from functools import cache

from engine.catalog.planned_table import TEXT
from engine.core.derived_rows import DerivedRows
from engine.core.units import Count, Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRank:
    """A published plan among all plans of its job.

    Attributes:
        rank: 1 if no plan that fits is faster.
        slower: its step over that of the best plan.
        best: in what the best plan differs, as `engine.run.plan_difference` writes it.
    """

    rank: Count
    slower: Ratio
    best: str


@cache
def plan_ranks() -> dict[str, PlanRank]:
    """Return row -> rank of its plan among all plans (`planned_table.tsv`)."""
    lines = (line.split("\t") for line in TEXT.splitlines())
    ranks = {
        row: PlanRank(rank=int(rank), slower=float(slower), best=best)
        for row, rank, slower, best in lines
    }
    return DerivedRows(ranks, table="planned_table.tsv", program="tests.validation.ranks --new")
