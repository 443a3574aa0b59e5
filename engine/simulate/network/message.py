"""A message on its way: pieces that pass stages in order, one piece at a time in each stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Count, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of the path.

    Attributes:
        key: unique in the path.
        latency: what every byte waits here, however many follow it.
        bandwidth: at which bytes pass; 0 if they only wait here (a doorbell, a switch that cuts
            through), so that pieces do not queue.
    """

    key: str
    latency: Seconds
    bandwidth: Bandwidth = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece in a stage.

    Attributes:
        stage: key of the stage.
        piece: from 0.
        arrived: when all of it had left the stage before.
        start: when it starts to pass: after the latency, and after the piece before it.
        end: when all of it has passed.
    """

    stage: str
    piece: Count
    arrived: Seconds
    start: Seconds
    end: Seconds


def passages(stages: Sequence[Stage], size: Bytes, pieces: Count) -> list[Passage]:
    """Return every piece in every stage, stage by stage."""
    found: list[Passage] = []
    ready = [0.0] * pieces
    for stage in stages:
        occupied = size / pieces / stage.bandwidth if stage.bandwidth else 0.0
        free = 0.0
        for piece, arrived in enumerate(ready):
            start = max(arrived + stage.latency, free)
            free = start + occupied
            found.append(
                Passage(stage=stage.key, piece=piece, arrived=arrived, start=start, end=free)
            )
            ready[piece] = free
    return found
