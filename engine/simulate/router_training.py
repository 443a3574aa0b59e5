"""A router in training: its load step by step, left alone or balanced by a loss or by biases.

A toy. Each expert has a preference that all tokens share, and each token draws its own logits
around it. The task holds the preferences where it wants them, the auxiliary loss pulls them
together by its exact gradient, and a bias changes only who is chosen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from engine.basis.units import Count, Ratio
from engine.simulate.chance import chances, normals
from engine.simulate.router import Router, Routing, Row, balance_loss, route, shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of training, as the router lives it.

    Attributes:
        number: from 0.
        routing: of its batch.
        loss: the auxiliary loss before its weight: 1 at perfect balance.
        preferences: [num_experts] with which the batch was routed.
        biases: [num_experts] likewise.
    """

    number: Count
    routing: Routing
    loss: Ratio
    preferences: Row
    biases: Row


def loss_gradient(routing: Routing) -> list[float]:
    """Return the derivative of `balance_loss` by each shared preference, counts held fixed."""
    asked, tokens = routing.asked, len(routing.scores)
    experts, total = len(asked), sum(asked)
    found = [0.0] * experts
    for row in routing.scores:
        parts = shares(row)
        mean = sum(n * p for n, p in zip(asked, parts, strict=True)) / total
        for i, share in enumerate(parts):
            found[i] += experts * share * (asked[i] / total - mean) / tokens
    return found


@dataclass(slots=True)
class _State:
    wanted: list[float]
    preferences: list[float] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)


def training(router: Router, num_tokens: Count, num_steps: Count) -> Iterator[Step]:
    """Yield the steps of a router: new tokens each, then preferences or biases move."""
    noise = normals(chances(router.seed))
    wanted = [router.skew * next(noise) for _ in range(router.num_experts)]
    state = _State(wanted, list(wanted), [0.0] * router.num_experts)
    for number in range(num_steps):
        rows = [
            tuple(want + x for want, x in zip(state.preferences, draw, strict=True))
            for draw in (tuple(islice(noise, router.num_experts)) for _ in range(num_tokens))
        ]
        routing = route(router, rows, tuple(state.biases))
        yield Step(
            number=number,
            routing=routing,
            loss=balance_loss(routing),
            preferences=tuple(state.preferences),
            biases=tuple(state.biases),
        )
        _learn(router, state, routing)


def _learn(router: Router, state: _State, routing: Routing) -> None:
    """Move biases (Wang et al. 2024, algorithm 1) or preferences (gradient descent)."""
    even = sum(routing.asked) / router.num_experts
    if router.balance == "bias":
        for i, count in enumerate(routing.asked):
            state.biases[i] += router.bias_rate * ((even > count) - (even < count))
    if router.balance == "loss":
        for i, slope in enumerate(loss_gradient(routing)):
            back = router.pull * (state.preferences[i] - state.wanted[i])
            state.preferences[i] -= router.learning_rate * (router.loss_weight * slope + back)
