"""Changes that could shorten a schedule's idle time, and the figures after each of them."""

from collections.abc import Mapping
from dataclasses import replace

from engine.simulate.pipeline.schedule_bench import LONGEST, Played, cost, played
from engine.simulate.pipeline.schedule_case import Case

Change = Mapping[str, float | int | str | bool]
_LARGEST = 3_000  # operations of a run that is only there for a remedy


def changes_of(case: Case) -> dict[str, Change]:
    """Return the changes that are within range, by name."""
    found: dict[str, Change] = {}
    if 2 * case.num_microbatches <= LONGEST:
        found["more"] = {"num_microbatches": 2 * case.num_microbatches}
    if case.slowness:
        found["balance"] = {"slowness": 0.0}
    if case.num_layers:
        found["alike"] = {"num_layers": 0}
        if (case.off_first, case.off_last) == (0, 0):
            # Each end gives as many layers as it has to do besides them.
            moved = {"off_first": round(case.embedding), "off_last": round(case.output)}
            found["lighter"] = moved
    if case.message:
        found["messages"] = {"message": 0.0}
    if case.synchronized:
        found["free"] = {"synchronized": False}
    return found


def played_with(case: Case, own: Played, change: Change) -> Played | None:
    """Return the figures after a change; None if it would take too long, or cannot run."""
    changed = replace(case, **change)  # type: ignore[arg-type]
    if cost(changed.pipeline_parallel, changed.num_microbatches, 1) > _LARGEST:
        return None
    found = played(changed)
    return None if found.setting.reason and not own.setting.reason else found
