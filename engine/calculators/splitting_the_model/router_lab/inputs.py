"""What a reader can change about a router in training, and what becomes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, cast

from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.slices import Running, Slices, part, whole
from engine.core.units import Count, Ratio, Share
from engine.simulate.layer.router import Balance, Gate, Router
from engine.simulate.layer.router_life import WINDOW, Life, living

_TOY = (
    "A toy: all tokens share one preference per expert, and each token adds normal noise of its "
    "own; nothing else is learned.",
)
_WAYS = {
    "none": "nothing",
    "loss": "an auxiliary loss (Switch)",
    "bias": "biases (DeepSeek-V3)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    balance: Annotated[
        str,
        Choice(label="Balanced by", options=_WAYS),
    ] = "loss"
    loss_weight: Annotated[
        float,
        Number(
            label="Weight of the loss",
            low=1e-4,
            high=0.1,
            scale="log",
            symbol="α",
            help="Counts where a loss balances. Switch takes 0.01.",
        ),
    ] = 0.01
    bias_rate: Annotated[
        float,
        Number(
            label="Rate of the biases",
            low=1e-4,
            high=0.1,
            scale="log",
            symbol="u",
            help="Counts where biases balance. DeepSeek-V3 takes 0.001 and has far more steps.",
        ),
    ] = 0.01
    skew: Annotated[
        float,
        Number(
            label="Spread of the preferences",
            low=0.0,
            high=2.0,
            step=0.05,
            help="Standard deviation, in logits, of what the task wants. 0: no favorites.",
        ),
    ] = 0.75
    capacity_factor: Annotated[
        float,
        Number(
            label="Capacity factor",
            low=0.0,
            high=4.0,
            step=0.25,
            symbol="f",
            help="0: no limit, nothing is dropped.",
        ),
    ] = 1.25
    num_experts: Annotated[int, Number(label="Experts", low=2, high=16, whole=True, symbol="E")] = 8
    experts_per_token: Annotated[
        int, Number(label="Experts per token", low=1, high=8, whole=True, symbol="k")
    ] = 2
    gate: Annotated[
        str,
        Choice(label="Scores", options={"softmax": "softmax", "sigmoid": "sigmoid"}, advanced=True),
    ] = "sigmoid"
    num_tokens: Annotated[
        int,
        Number(
            label="Tokens per step",
            low=32,
            high=96,
            step=32,
            whole=True,
            symbol="T",
            advanced=True,
        ),
    ] = 64
    num_steps: Annotated[
        int, Number(label="Steps", low=20, high=80, step=10, whole=True, advanced=True)
    ] = 60
    seed: Annotated[int, Number(label="Seed", low=1, high=100, whole=True, advanced=True)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The router's life, and what its last steps show; `lives` are those of each balance."""

    life: Life
    lives: Running[Mapping[str, Life]]
    imbalance: Annotated[
        Ratio,
        Told(
            "Busiest expert, over the mean",
            note="over the last {window} steps; {before} at first",
            color="expert",
            basis="simulated",
            assumes=(
                *_TOY,
                "Choices of the last steps added up. With its GPU to itself, this expert makes all "
                "others wait that much longer.",
            ),
            sources=("fedus2022", "wang2024"),
        ),
    ]
    before: Ratio
    window: Count = WINDOW
    dropped: Annotated[
        Share,
        Told(
            "Dropped",
            note="mean of the last {window} steps",
            color="communication",
            basis="simulated",
            assumes=_TOY,
        ),
    ]
    given_up: Annotated[
        Share,
        Told(
            "Preferences given up",
            note="how much of their spread balance has taken away",
            color="gradients",
            basis="simulated",
            assumes=(
                *_TOY,
                "Standard deviation of the preferences, last step against first. A bias changes "
                "who is chosen and leaves the preferences alone.",
            ),
            sources=("wang2024",),
        ),
    ]
    loss: Annotated[
        Ratio,
        Told(
            "Auxiliary loss, unweighted",
            note="1 if all are asked alike",
            basis="simulated",
            assumes=_TOY,
            sources=("fedus2022",),
        ),
    ]


def router_of(inputs: Inputs, balance: str = "") -> Router:
    """Return the router as the reader set it, or balanced otherwise.

    What its way to balance does not use is left out: one router, which is trained once.
    """
    way = balance or inputs.balance
    return Router(
        num_experts=inputs.num_experts,
        experts_per_token=min(inputs.experts_per_token, inputs.num_experts),
        capacity_factor=inputs.capacity_factor,
        gate=cast(Gate, inputs.gate),
        balance=cast(Balance, way),
        loss_weight=inputs.loss_weight if way == "loss" else 0.0,
        bias_rate=inputs.bias_rate if way == "bias" else 0.0,
        skew=inputs.skew,
        seed=inputs.seed,
    )


def _lived(inputs: Inputs, balance: str = "") -> Slices[Life]:
    """Find the life of that router."""
    return living(router_of(inputs, balance), inputs.num_tokens, inputs.num_steps).rest()


def solve(inputs: Inputs) -> Result:
    """Return the router's life."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Find the router's life."""
    found = yield from _lived(inputs)
    return Result(
        life=found,
        lives=Running(_lives(inputs)),
        imbalance=found.imbalance(inputs.num_steps - 1),
        before=found.imbalance(WINDOW - 1),
        dropped=found.last_dropped,
        given_up=found.given_up,
        loss=found.loss,
    )


def _lives(inputs: Inputs) -> Slices[Mapping[str, Life]]:
    found = {}
    for at, way in enumerate(_WAYS):
        found[way] = yield from part(_lived(inputs, way), at, len(_WAYS))
    return found
