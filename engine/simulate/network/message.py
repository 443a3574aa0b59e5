"""Pipelined transfer of a message: pieces pass stages in order, one at a time per stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Count, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Latency and bandwidth of one stage of the path.

    Attributes:
        key: unique in the path.
        latency: delay of every byte, independent of the message size.
        bandwidth: rate of the stage; 0 for a pure delay (a doorbell, a cut-through switch), in
            which pieces do not queue.
    """

    key: str
    latency: Seconds
    bandwidth: Bandwidth = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTransit:
    """Times of one piece in one stage.

    Attributes:
        stage: key of the stage.
        piece: index of the piece, from 0.
        arrived: time at which all of it had left the previous stage.
        start: start of the transfer: after the latency, and after the previous piece.
        end: end of the transfer.
    """

    stage: str
    piece: Count
    arrived: Seconds
    start: Seconds
    end: Seconds


def stage_transits(stages: Sequence[Stage], size: Bytes, pieces: Count) -> list[StageTransit]:
    """Return the times of every piece in every stage, stage by stage."""
    transits: list[StageTransit] = []
    ready = [0.0] * pieces
    for stage in stages:
        occupied = size / pieces / stage.bandwidth if stage.bandwidth else 0.0
        free = 0.0
        for piece, arrived in enumerate(ready):
            start = max(arrived + stage.latency, free)
            free = start + occupied
            transits.append(
                StageTransit(stage=stage.key, piece=piece, arrived=arrived, start=start, end=free)
            )
            ready[piece] = free
    return transits
