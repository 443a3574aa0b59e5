"""The plans of a job as a table without near-copies, and published ones beside the best."""

from collections.abc import Sequence

from engine.core.text import say
from engine.core.units import BYTES, RATIO, SECONDS, Count
from engine.core.views import Cell, Citation, Table
from engine.form.memory_fit import tight_mark
from engine.form.planner.best_plan_text import others_text, published_text
from engine.form.planner.plan_text import plan_name
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.planner.kinds import ListedPlan, TiedKind, listed_plans
from engine.simulate.planner.published import PublishedPlan

_CAPTION = (
    "The fastest plan, then plans of other kinds that tie with it, the simplest first: the fewest "
    "kinds of parallelism, the fewest virtual stages, the least recomputation. A plan that differs "
    "only in these, in its micro-batch or in what it shards is no kind of its own."
)


def listed_table(best: Sequence[Candidate], kinds: Sequence[TiedKind], count: Count) -> Table:
    """Return the fastest plan, what ties with it, and slower plans, one of each kind."""
    rows = [_row(plan, best[0]) for plan in listed_plans(best, kinds, count)]
    return Table(
        title="The fastest, and other kinds of plans",
        columns=("Step", "Of the fastest", "", "Process", "Plan", "Also with"),
        rows=tuple(rows),
        caption=_CAPTION if rows else "",
    )


def _row(plan: ListedPlan, best: Candidate) -> tuple[Cell, ...]:
    shown = plan.candidate
    verdict = "a tie" if plan.tied else "slower"
    return (
        say("{t}", t=(shown.step, SECONDS)),
        say("{r}", r=(shown.step / best.step, RATIO)),
        "the fastest" if shown is best else verdict,
        say("{m}", m=(shown.memory.total, BYTES)),
        plan_name(shown.plan, shown.training) + tight_mark(shown.fit),
        others_text(plan.others),
    )


def published_table(plans: Sequence[PublishedPlan]) -> Table:
    """Return the published plans of a model beside the best plan; empty where there is none."""
    if not plans:
        return Table(title="", columns=(), rows=())
    return Table(
        title="Published plans of this model",
        columns=("Beside the fastest", "Step", "Process", "Plan", "Source"),
        rows=tuple(_published_row(plan) for plan in plans),
        caption="Each on these GPUs and with this batch, by the same model; of each source the "
        "plan for the nearest machine. No recommended plan is slower than one that fits.",
    )


def _published_row(plan: PublishedPlan) -> tuple[Cell, ...]:
    candidate = plan.candidate
    return (
        published_text(plan),
        say("{t}", t=(candidate.step, SECONDS)),
        say("{m}", m=(candidate.memory.total, BYTES)),
        plan_name(candidate.plan, candidate.training),
        Citation((plan.recipe.source,)),
    )
