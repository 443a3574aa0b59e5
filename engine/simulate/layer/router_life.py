"""History of a router in training: expert loads, drops and the cost of balance."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from operator import add

from engine.core.slices import SlicedRun, Slices, step_progress
from engine.core.units import Count, Ratio, Share
from engine.simulate.layer.router import Router, Routing, Row, balance_loss, normalize, route_tokens
from engine.simulate.numerics.rng import normals, uniforms

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


# Training of a router step by step, unbalanced or balanced by a loss or by biases.
#
# A toy. Each expert has a preference that all tokens share, and each token draws its own logits
# around it. The task holds the preferences where it wants them, the auxiliary loss pulls them
# together by its exact gradient, and a bias changes only who is chosen.


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterStep:
    """Routing state of one training step.

    Attributes:
        number: index of the step, from 0.
        routing: routing of its batch.
        preferences: [num_experts] preferences of the batch.
        biases: [num_experts] biases of the batch.
    """

    number: Count
    routing: Routing
    preferences: Row
    biases: Row

    @property
    def loss(self) -> Ratio:
        """The auxiliary loss before its weight: 1 at perfect balance."""
        return balance_loss(self.routing)


def loss_gradient(routing: Routing) -> list[float]:
    """Return the gradient of `balance_loss` by the shared preferences, counts held fixed."""
    asked, tokens = routing.asked, len(routing.scores)
    experts, total = len(asked), sum(asked)
    gradient = [0.0] * experts
    for row in routing.scores:
        parts = normalize(row)
        mean = sum(n * p for n, p in zip(asked, parts, strict=True)) / total
        for i, share in enumerate(parts):
            gradient[i] += experts * share * (asked[i] / total - mean) / tokens
    # What cancels but for the last bits of `exp`, which differ between libraries, is zero.
    return [round(slope, 12) for slope in gradient]


@dataclass(slots=True)
class _RouterState:
    wanted: list[float]
    preferences: list[float] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)


class _Noise:
    """Cached random numbers of preferences and tokens, extended step by step."""

    def __init__(self, seed: int, num_experts: Count, num_tokens: Count) -> None:
        self._noise = normals(uniforms(seed))
        self._shape = num_tokens, num_experts
        self._steps: list[tuple[Row, ...]] = []
        self.wanted = tuple(islice(self._noise, num_experts))

    def step(self, number: Count) -> tuple[Row, ...]:
        """Return the logits [num_tokens][num_experts] of a step around their means."""
        num_tokens, num_experts = self._shape
        while len(self._steps) <= number:
            rows = (tuple(islice(self._noise, num_experts)) for _ in range(num_tokens))
            self._steps.append(tuple(rows))
        return self._steps[number]


# The same for all ways to balance.
_noise = lru_cache(maxsize=4)(_Noise)


def train_router(router: Router, num_tokens: Count, num_steps: Count) -> Iterator[RouterStep]:
    """Yield the steps of a router: new tokens each, then preferences or biases move."""
    noise = _noise(router.seed, router.num_experts, num_tokens)
    wanted = [router.skew * x for x in noise.wanted]
    state = _RouterState(wanted, list(wanted), [0.0] * router.num_experts)
    for number in range(num_steps):
        rows = [tuple(map(add, state.preferences, draw)) for draw in noise.step(number)]
        routing = route_tokens(router, rows, tuple(state.biases))
        yield RouterStep(
            number=number,
            routing=routing,
            preferences=tuple(state.preferences),
            biases=tuple(state.biases),
        )
        _learn(router, state, routing)


def _learn(router: Router, state: _RouterState, routing: Routing) -> None:
    """Move biases (Wang et al. 2024, algorithm 1) or preferences (gradient descent)."""
    even = sum(routing.asked) / router.num_experts
    if router.balance == "bias":
        for i, count in enumerate(routing.asked):
            state.biases[i] += router.bias_rate * ((even > count) - (even < count))
    if router.balance == "loss":
        for i, slope in enumerate(loss_gradient(routing)):
            back = router.pull * (state.preferences[i] - state.wanted[i])
            state.preferences[i] -= router.learning_rate * (router.loss_weight * slope + back)
