"""The plans of a job as a table without near-copies."""

from collections.abc import Sequence

from engine.core.text import say
from engine.core.units import BYTES, RATIO, SECONDS, Count
from engine.core.views import Cell, Table
from engine.form.memory_fit import tight_mark
from engine.form.planner.best_plan_text import others_text
from engine.form.planner.plan_text import plan_name
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.planner.ties import ListedPlan, TiedKind, listed_plans

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
        columns=("Step", "Of the fastest", "Beside it", "Process", "Plan", "Also with"),
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
