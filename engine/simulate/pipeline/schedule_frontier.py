"""Which schedules no other beats in both memory and bubble."""

from collections.abc import Sequence

from engine.simulate.pipeline.schedule_bench import Played


def frontier(found: Sequence[Played]) -> list[Played]:
    """Return those that no other beats in memory and in bubble, by memory."""
    best: list[Played] = []
    for one in sorted(found, key=lambda played: (played.memory, played.share)):
        if not best or one.share < best[-1].share - 1e-12:
            best.append(one)
    return best
