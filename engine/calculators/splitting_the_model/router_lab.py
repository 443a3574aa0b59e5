"""A router in training: its loads step by step, balanced by a loss, by biases, or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.catalog.router_balance import BALANCED, SOURCE
from engine.core.inputs import Choice, Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import SlicedRun, Slices, partial_progress, run_to_end
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SHARE, Count, Ratio, Share, with_digits
from engine.core.views import (
    Axis,
    Badge,
    Challenge,
    Citation,
    Condition,
    Heatmap,
    Lines,
    Point,
    Series,
    Table,
)
from engine.draw.load_histogram import histogram_scene
from engine.simulate.layer.router import Balance, Gate, Router
from engine.simulate.layer.router_life import WINDOW, RouterHistory, running_router_history

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
    """The calculator's inputs."""

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
    """The router's training, its last steps, and the training of each balancing method."""

    life: RouterHistory
    lives: SlicedRun[Mapping[str, RouterHistory]]
    imbalance: Annotated[
        Ratio,
        Output(
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
        Output(
            "Dropped",
            note="mean of the last {window} steps",
            color="communication",
            basis="simulated",
            assumes=_TOY,
        ),
    ]
    given_up: Annotated[
        Share,
        Output(
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
        Output(
            "Auxiliary loss, unweighted",
            note="1 if all are asked alike",
            basis="simulated",
            assumes=_TOY,
            sources=("fedus2022",),
        ),
    ]


def router_of(inputs: Inputs, balance: str = "") -> Router:
    """Return the configured router, or the router with another balancing method.

    What its way to balance does not use is left out: one router, which is trained once.
    """
    chosen_balance = balance or inputs.balance
    return Router(
        num_experts=inputs.num_experts,
        experts_per_token=min(inputs.experts_per_token, inputs.num_experts),
        capacity_factor=inputs.capacity_factor,
        gate=cast(Gate, inputs.gate),
        balance=cast(Balance, chosen_balance),
        loss_weight=inputs.loss_weight if chosen_balance == "loss" else 0.0,
        bias_rate=inputs.bias_rate if chosen_balance == "bias" else 0.0,
        skew=inputs.skew,
        seed=inputs.seed,
    )


def _simulate_router(inputs: Inputs, balance: str = "") -> Slices[RouterHistory]:
    """Simulate the training of the configured router."""
    return running_router_history(
        router_of(inputs, balance), inputs.num_tokens, inputs.num_steps
    ).rest()


def solve(inputs: Inputs) -> Result:
    """Return the router's life."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Find the router's life."""
    life = yield from _simulate_router(inputs)
    return Result(
        life=life,
        lives=SlicedRun(_simulate_balances(inputs)),
        imbalance=life.imbalance(inputs.num_steps - 1),
        before=life.imbalance(WINDOW - 1),
        dropped=life.last_dropped,
        given_up=life.given_up,
        loss=life.loss,
    )


def _simulate_balances(inputs: Inputs) -> Slices[Mapping[str, RouterHistory]]:
    lives = {}
    for at, balance in enumerate(_WAYS):
        lives[balance] = yield from partial_progress(
            _simulate_router(inputs, balance), at, len(_WAYS)
        )
    return lives


_CHALLENGE_EVEN, _KEPT, _DROPPED = 1.15, 0.01, 0.02
START: Mapping[str, Scalar] = {"balance": "loss", "loss_weight": 0.001, "skew": 1.0}
SOLUTION: Mapping[str, Scalar] = {**START, "balance": "bias", "bias_rate": 0.02}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    same = (inputs.num_experts, inputs.experts_per_token, inputs.skew) == (8, 2, START["skew"])
    return Challenge(
        title="Challenge: balance without bending",
        goal="Make the loads even within the steps of the lab, without a large capacity factor and "
        "without moving the preferences that the task wants.",
        conditions=(
            Condition(
                text="eight experts, two per token, a spread of 1, capacity factor 1.25 at most",
                met=same and 0 < inputs.capacity_factor <= 1.25,
            ),
            Condition(
                text=say("the busiest expert at {e} the mean or less", e=(_CHALLENGE_EVEN, RATIO)),
                met=result.imbalance <= _CHALLENGE_EVEN,
            ),
            Condition(
                text=say("less than {d} of the choices dropped", d=(_DROPPED, with_digits(SHARE))),
                met=result.dropped < _DROPPED,
            ),
            Condition(
                text=say(
                    "less than {k} of the preferences given up", k=(_KEPT, with_digits(SHARE))
                ),
                met=result.given_up < _KEPT,
            ),
        ),
        hints=(
            "A loss balances by changing the preferences. What changes only the choice?",
            "A rate that is too small does not get there; one that is too large overshoots.",
        ),
        start=START,
        solution=SOLUTION,
    )


_BALANCE_NAMES = {
    "none": ("nothing", "muted"),
    "loss": ("auxiliary loss", "gradients"),
    "bias": ("biases", "accent"),
}
_COLUMNS = 20


def load_columns(inputs: Inputs, result: Result) -> Heatmap:
    """Return expert loads relative to the mean, steps grouped in columns."""
    asked = result.life.asked
    each = max(1, len(asked) // _COLUMNS)
    parts = [asked[at : at + each] for at in range(0, len(asked), each)]
    columns = []
    for steps in parts:
        counts = [sum(loads) for loads in zip(*steps, strict=True)]
        columns.append([count * len(counts) / sum(counts) for count in counts])
    return Heatmap(
        title="Load of every expert over the steps",
        x_label="steps up to",
        y_label="expert",
        x=tuple(str(min(len(asked), (i + 1) * each)) for i in range(len(parts))),
        y=tuple(f"E{expert + 1}" for expert in range(inputs.num_experts)),
        values=tuple(zip(*columns, strict=True)),
        quantity=RATIO,
        caption="Choices over the mean of all experts: 1 is an even share.",
    )


def imbalance_curves(present: Presenter, inputs: Inputs, result: Result) -> Slices[Lines]:
    """Show the imbalance over the steps with no balance, with a loss and with biases."""
    steps = tuple(range(inputs.num_steps))
    lives = yield from result.lives.rest()
    curves = {key: tuple(life.imbalance(step) for step in steps) for key, life in lives.items()}
    most = max(max(curve) for curve in curves.values())
    numbers = tuple(float(step + 1) for step in steps)
    return Lines(
        title="The busiest expert, three ways",
        x=Axis(label="step", quantity=COUNT, low=1.0, high=float(inputs.num_steps)),
        y=Axis(label="over the mean", quantity=RATIO, low=1.0, high=1.05 * most),
        series=tuple(
            Series(
                key=key,
                label=_BALANCE_NAMES[key][0],
                x=numbers,
                y=curve,
                color=_BALANCE_NAMES[key][1],
            )
            for key, curve in curves.items()
        ),
        points=(
            Point(
                key="now",
                label=present.say("{imbalance}"),
                x=numbers[-1],
                y=curves[inputs.balance][-1],
            ),
        ),
        caption=say(
            "A mean over the ten steps before. At the end the loss has taken away {l} of the "
            "spread of the preferences, the biases {b}.",
            l=(lives["loss"].given_up, SHARE),
            b=(lives["bias"].given_up, SHARE),
        ),
    )


def published(present: Presenter, result: Result) -> Table:
    """Return published imbalances and perplexities, and this toy's imbalance."""
    rows = tuple(
        (
            f"{row.model}, {_BALANCE_NAMES[row.how][0]}",
            say("{v}", v=(1 + row.violation, RATIO)),
            f"{row.perplexity:.2f}",
            Citation((SOURCE,)),
        )
        for row in BALANCED
    )
    return Table(
        title="Measured: two models, each balanced both ways",
        columns=("Parameters, balanced by", "Busiest over mean", "Perplexity", "Source"),
        rows=(*rows, ("this toy, as set", present.say("{imbalance}"), "-", "-")),
        caption="Real models of 64 experts, 6 per token. The paper prints MaxVio, the busiest over "
        "the mean less 1. The toy has no text, so it has no perplexity.",
    )


TITLE = "A router in training"
QUESTION = "How do experts get even loads, and what does that cost?"
HEADLINE = "imbalance"
EQUATIONS = ()
PRESETS_CITE = False
PRESETS = {
    "Left alone": {"balance": "none"},
    "Biases": {"balance": "bias"},
    "Biases that overshoot": {"balance": "bias", "bias_rate": 0.1},
    "A loss ten times as heavy": {"loss_weight": 0.1},
    "Dropless, 16 experts": {"capacity_factor": 0.0, "num_experts": 16},
}
_EVEN, _UNEVEN = 1.15, 1.4
_MANY = 0.05  # of the choices: loads that are even only over several steps


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("imbalance", "dropped", "given_up", "loss"),
        "verdict": _verdict(present, result),
        "histogram": partial(histogram_scene, result.life),
        "loads": partial(load_columns, inputs, result),
        "ways": partial(imbalance_curves, present, inputs, result),
        "published": partial(published, present, result),
        "challenge": challenge(inputs, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    """Return how even the loads have become."""
    if result.imbalance >= _UNEVEN:
        return Badge(
            text="Uneven",
            sentence=present.say(
                "Spread over GPUs, all of them wait until the busiest has done {imbalance} its "
                "share."
            ),
            color="communication",
        )
    if result.imbalance > _EVEN:
        return Badge(
            text="On the way",
            sentence=present.say("The busiest expert still works {imbalance} the mean."),
            color="expert",
        )
    if result.dropped > _MANY:
        return Badge(
            text="Even on average",
            sentence=present.say(
                "Over ten steps the loads are even, within a step they are not: {dropped} of the "
                "choices are dropped."
            ),
            color="expert",
        )
    return Badge(
        text="Even",
        sentence=present.say("For this, {given_up} of the preferences' spread was given up."),
        color="compute",
    )
