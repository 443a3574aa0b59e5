"""Published plans beside the best plan, as text and as a table.

Apart from `plan_table`, because the planner in the guide shows none of them.
"""

from collections.abc import Sequence

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.published_recipes import OWNERS
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE
from engine.core.views import Cell, Table
from engine.form.memory_fit import tight_mark
from engine.form.planner.plan_text import plan_name
from engine.simulate.planner.published import PublishedPlan

# Steps that differ by less than this share are said to be the same.
_SAME = 5e-4


def published_text(plan: PublishedPlan) -> Text:
    """Return how a published plan compares: "NVIDIA's recipe: 3 % slower, 39 GB more"."""
    gpu, count = plan.machine
    head = f"{OWNERS[plan.recipe.source]} for {count:,} {ACCELERATORS[gpu].name}: "
    candidate = plan.candidate
    if candidate.memory.total > candidate.device:
        return say(
            head + "does not fit, its process takes {beyond} more than a GPU has.",
            beyond=(candidate.memory.total - candidate.device, BYTES),
        )
    pace = "as fast" if abs(plan.slower - 1) < _SAME else "{share} slower"
    size = "more" if plan.more > 0 else "less"
    return say(
        f"{head}{pace}, {{bytes}} {size} in its process{tight_mark(candidate.fit)}.",
        bytes=(abs(plan.more), BYTES),
        **({} if "share" not in pace else {"share": (plan.slower - 1, SHARE)}),
    )


def published_table(plans: Sequence[PublishedPlan]) -> Table:
    """Return the published plans of a model beside the best plan; empty where there is none."""
    if not plans:
        return Table(title="", columns=(), rows=())
    return Table(
        title="Published plans of this model",
        columns=("Beside the fastest", "Step", "Process", "Plan"),
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
    )
