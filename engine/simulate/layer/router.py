"""Router of a mixture of experts: expert choice, capacity, drops and balance."""

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
_EXP_LIMIT = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """Configuration of a router and of its load balancing.

    Attributes:
        num_experts: routed experts.
        experts_per_token: different experts that each token chooses.
        capacity_factor: room of an expert over its even share; 0: no limit, nothing is dropped.
        gate: function from logits to scores, "softmax" (Switch) or "sigmoid" (DeepSeek-V3).
        keep: tokens kept in a full expert, the first of the batch or the likeliest.
        balance: "loss" (auxiliary, Switch), "bias" (without auxiliary loss) or "none".
        loss_weight: weight of the auxiliary loss; Switch uses 0.01.
        bias_rate: change of a bias per step; DeepSeek-V3 uses 0.001.
        skew: standard deviation of the target preferences of the task.
        pull: weight of the pull back to these, in the units of `loss_weight`.
        learning_rate: learning rate of the preferences, in the toy's own units.
        seed: seed of preferences and tokens.
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
    """Routing of one batch.

    Attributes:
        scores: [num_tokens][num_experts], before any bias.
        chosen: [num_tokens][experts_per_token] chosen experts, the first choice first.
        weights: [num_tokens][experts_per_token] weights of the outputs, without bias.
        kept: [num_tokens][experts_per_token] whether the expert had room.
        asked: [num_experts] number of tokens that chose the expert.
        capacity: maximum number of tokens of an expert.
    """

    scores: tuple[Row, ...]
    chosen: tuple[tuple[Count, ...], ...]
    weights: tuple[Row, ...]
    kept: tuple[tuple[bool, ...], ...]
    asked: tuple[Count, ...]
    capacity: Count

    @property
    def taken(self) -> tuple[Count, ...]:
        """Number of tokens that each expert processes, [num_experts]."""
        return tuple(min(count, self.capacity) for count in self.asked)

    @property
    def dropped(self) -> Count:
        """Number of choices whose expert was full."""
        return sum(self.asked) - sum(self.taken)

    @property
    def dropped_share(self) -> Share:
        """Dropped share of all choices."""
        return self.dropped / sum(self.asked)

    @property
    def imbalance(self) -> Ratio:
        """Maximum requested load of an expert over the mean."""
        return max(self.asked) * len(self.asked) / sum(self.asked)


def gate_scores(logits: Row, gate: Gate) -> Row:
    """Return the scores of one token's logits."""
    most = max(logits)
    if gate == "sigmoid":
        if most > _EXP_LIMIT or min(logits) < -_EXP_LIMIT:
            logits = tuple(min(max(x, -_EXP_LIMIT), _EXP_LIMIT) for x in logits)
        return tuple([1 / (1 + math.exp(-x)) for x in logits])
    powers = [math.exp(x - most) for x in logits]
    total = sum(powers)
    return tuple([power / total for power in powers])


def route_tokens(router: Router, logits: Sequence[Row], biases: Row = ()) -> Routing:
    """Return the routing of tokens with `logits` [num_tokens][num_experts].

    A bias moves the choice and not the weight (Wang et al. 2024). The weights of several chosen
    experts are scaled to add up to 1; a single one keeps its score (Fedus et al. 2022).
    """
    experts, each = router.num_experts, router.experts_per_token
    bias_row = biases or (0.0,) * experts
    scores = tuple(gate_scores(row, router.gate) for row in logits)
    chosen = tuple(_top_experts(row, bias_row, each) for row in scores)
    picked = [tuple(row[i] for i in ids) for row, ids in zip(scores, chosen, strict=True)]
    choices_by_expert = [0] * experts
    for ids in chosen:
        for i in ids:
            choices_by_expert[i] += 1
    limit = sum(choices_by_expert)
    if router.capacity_factor > 0:
        limit = expert_capacity(len(logits), experts, each, router.capacity_factor)
    return Routing(
        scores=scores,
        chosen=chosen,
        weights=tuple(row if each == 1 else normalize(row) for row in picked),
        kept=_kept_choices(chosen, picked, limit, router.keep),
        asked=tuple(choices_by_expert),
        capacity=limit,
    )


def _top_experts(scores: Row, biases: Row, number: Count) -> tuple[Count, ...]:
    worst = [-score - bias for score, bias in zip(scores, biases, strict=True)]
    # Of equal ones the first expert is chosen; the sort is stable.
    if number == 1:
        return (worst.index(min(worst)),)
    return tuple(sorted(range(len(worst)), key=worst.__getitem__)[:number])


def _kept_choices(
    chosen: Sequence[tuple[Count, ...]], scores: Sequence[Row], capacity: Count, keep: Keep
) -> tuple[tuple[bool, ...], ...]:
    """Return which choices are kept: first choices precede second ones, as in GShard and Switch."""
    slots = [(slot, token) for slot in range(len(chosen[0])) for token in range(len(chosen))]
    if keep == "likeliest":
        slots.sort(key=lambda slot_token: -scores[slot_token[1]][slot_token[0]])
    load: dict[Count, Count] = {}
    inside = [[False] * len(ids) for ids in chosen]
    for slot, token in slots:
        expert = chosen[token][slot]
        used = load.get(expert, 0)
        if used < capacity:
            load[expert] = used + 1
            inside[token][slot] = True
    return tuple(map(tuple, inside))


def balance_loss(routing: Routing) -> Ratio:
    """Return the auxiliary loss, E times the sum of f_i P_i: 1 at equal expert loads.

    f_i is the share of the choices that fall on expert i, P_i the mean of its share of the scores.
    Source: Fedus et al. 2022, equations 4 to 6, where the product with a weight is the loss; for
    several experts per token f_i counts choices, as in Megatron.
    """
    choices_by_expert, tokens = routing.asked, len(routing.scores)
    total = sum(choices_by_expert)
    mean = [0.0] * len(choices_by_expert)
    for row in routing.scores:
        for i, share in enumerate(normalize(row)):
            mean[i] += share / tokens
    return len(choices_by_expert) * math.fsum(
        n / total * p for n, p in zip(choices_by_expert, mean, strict=True)
    )


def normalize(row: Row) -> Row:
    """Return the row scaled to a sum of 1."""
    total = sum(row)
    return tuple([x / total for x in row])
