"""A training that is saved and resumed, with everything restored or with one thing missing.

The tiny model reads a shuffled list of sequences, eight to a step, with a warm-up of the learning
rate. A checkpoint after `BEFORE` steps holds the weights, Adam's moments, the step of the schedule
and the place in the data. What a resumed run lacks of these, or does differently, is one choice.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.catalog.models import TINY_260
from engine.core.slices import SlicedRun, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.adam import Moments
from engine.tiny.job import TokenSequence, initial_parameters
from engine.tiny.matrix import Vector, add_vectors
from engine.tiny.single import loss_and_gradient

BEFORE, AFTER = 12, 12
BATCH: Count = 8
RANKS: Count = 4
# The highest rate of Adam, after a warm-up of so many steps.
RATE, WARM_UP = 0.05, 6
LENGTH: Count = 4
MISSING: Mapping[str, str] = {
    "nothing": "nothing",
    "moments": "Adam's moments",
    "schedule": "the step of the schedule",
    "place": "the data-loader position",
    "shuffle": "the seed of the shuffle",
    "precision": "the weights' full precision (bf16 is saved)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """State of a training between two steps.

    Attributes:
        moments: the weights and Adam's states.
        step: of the learning rate's schedule, from 0.
        place: sequences read so far.
        seed: of the shuffle.
    """

    moments: Moments
    step: Count
    place: Count
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedTraining:
    """Record of a resumed training beside the same without a stop.

    Attributes:
        straight: loss of each step without a stop, of its own batch.
        losses: loss of each step after the stop.
        off: largest difference of a parameter at the end.
        first: step, from 1, whose loss is the first to differ by more than rounding; 0 if none is.
        same_bits: whether all parameters are the same to the last bit.
        read_twice: sequences that were read before the stop and once more after it, within an
            epoch; those that are skipped are as many.
    """

    straight: tuple[float, ...]
    losses: tuple[float, ...]
    off: float
    first: Count
    same_bits: bool
    read_twice: Count


def sequences() -> tuple[TokenSequence, ...]:
    """Return 56 sequences: counting on from each of 8 tokens in steps of 1 to 7, modulo 8."""
    return tuple(
        tuple((start + stride * place) % 8 for place in range(LENGTH + 1))
        for stride in range(1, 8)
        for start in range(8)
    )


@lru_cache(maxsize=4)
def shuffled(seed: int) -> tuple[TokenSequence, ...]:
    """Return the sequences in the order of a shuffle (Fisher and Yates, Lehmer's generator)."""
    order, state = list(sequences()), seed
    for last in range(len(order) - 1, 0, -1):
        state = state * 48_271 % (2**31 - 1)
        other = state % (last + 1)
        order[last], order[other] = order[other], order[last]
    return tuple(order)


def learning_rate(step: Count) -> float:
    """Return the rate of a step: linear warm-up, then a cosine to a tenth of the highest."""
    if step < WARM_UP:
        return RATE * (step + 1) / WARM_UP
    done = min(1.0, (step - WARM_UP) / (BEFORE + AFTER - WARM_UP))
    return RATE * (0.1 + 0.9 * (1 + math.cos(math.pi * done)) / 2)


def to_bf16(number: float) -> float:
    """Return the nearest number that bf16 holds, ties to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(struct.unpack("<f", struct.pack("<I", rounded & 0xFFFFFFFF))[0])


def _start() -> Checkpoint:
    moments = adam.initial_moments(initial_parameters(TINY_260))
    return Checkpoint(moments=moments, step=0, place=0, seed=1)


def _copied(state: Checkpoint) -> Checkpoint:
    """Return a state whose moments can be advanced without touching the given one."""
    old = state.moments
    moments = replace(old, copy=[*old.copy], first=[*old.first], second=[*old.second])
    return replace(state, moments=moments)


def _gradient(
    parameters: Vector, batch: Sequence[TokenSequence], ranks: Count
) -> tuple[float, Vector]:
    """Return loss and gradient of a batch, dealt to ranks and added in their order."""
    targets = sum(len(sequence) - 1 for sequence in batch)
    total, gradient = 0.0, [0.0] * len(parameters)
    for rank in range(ranks):
        loss, rank_gradient = loss_and_gradient(
            TINY_260, parameters, tuple(batch[rank::ranks]), targets
        )
        total, gradient = total + loss, add_vectors(gradient, rank_gradient)
    return total, gradient


def _steps(
    state: Checkpoint, steps: Count, ranks: Count, batch: Count
) -> Slices[tuple[Checkpoint, tuple[float, ...]]]:
    """Return the state after more steps, and the loss of each."""
    state, losses = _copied(state), list[float]()
    order = shuffled(state.seed)
    for done in range(steps):
        yield step_progress(done, steps)
        chosen = [order[(state.place + each) % len(order)] for each in range(batch)]
        loss, gradient = _gradient(state.moments.copy, chosen, ranks)
        adam.step(state.moments, gradient, learning_rate(state.step))
        losses.append(loss)
        state = replace(state, step=state.step + 1, place=state.place + batch)
    return state, tuple(losses)


@lru_cache(maxsize=1)
def _first_half() -> SlicedRun[tuple[Checkpoint, tuple[float, ...]]]:
    return SlicedRun(_steps(_start(), BEFORE, RANKS, BATCH))


@lru_cache(maxsize=1)
def _second_half() -> SlicedRun[tuple[Checkpoint, tuple[float, ...]]]:
    return SlicedRun(_without_a_stop())


def _without_a_stop() -> Slices[tuple[Checkpoint, tuple[float, ...]]]:
    saved, _ = yield from _first_half().rest()
    return (yield from _steps(saved, AFTER, RANKS, BATCH))


def without(saved: Checkpoint, missing: str) -> Checkpoint:
    """Return a checkpoint as a run finds it that lacks something (`MISSING`)."""
    saved = _copied(saved)
    if missing == "moments":
        return replace(saved, moments=adam.initial_moments(saved.moments.copy))
    if missing == "schedule":
        return replace(saved, step=0)
    if missing == "place":
        return replace(saved, place=0)
    if missing == "shuffle":
        return replace(saved, seed=saved.seed + 1)
    if missing == "precision":
        rounded = [to_bf16(weight) for weight in saved.moments.copy]
        return replace(saved, moments=replace(saved.moments, copy=rounded))
    return saved


def resume(missing: str, ranks: Count, batch: Count) -> Slices[ResumedTraining]:
    """Return the training resumed on `ranks` GPUs with `batch` sequences to a step.

    Before the stop there are `RANKS` GPUs and `BATCH` sequences.
    """
    saved, before = yield from _first_half().rest()
    straight, straight_losses = yield from _second_half().rest()
    loaded = without(saved, missing)
    resumed, losses = yield from _steps(loaded, AFTER, ranks, batch)
    pairs = list(zip(resumed.moments.copy, straight.moments.copy, strict=True))
    differ = [
        BEFORE + step + 1
        for step, (loss, other) in enumerate(zip(losses, straight_losses, strict=True))
        if abs(loss - other) > 1e-9 * abs(other)
    ]
    return ResumedTraining(
        straight=(*before, *straight_losses),
        losses=losses,
        off=max(abs(parameter - other) for parameter, other in pairs),
        first=differ[0] if differ else 0,
        same_bits=all(parameter == other for parameter, other in pairs),
        read_twice=_read_twice(saved, loaded),
    )


def _read_twice(saved: Checkpoint, loaded: Checkpoint) -> Count:
    """Return how many sequences of the epoch at the stop the resumed run reads a second time."""
    order, every = shuffled(saved.seed), len(sequences())
    read = {order[place] for place in range(saved.place % every)}
    left = every - saved.place % every
    again = shuffled(loaded.seed)
    coming = {again[(loaded.place + each) % every] for each in range(left)}
    return len(read & coming)
