"""A sharded training that is saved on some ranks and goes on, exactly, on another number."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import TINY_260
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.adam import Moments
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets
from engine.tiny.matrix import Vector
from engine.tiny.single import loss_and_gradient, train

BEFORE, AFTER = 3, 3
JOB = TinyJob(batch=example_batch(), steps=BEFORE + AFTER)
# What a file holds of every parameter: the copy and two moments of Adam.
NUMBERS: Count = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFile:
    """Checkpoint file of one rank: its share of the states."""

    start: int
    moments: Moments

    @property
    def stop(self) -> int:
        """The place behind its last."""
        return self.start + len(self.moments.copy)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReshardedTraining:
    """Record of a training that was resharded from a checkpoint.

    Attributes:
        sizes: parameters in each file.
        read: read[file][rank]: parameters that a new rank reads from a file.
        off: largest difference of a parameter from an uninterrupted training on one GPU.
        forgotten: the same if only weights are saved, and Adam starts anew.
    """

    sizes: tuple[Count, ...]
    read: tuple[tuple[Count, ...], ...]
    off: float
    forgotten: float


@lru_cache(maxsize=64)
def train_resharded(before: Count, after: Count) -> ReshardedTraining:
    """Return a training of three steps on `before` ranks and three more on `after`."""
    size = len(initial_parameters(TINY_260))
    states = [
        StateFile(
            start=places.start,
            moments=adam.initial_moments(initial_parameters(TINY_260)[places.start : places.stop]),
        )
        for places in _shares(size, before)
    ]
    parameters = _steps(states, initial_parameters(TINY_260), BEFORE)
    read = [[0] * after for _ in states]
    loaded = []
    for rank, places in enumerate(_shares(size, after)):
        pieces = []
        for at in files_read(size, before, after, rank):
            file = states[at]
            start, stop = max(places.start, file.start), min(places.stop, file.stop)
            read[at][rank] = stop - start
            pieces.append(_cut(file, start, stop))
        loaded.append(StateFile(start=places.start, moments=_join(pieces)))
    anew = [
        StateFile(start=loaded_file.start, moments=adam.initial_moments(loaded_file.moments.copy))
        for loaded_file in loaded
    ]
    alone = train(JOB).parameters
    return ReshardedTraining(
        sizes=tuple(len(file.moments.copy) for file in states),
        read=tuple(map(tuple, read)),
        off=_largest_difference(_steps(loaded, parameters, AFTER), alone),
        forgotten=_largest_difference(_steps(anew, parameters, AFTER), alone),
    )


def files_read(size: Count, before: Count, after: Count, rank: Count) -> range:
    """Return the files of `before` ranks that overlap the share of a rank of `after`.

    Shares are rounded up, as in ZeRO: rank r has [r c, (r + 1) c) with c = ceil(size / n).
    """
    old, new = -(-size // before), -(-size // after)
    start, stop = min(rank * new, size), min((rank + 1) * new, size)
    if start >= stop:
        return range(0)
    return range(start // old, -(-stop // old))


def _shares(size: Count, ranks: Count) -> list[range]:
    each = -(-size // ranks)
    return [range(min(r * each, size), min((r + 1) * each, size)) for r in range(ranks)]


def _steps(states: Sequence[StateFile], parameters: Vector, steps: Count) -> Vector:
    """Take steps: every rank updates its share, and all shares end to end are the parameters."""
    for _ in range(steps):
        _, gradient = loss_and_gradient(TINY_260, parameters, JOB.batch, num_targets(JOB))
        parameters = [
            number
            for state in states
            for number in adam.step(
                state.moments, gradient[state.start : state.stop], JOB.learning_rate
            )
        ]
    return parameters


def _cut(file: StateFile, start: int, stop: int) -> Moments:
    cut, moments = slice(start - file.start, stop - file.start), file.moments
    return Moments(
        copy=moments.copy[cut],
        first=moments.first[cut],
        second=moments.second[cut],
        steps=moments.steps,
    )


def _join(pieces: Sequence[Moments]) -> Moments:
    return Moments(
        copy=[x for piece in pieces for x in piece.copy],
        first=[x for piece in pieces for x in piece.first],
        second=[x for piece in pieces for x in piece.second],
        steps=max((piece.steps for piece in pieces), default=BEFORE),
    )


def _largest_difference(left: Vector, right: Vector) -> float:
    return max(abs(a - b) for a, b in zip(left, right, strict=True))
