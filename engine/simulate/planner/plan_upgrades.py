"""A whole plan that is faster than a run's own: several settings changed together.

Single changes cannot reach every better plan: a second axis often has to give way for the first.
The planner tries all plans with half to twice of each axis, at the same GPUs, batch, precision and
software.
"""

from dataclasses import dataclass, fields

from engine.core.slices import Slices
from engine.core.units import Ratio, Seconds
from engine.run.parallelism import Plan, Training
from engine.run.plan_space import PlanningJob
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, candidate_run, run_candidate
from engine.simulate.planner.moves import nearby_job
from engine.simulate.planner.search import search_plans
from engine.simulate.step.what_if import run_fit, run_step_time

# A plan is worth naming if it is so much faster than the run and than its best single change.
WORTH: Ratio = 0.99
_FIELDS = (
    *((Plan, field.name) for field in fields(Plan)),
    *((Training, name) for name in ("micro_batch_size", "recompute", "schedule")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpgrade:
    """A faster plan and its changed settings.

    Attributes:
        run: with the plan.
        step: of that run.
        changed: (setting, before, after), by the keys of a run file.
    """

    run: Run
    step: Seconds
    changed: tuple[tuple[str, str, str], ...]


def find_plan_upgrade(run: Run, single: Seconds) -> Slices[PlanUpgrade | None]:
    """Return the fastest plan near a run's own; None if it is not worth naming.

    Args:
        run: that may fit or not; of one that does not, any plan that fits is worth naming.
        single: the step with the best single change of the plan; infinite where there is none.
    """
    search = yield from search_plans(nearby_job(_upgrade_job(run), run_candidate(run)), 1)
    if not search.best:
        return None
    best = search.best[0]
    limit = min(single, run_step_time(run).total if run_fit(run).runs else float("inf"))
    changed = tuple(_changed_settings(run, best))
    if best.step >= WORTH * limit or len(changed) < 2:
        return None
    changed_run = candidate_run(_upgrade_job(run), best.plan, best.training)
    return PlanUpgrade(run=changed_run, step=best.step, changed=changed)


def _upgrade_job(run: Run) -> PlanningJob:
    return PlanningJob(
        model=run.model,
        cluster=run.cluster,
        world_size=run.plan.world_size,
        training=run.training,
        frameworks=(run.training.framework,),
        precisions=(run.training.precision,),
    )


def _changed_settings(run: Run, best: Candidate) -> list[tuple[str, str, str]]:
    changes = []
    for kind, name in _FIELDS:
        before = getattr(run.plan if kind is Plan else run.training, name)
        after = getattr(best.plan if kind is Plan else best.training, name)
        if before != after:
            changes.append((name, _format_value(before), _format_value(after)))
    return changes


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "even"
    return str(value)
