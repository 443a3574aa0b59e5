"""Published plans against the planner's best: rank, ratio and reason."""

from collections.abc import Sequence

from engine.calculators.whole_runs.published_runs.read import Published
from engine.catalog.planned_runs import PlanRank, plan_ranks
from engine.core.lazy import Lazy
from engine.core.record import record
from engine.core.text import Sentence, Text, render_text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, Ratio
from engine.core.views import Badge
from engine.form.planner.plan_text import plan_name, reason_text
from engine.run.plan_difference import apply_plan_difference
from engine.run.run import Run
from engine.simulate.numerics.error_spread import median
from engine.simulate.planner.evaluate import Candidate, run_candidate
from engine.simulate.planner.ranked import job_of_run, with_layer_cut, with_room_for
from engine.simulate.planner.why import Reason, why_not


def plan_rank(row: Published) -> PlanRank:
    """Return the rank of a run's plan among the planner's candidates."""
    return plan_ranks()[row.key]


def rank_cell(row: Published) -> Text:
    """Return a table cell: the plan's rank, and its step over the best plan's."""
    rank = plan_rank(row)
    return say("{n}; {r}", n=(float(rank.rank), COUNT), r=(rank.slower, RATIO))


def median_ratio(rows: Sequence[Published]) -> Ratio:
    """Return the median of the steps over those of the best plans; 0 of no runs."""
    return median([plan_rank(row).slower for row in rows]) if rows else 0.0


@record
class Against:
    """A published plan and the planner's best, each as a run and as the planner sees it.

    Attributes:
        standing: its rank, and the best plan.
        run, own: it.
        best, rival: the best plan.
        why: what speaks against it.
    """

    standing: PlanRank
    run: Run
    own: Candidate
    best: Run
    rival: Candidate
    why: Reason


def compare_plans(row: Published) -> Against:
    """Return the comparison of a run's plan with the planner's best."""
    run, rank = with_layer_cut(row.case.run), plan_rank(row)
    best = apply_plan_difference(run, rank.best)
    rival = run_candidate(best)
    return Against(
        standing=rank,
        run=run,
        own=run_candidate(run),
        best=best,
        rival=rival,
        why=why_not(with_room_for(job_of_run(run), run), run, rival),
    )


def verdict(comparison: Lazy[Against] | None) -> Badge:
    """Return the rank of a run's plan, why it is not the first, and the best plan."""
    if comparison is None:
        return Badge(text="No run", sentence="No run is left to pick.", color="muted")
    plans = comparison()
    run, best, rank, explanation = (
        plans.run,
        plans.best,
        plans.standing.rank,
        reason_text(plans.why),
    )
    numbers = dict(explanation.numbers) if isinstance(explanation, Sentence) else {}
    template = explanation.template if isinstance(explanation, Sentence) else explanation
    named = f"The published plan: {plan_name(run.plan, run.training)}. {template}"
    if rank > 1:
        named += f" The planner's best, {{best_step}}: {plan_name(best.plan, best.training)}."
        numbers["best_step"] = (plans.rival.step, SECONDS)
    if not plans.own.fit.runs:
        named += " By our memory model it needs {beyond} more than a GPU has. It ran, so its "
        named += "rivals may need as much."
        numbers["beyond"] = (plans.own.fit.least - plans.own.fit.device, BYTES)
    return Badge(
        text=render_text(say("Rank {n}", n=(float(rank), COUNT))),
        sentence=Sentence(named, numbers),
        color="compute" if plans.why.verdict in ("best", "tied") else "communication",
    )
