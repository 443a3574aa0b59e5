"""Pareto front of schedules by memory and bubble."""

from collections.abc import Sequence

from engine.simulate.pipeline.schedule_bench import ScheduleResult


def frontier(results: Sequence[ScheduleResult]) -> list[ScheduleResult]:
    """Return the Pareto-optimal schedules by memory and bubble, the least memory first."""
    best: list[ScheduleResult] = []
    for result in sorted(results, key=lambda result: (result.memory, result.idle_share)):
        if not best or result.idle_share < best[-1].idle_share - 1e-12:
            best.append(result)
    return best
