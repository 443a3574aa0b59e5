"""Changes that could shorten a schedule's idle time, and the figures after each of them."""

from collections.abc import Mapping
from dataclasses import replace

from engine.simulate.pipeline.schedule_bench import (
    MOST_MICROBATCHES,
    ScheduleResult,
    num_operations,
    schedule_result,
)
from engine.simulate.pipeline.schedule_case import ScheduleCase

Change = Mapping[str, float | int | str | bool]
_LARGEST = 3_000  # operations of a run that is only there for a remedy


def candidate_changes(case: ScheduleCase) -> dict[str, Change]:
    """Return the changes that are within range, by name."""
    changes: dict[str, Change] = {}
    if 2 * case.num_microbatches <= MOST_MICROBATCHES:
        changes["more"] = {"num_microbatches": 2 * case.num_microbatches}
    if case.slowness:
        changes["balance"] = {"slowness": 0.0}
    if case.num_layers:
        changes["alike"] = {"num_layers": 0}
        if (case.off_first, case.off_last) == (0, 0):
            # Each end gives as many layers as it has to do besides them.
            moved = {"off_first": round(case.embedding), "off_last": round(case.output)}
            changes["lighter"] = moved
    if case.message:
        changes["messages"] = {"message": 0.0}
    if case.synchronized:
        changes["free"] = {"synchronized": False}
    return changes


def play_changes(case: ScheduleCase, own: ScheduleResult, change: Change) -> ScheduleResult | None:
    """Return the figures after a change; None if it would take too long, or cannot run."""
    changed = replace(case, **change)  # type: ignore[arg-type]
    if num_operations(changed.pipeline_parallel, changed.num_microbatches, 1) > _LARGEST:
        return None
    schedule = schedule_result(changed)
    return None if schedule.setting.reason and not own.setting.reason else schedule
