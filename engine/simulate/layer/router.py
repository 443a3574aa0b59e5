"""The router of a mixture of experts: from logits to experts, capacity, drops and balance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.core.units import Count, Ratio, Share
from engine.formulas.experts import expert_capacity

Balance = Literal["none", "loss", "bias"]
Gate = Literal["softmax", "sigmoid"]
Keep = Literal["first", "likeliest"]
Row = tuple[float, ...]
# Beyond it `exp` has no finite value.
_FAR = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """A router and how it is balanced.

    Attributes:
        num_experts: routed experts.
        experts_per_token: that each token chooses, all different.
        capacity_factor: room of an expert over its even share; 0: no limit, nothing is dropped.
        gate: how logits become scores, "softmax" (Switch) or "sigmoid" (DeepSeek-V3).
        keep: who is kept in a full expert, the first tokens of the batch or the likeliest.
        balance: "loss" (auxiliary, Switch), "bias" (without auxiliary loss) or "none".
        loss_weight: of the auxiliary loss; Switch takes 0.01.
        bias_rate: by which a bias changes per step; DeepSeek-V3 takes 0.001.
        skew: standard deviation of the preferences that the task wants.
        pull: how hard the task pulls preferences back there, in the units of `loss_weight`.
        learning_rate: of the preferences, in the toy's own units.
        seed: of preferences and tokens.
    """

    num_experts: Count = 8
    experts_per_token: Count = 1
    capacity_factor: Ratio = 1.0
    gate: Gate = "softmax"
    keep: Keep = "first"
    balance: Balance = "none"
    loss_weight: Ratio = 0.01
    bias_rate: Ratio = 0.001
    skew: Ratio = 0.0
    pull: Ratio = 0.001
    learning_rate: Ratio = 20.0
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """One batch, routed.

    Attributes:
        scores: [num_tokens][num_experts], before any bias.
        chosen: [num_tokens][experts_per_token] experts, the first choice first.
        weights: [num_tokens][experts_per_token] with which outputs are summed; bias left out.
        kept: [num_tokens][experts_per_token] whether the expert had room.
        asked: [num_experts] tokens that chose it.
        capacity: tokens that an expert takes.
    """

    scores: tuple[Row, ...]
    chosen: tuple[tuple[Count, ...], ...]
    weights: tuple[Row, ...]
    kept: tuple[tuple[bool, ...], ...]
    asked: tuple[Count, ...]
    capacity: Count

    @property
    def taken(self) -> tuple[Count, ...]:
        """Tokens that each expert works on, [num_experts]."""
        return tuple(min(count, self.capacity) for count in self.asked)

    @property
    def dropped(self) -> Count:
        """Choices that found their expert full."""
        return sum(self.asked) - sum(self.taken)

    @property
    def dropped_share(self) -> Share:
        """Of all choices."""
        return self.dropped / sum(self.asked)

    @property
    def imbalance(self) -> Ratio:
        """The most that an expert is asked, over the mean; what a rank of experts waits for."""
        return max(self.asked) * len(self.asked) / sum(self.asked)


def gated(logits: Row, gate: Gate) -> Row:
    """Return the scores of one token's logits."""
    most = max(logits)
    if gate == "sigmoid":
        if most > _FAR or min(logits) < -_FAR:
            logits = tuple(min(max(x, -_FAR), _FAR) for x in logits)
        return tuple([1 / (1 + math.exp(-x)) for x in logits])
    powers = [math.exp(x - most) for x in logits]
    total = sum(powers)
    return tuple([power / total for power in powers])


def route(router: Router, logits: Sequence[Row], biases: Row = ()) -> Routing:
    """Return where the tokens of `logits` [num_tokens][num_experts] go.

    A bias moves the choice and not the weight (Wang et al. 2024). The weights of several chosen
    experts are scaled to add up to 1; a single one keeps its score (Fedus et al. 2022).
    """
    experts, each = router.num_experts, router.experts_per_token
    added = biases or (0.0,) * experts
    scores = tuple(gated(row, router.gate) for row in logits)
    chosen = tuple(_top(row, added, each) for row in scores)
    picked = [tuple(row[i] for i in ids) for row, ids in zip(scores, chosen, strict=True)]
    asked = [0] * experts
    for ids in chosen:
        for i in ids:
            asked[i] += 1
    limit = sum(asked)
    if router.capacity_factor > 0:
        limit = expert_capacity(len(logits), experts, each, router.capacity_factor)
    return Routing(
        scores=scores,
        chosen=chosen,
        weights=tuple(row if each == 1 else shares(row) for row in picked),
        kept=_kept(chosen, picked, limit, router.keep),
        asked=tuple(asked),
        capacity=limit,
    )


def _top(scores: Row, biases: Row, number: Count) -> tuple[Count, ...]:
    worst = [-score - bias for score, bias in zip(scores, biases, strict=True)]
    # Of equal ones the first expert is chosen; the sort is stable.
    if number == 1:
        return (worst.index(min(worst)),)
    return tuple(sorted(range(len(worst)), key=worst.__getitem__)[:number])


def _kept(
    chosen: Sequence[tuple[Count, ...]], scores: Sequence[Row], capacity: Count, keep: Keep
) -> tuple[tuple[bool, ...], ...]:
    """Return who is kept: first choices go before second ones, as in GShard and Switch."""
    slots = [(slot, token) for slot in range(len(chosen[0])) for token in range(len(chosen))]
    if keep == "likeliest":
        slots.sort(key=lambda place: -scores[place[1]][place[0]])
    taken: dict[Count, Count] = {}
    inside = [[False] * len(ids) for ids in chosen]
    for slot, token in slots:
        expert = chosen[token][slot]
        before = taken.get(expert, 0)
        if before < capacity:
            taken[expert] = before + 1
            inside[token][slot] = True
    return tuple(map(tuple, inside))


def balance_loss(routing: Routing) -> Ratio:
    """Return E times the sum of f_i P_i: 1 where all experts are chosen equally often.

    f_i is the share of the choices that fall on expert i, P_i the mean of its share of the scores.
    Source: Fedus et al. 2022, equations 4 to 6, where the product with a weight is the loss; for
    several experts per token f_i counts choices, as in Megatron.
    """
    asked, tokens = routing.asked, len(routing.scores)
    total = sum(asked)
    mean = [0.0] * len(asked)
    for row in routing.scores:
        for i, share in enumerate(shares(row)):
            mean[i] += share / tokens
    return len(asked) * math.fsum(n / total * p for n, p in zip(asked, mean, strict=True))


def shares(row: Row) -> Row:
    """Return the row scaled to a sum of 1."""
    total = sum(row)
    return tuple([x / total for x in row])
