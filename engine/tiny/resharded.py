"""A sharded training that is saved on some ranks and goes on, exactly, on another number."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import TINY_260
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.adam import Moments
from engine.tiny.job import Job, example_batch, initial, num_targets
from engine.tiny.matrix import Vector
from engine.tiny.single import gradient_of, train

BEFORE, AFTER = 3, 3
JOB = Job(batch=example_batch(), steps=BEFORE + AFTER)
# What a file holds of every parameter: the copy and two moments of Adam.
NUMBERS: Count = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What one rank writes: its share of the states."""

    start: int
    moments: Moments

    @property
    def stop(self) -> int:
        """The place behind its last."""
        return self.start + len(self.moments.copy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resharded:
    """What was saved and read.

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
def resharded(before: Count, after: Count) -> Resharded:
    """Return a training of three steps on `before` ranks and three more on `after`."""
    size = len(initial(TINY_260))
    states = [
        File(start=places.start, moments=adam.start(initial(TINY_260)[places.start : places.stop]))
        for places in _shares(size, before)
    ]
    parameters = _steps(states, initial(TINY_260), BEFORE)
    read = [[0] * after for _ in states]
    loaded = []
    for rank, places in enumerate(_shares(size, after)):
        pieces = []
        for at in files_read(size, before, after, rank):
            file = states[at]
            start, stop = max(places.start, file.start), min(places.stop, file.stop)
            read[at][rank] = stop - start
            pieces.append(_cut(file, start, stop))
        loaded.append(File(start=places.start, moments=_joined(pieces)))
    anew = [File(start=one.start, moments=adam.start(one.moments.copy)) for one in loaded]
    alone = train(JOB).parameters
    return Resharded(
        sizes=tuple(len(file.moments.copy) for file in states),
        read=tuple(map(tuple, read)),
        off=_apart(_steps(loaded, parameters, AFTER), alone),
        forgotten=_apart(_steps(anew, parameters, AFTER), alone),
    )


def files_read(size: Count, before: Count, after: Count, rank: Count) -> range:
    """Return which of `before` equal shares a rank of `after` needs: those that overlap its own.

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


def _steps(states: Sequence[File], parameters: Vector, steps: Count) -> Vector:
    """Take steps: every rank updates its share, and all shares end to end are the parameters."""
    for _ in range(steps):
        _, gradient = gradient_of(TINY_260, parameters, JOB.batch, num_targets(JOB))
        parameters = [
            number
            for own in states
            for number in adam.step(own.moments, gradient[own.start : own.stop], JOB.learning_rate)
        ]
    return parameters


def _cut(file: File, start: int, stop: int) -> Moments:
    cut, own = slice(start - file.start, stop - file.start), file.moments
    return Moments(
        copy=own.copy[cut], first=own.first[cut], second=own.second[cut], steps=own.steps
    )


def _joined(pieces: Sequence[Moments]) -> Moments:
    return Moments(
        copy=[x for one in pieces for x in one.copy],
        first=[x for one in pieces for x in one.first],
        second=[x for one in pieces for x in one.second],
        steps=max((one.steps for one in pieces), default=BEFORE),
    )


def _apart(one: Vector, other: Vector) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))
