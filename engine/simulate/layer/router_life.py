"""The life of a router in training, summed up: loads step by step, and how balance was paid for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.core.slices import Running, Slices, steps_done, whole
from engine.core.units import Count, Ratio, Share
from engine.simulate.layer.router import Router, Row
from engine.simulate.layer.router_training import training

# The steps at the end over which loads are added up: single batches are noisy.
WINDOW = 10
Loads = tuple[Count, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What became of a router.

    Attributes:
        asked: [num_steps][num_experts] choices.
        dropped: [num_steps] share of the choices.
        biases: [num_steps][num_experts].
        capacity: places of an expert.
        loss: the auxiliary loss of the last step, before its weight.
        given_up: how much of the spread of the experts' preferences balance has taken away.
    """

    asked: tuple[Loads, ...]
    dropped: tuple[Share, ...]
    biases: tuple[Row, ...]
    capacity: Count
    loss: Ratio
    given_up: Share

    def imbalance(self, step: Count) -> Ratio:
        """Return the most asked over the mean, loads added up over `WINDOW` steps up to a step."""
        return imbalance(self.asked[max(0, step + 1 - WINDOW) : step + 1])

    @property
    def last_dropped(self) -> Share:
        """Mean share dropped over the last `WINDOW` steps."""
        last = self.dropped[-WINDOW:]
        return sum(last) / len(last)


def imbalance(asked: tuple[Loads, ...]) -> Ratio:
    """Return the most that an expert was asked over the mean; less 1 it is Wang's MaxVio."""
    loads: list[Count] = [sum(counts) for counts in zip(*asked, strict=True)]
    return max(loads) * len(loads) / sum(loads)


def life(router: Router, num_tokens: Count, num_steps: Count) -> Life:
    """Return the life of a router over a number of steps, at once."""
    return whole(living(router, num_tokens, num_steps).rest())


@lru_cache(maxsize=16)
def living(router: Router, num_tokens: Count, num_steps: Count) -> Running[Life]:
    """Return the life of a router over a number of steps, step by step."""
    return Running(_life(router, num_tokens, num_steps))


def _life(router: Router, num_tokens: Count, num_steps: Count) -> Slices[Life]:
    steps = []
    for step in training(router, num_tokens, num_steps):
        steps.append(step)
        yield steps_done(len(steps), num_steps)
    before, after = _deviation(steps[0].preferences), _deviation(steps[-1].preferences)
    return Life(
        asked=tuple(step.routing.asked for step in steps),
        dropped=tuple(step.routing.dropped_share for step in steps),
        biases=tuple(step.biases for step in steps),
        capacity=steps[-1].routing.capacity,
        loss=steps[-1].loss,
        given_up=1 - after / before if before else 0.0,
    )


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of all there are."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
