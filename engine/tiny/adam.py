"""Adam (Kingma and Ba 2015) on a flat vector, with the constants that PyTorch takes unasked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.tiny.matrix import Vector

FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8


@dataclass(slots=True, kw_only=True)
class Moments:
    """Optimizer states of Adam.

    Attributes:
        copy: the parameter itself. In mixed precision it is this one that is in full precision.
        first: running mean of the gradient.
        second: running mean of its square.
        steps: done so far.
    """

    copy: Vector
    first: Vector
    second: Vector
    steps: int = 0


def initial_moments(parameters: Sequence[float]) -> Moments:
    """Return the optimizer states before the first step."""
    nothing = [0.0] * len(parameters)
    return Moments(copy=list(parameters), first=list(nothing), second=list(nothing))


def step(moments: Moments, gradient: Sequence[float], learning_rate: float) -> Vector:
    """Advance the state by one step and return the new parameters."""
    moments.steps += 1
    first_correction, second_correction = 1 - FIRST**moments.steps, 1 - SECOND**moments.steps
    for i, slope in enumerate(gradient):
        mean = FIRST * moments.first[i] + (1 - FIRST) * slope
        square = SECOND * moments.second[i] + (1 - SECOND) * slope * slope
        moments.first[i], moments.second[i] = mean, square
        moments.copy[i] -= (
            learning_rate
            * (mean / first_correction)
            / (math.sqrt(square / second_correction) + EPSILON)
        )
    return list(moments.copy)
