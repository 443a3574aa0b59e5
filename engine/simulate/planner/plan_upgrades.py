"""A whole plan that is faster than a run's own: several settings changed together.

Single changes cannot reach every better plan: a second axis often has to give way for the first.
The planner tries all plans with half to twice of each axis, at the same GPUs, batch, precision and
software.
"""

from dataclasses import dataclass, fields

from engine.core.slices import Slices
from engine.core.units import Ratio, Seconds
from engine.run.parallelism import Plan, Training
from engine.run.plan_space import Job
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, one_candidate, run_of
from engine.simulate.planner.moves import near
from engine.simulate.planner.search import searching
from engine.simulate.step.what_if import run_fits, step_of

# A plan is worth naming if it is so much faster than the run and than its best single change.
WORTH: Ratio = 0.99
_FIELDS = (
    *((Plan, field.name) for field in fields(Plan)),
    *((Training, name) for name in ("micro_batch_size", "recompute", "schedule")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeChange:
    """A plan and what it changes.

    Attributes:
        run: with the plan.
        step: of that run.
        changed: (setting, before, after), by the keys of a run file.
    """

    run: Run
    step: Seconds
    changed: tuple[tuple[str, str, str], ...]


def whole_change(run: Run, single: Seconds) -> Slices[WholeChange | None]:
    """Find the fastest plan near a run's own; None where it is not worth naming.

    Args:
        run: that may fit or not; of one that does not, any plan that fits is worth naming.
        single: the step with the best single change of the plan; infinite where there is none.
    """
    found = yield from searching(near(_job(run), one_candidate(run)), 1)
    if not found.best:
        return None
    best = found.best[0]
    limit = min(single, step_of(run).total if run_fits(run) else float("inf"))
    changed = tuple(_changed(run, best))
    if best.step >= WORTH * limit or len(changed) < 2:
        return None
    changed_run = run_of(_job(run), best.plan, best.training)
    return WholeChange(run=changed_run, step=best.step, changed=changed)


def _job(run: Run) -> Job:
    return Job(
        model=run.model,
        cluster=run.cluster,
        world_size=run.plan.world_size,
        training=run.training,
        frameworks=(run.training.framework,),
        precisions=(run.training.precision,),
    )


def _changed(run: Run, best: Candidate) -> list[tuple[str, str, str]]:
    found = []
    for kind, name in _FIELDS:
        before = getattr(run.plan if kind is Plan else run.training, name)
        after = getattr(best.plan if kind is Plan else best.training, name)
        if before != after:
            found.append((name, _said(before), _said(after)))
    return found


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "even"
    return str(value)
