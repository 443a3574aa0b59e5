"""History of a router in training: expert loads, drops and the cost of balance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import Count, Ratio, Share
from engine.simulate.layer.router import Router, Row
from engine.simulate.layer.router_training import train_router

# The steps at the end over which loads are added up: single batches are noisy.
WINDOW = 10
ExpertLoads = tuple[Count, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterHistory:
    """Loads, drops and biases of a router over its training steps.

    Attributes:
        asked: [num_steps][num_experts] number of choices.
        dropped: [num_steps] dropped share of the choices.
        biases: [num_steps][num_experts].
        capacity: capacity of an expert.
        loss: auxiliary loss of the last step, before its weight.
        given_up: share of the spread of the experts' preferences lost to balancing.
    """

    asked: tuple[ExpertLoads, ...]
    dropped: tuple[Share, ...]
    biases: tuple[Row, ...]
    capacity: Count
    loss: Ratio
    given_up: Share

    def imbalance(self, step: Count) -> Ratio:
        """Return the maximum load over the mean, summed over `WINDOW` steps up to a step."""
        return imbalance(self.asked[max(0, step + 1 - WINDOW) : step + 1])

    @property
    def last_dropped(self) -> Share:
        """Mean share dropped over the last `WINDOW` steps."""
        last = self.dropped[-WINDOW:]
        return sum(last) / len(last)


def imbalance(asked: tuple[ExpertLoads, ...]) -> Ratio:
    """Return the maximum expert load over the mean; minus 1 it is Wang's MaxVio."""
    loads: list[Count] = [sum(counts) for counts in zip(*asked, strict=True)]
    return max(loads) * len(loads) / sum(loads)


def router_history(router: Router, num_tokens: Count, num_steps: Count) -> RouterHistory:
    """Return the history of a router over a number of steps, run to the end."""
    return run_to_end(running_router_history(router, num_tokens, num_steps).rest())


@lru_cache(maxsize=16)
def running_router_history(
    router: Router, num_tokens: Count, num_steps: Count
) -> SlicedRun[RouterHistory]:
    """Return the running computation of a router's history, step by step."""
    return SlicedRun(_router_history(router, num_tokens, num_steps))


def _router_history(router: Router, num_tokens: Count, num_steps: Count) -> Slices[RouterHistory]:
    steps = []
    for step in train_router(router, num_tokens, num_steps):
        steps.append(step)
        yield step_progress(len(steps), num_steps)
    before, after = _deviation(steps[0].preferences), _deviation(steps[-1].preferences)
    return RouterHistory(
        asked=tuple(step.routing.asked for step in steps),
        dropped=tuple(step.routing.dropped_share for step in steps),
        biases=tuple(step.biases for step in steps),
        capacity=steps[-1].routing.capacity,
        loss=steps[-1].loss,
        given_up=1 - after / before if before else 0.0,
    )


def _deviation(values: Sequence[float]) -> float:
    """Return the population standard deviation."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
