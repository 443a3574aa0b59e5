"""Training of a router step by step, unbalanced or balanced by a loss or by biases.

A toy. Each expert has a preference that all tokens share, and each token draws its own logits
around it. The task holds the preferences where it wants them, the auxiliary loss pulls them
together by its exact gradient, and a bias changes only who is chosen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from operator import add

from engine.core.units import Count, Ratio
from engine.simulate.layer.router import Router, Routing, Row, balance_loss, normalize, route_tokens
from engine.simulate.numerics.rng import normals, uniforms


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
