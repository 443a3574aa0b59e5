"""From one plan to the other, one changed input after another: what each change does."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from engine.calculators.reference.sandbox.inputs import PLAN
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import run_of
from engine.simulate.planner.evaluate import Candidate, one_candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A plan on the way, and the inputs that were changed to come to it."""

    changed: tuple[str, ...]
    plan: Candidate


def way(before: Inputs, after: Inputs) -> Iterator[Station]:
    """Yield the plans between two; what makes no plan by itself goes with the next change."""
    now, waiting = before, list[str]()
    for name in differing(before, after):
        change: dict[str, Any] = {name: getattr(after, name)}
        now = replace(now, **change)
        waiting.append(name)
        run, repaired = run_of(now)
        if repaired and now != after:
            continue
        yield Station(changed=tuple(waiting), plan=one_candidate(run))
        waiting.clear()


def differing(before: Inputs, after: Inputs) -> list[str]:
    """Return the names of the inputs that differ."""
    return [name for name in PLAN if getattr(before, name) != getattr(after, name)]
