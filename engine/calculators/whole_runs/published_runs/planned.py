"""Published plans beside the planner's best: rank, ratio, and the reason in words."""

from collections.abc import Sequence

from engine.calculators.whole_runs.published_runs.read import Published
from engine.catalog.planned_runs import Planned, planned
from engine.core.lazy import Later
from engine.core.record import record
from engine.core.text import Sentence, Text, say, words
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, Ratio
from engine.core.views import Badge
from engine.form.planner.plan_text import name, reason
from engine.run.plan_difference import applied
from engine.run.run import Run
from engine.simulate.numerics.error_spread import median
from engine.simulate.planner.evaluate import Candidate, one_candidate
from engine.simulate.planner.ranked import as_cut, job_of_run, room_made
from engine.simulate.planner.why import Reason, why_not


def standing(row: Published) -> Planned:
    """Return where the plan of a run stands."""
    return planned()[row.key]


def cell(row: Published) -> Text:
    """Return where a plan stands, for a table: its rank, and its step over the best plan's."""
    found = standing(row)
    return say("{n}; {r}", n=(float(found.rank), COUNT), r=(found.slower, RATIO))


def median_ratio(rows: Sequence[Published]) -> Ratio:
    """Return the median of the steps over those of the best plans; 0 of no runs."""
    return median([standing(row).slower for row in rows]) if rows else 0.0


@record
class Against:
    """A published plan and the planner's best, each as a run and as the planner sees it.

    Attributes:
        standing: its rank, and the best plan.
        run, own: it.
        best, rival: the best plan.
        why: what speaks against it.
    """

    standing: Planned
    run: Run
    own: Candidate
    best: Run
    rival: Candidate
    why: Reason


def against(row: Published) -> Against:
    """Return the plan of a run beside the planner's best."""
    run, found = as_cut(row.case.run), standing(row)
    best = applied(run, found.best)
    rival = one_candidate(best)
    return Against(
        standing=found,
        run=run,
        own=one_candidate(run),
        best=best,
        rival=rival,
        why=why_not(room_made(job_of_run(run), run), run, rival),
    )


def verdict(found: Later[Against] | None) -> Badge:
    """Return the rank of a run's plan, why it is not the first, and the best plan."""
    if found is None:
        return Badge(text="No run", sentence="No run is left to pick.", color="muted")
    one = found()
    run, best, rank, told = one.run, one.best, one.standing.rank, reason(one.why)
    numbers = dict(told.numbers) if isinstance(told, Sentence) else {}
    template = told.template if isinstance(told, Sentence) else told
    named = f"The published plan: {name(run.plan, run.training)}. {template}"
    if rank > 1:
        named += f" The planner's best, {{best_step}}: {name(best.plan, best.training)}."
        numbers["best_step"] = (one.rival.step, SECONDS)
    if not one.own.fits:
        named += " By our memory model it needs {beyond} more than a GPU has. It ran, so its "
        named += "rivals may need as much."
        numbers["beyond"] = (one.own.held.total - one.own.room, BYTES)
    return Badge(
        text=words(say("Rank {n}", n=(float(rank), COUNT))),
        sentence=Sentence(named, numbers),
        color="compute" if one.why.verdict in ("best", "tied") else "communication",
    )
