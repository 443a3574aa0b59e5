"""Intermediate plans between two plans, a changed input at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from engine.calculators.reference.sandbox.inputs import PLAN
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.planner.evaluate import Candidate, run_candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPlan:
    """An intermediate plan, and the inputs changed since the plan before."""

    changed: tuple[str, ...]
    plan: Candidate


def plans_between(before: Inputs, after: Inputs) -> Iterator[ChangedPlan]:
    """Yield the valid plans between two; a change without a valid plan joins the next change."""
    now, waiting = before, list[str]()
    for name in differing_inputs(before, after):
        change: dict[str, Any] = {name: getattr(after, name)}
        now = replace(now, **change)
        waiting.append(name)
        run, repaired = nearest_run(now)
        if repaired and now != after:
            continue
        yield ChangedPlan(changed=tuple(waiting), plan=run_candidate(run))
        waiting.clear()


def differing_inputs(before: Inputs, after: Inputs) -> list[str]:
    """Return the names of the inputs that differ."""
    return [name for name in PLAN if getattr(before, name) != getattr(after, name)]
