"""Token flow: 64 tokens choose experts, fill their places and overflow them."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.core.inputs import Choice, Number
from engine.core.outputs import Teller, Told, Views
from engine.core.units import COUNT, Count, Ratio, Share, Tokens
from engine.core.views import Table
from engine.draw.token_flow import flow_scene
from engine.formulas.experts import EXPERT_CAPACITY
from engine.simulate.layer.routed_batch import lost_tokens, routed
from engine.simulate.layer.router import Gate, Keep, Router, Routing, Row

TITLE = "Tokens flowing to their experts"
QUESTION = "Where do 64 tokens go, and which of them find their expert full?"
EQUATIONS = (EXPERT_CAPACITY,)
NUM_TOKENS, MOST = 64, 8
PRESETS = {
    "No favorites": {"favor_1": 0.0, "favor_3": 0.0},
    "Two experts per token, capacity factor 1.25": {
        "experts_per_token": 2,
        "capacity_factor": 1.25,
    },
    "Two favorites": {"favor_1": 2.0, "favor_6": 2.0},
}
_FAVOR = partial(Number, low=-3.0, high=3.0, step=0.25, advanced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    num_experts: Annotated[
        int, Number(label="Experts", low=2, high=MOST, whole=True, symbol="E")
    ] = MOST
    experts_per_token: Annotated[
        int,
        Number(
            label="Experts per token",
            low=1,
            high=MOST,
            whole=True,
            symbol="k",
            help="No more than there are experts.",
        ),
    ] = 1
    capacity_factor: Annotated[
        float, Number(label="Capacity factor", low=0.5, high=4.0, step=0.25, symbol="f")
    ] = 1.0
    gate: Annotated[
        str,
        Choice(
            label="Scores",
            options={"softmax": "softmax (Switch)", "sigmoid": "sigmoid (DeepSeek-V3)"},
        ),
    ] = "softmax"
    keep: Annotated[
        str,
        Choice(
            label="Kept in a full expert",
            options={"first": "the first of the batch", "likeliest": "the highest scores"},
        ),
    ] = "first"
    token: Annotated[int, Number(label="Token followed", low=1, high=NUM_TOKENS, whole=True)] = 7
    seed: Annotated[int, Number(label="Batch", low=1, high=100, whole=True)] = 1
    favor_1: Annotated[float, _FAVOR(label="Preference for expert 1")] = 0.5
    favor_2: Annotated[float, _FAVOR(label="Preference for expert 2")] = 0.0
    favor_3: Annotated[float, _FAVOR(label="Preference for expert 3")] = 1.0
    favor_4: Annotated[float, _FAVOR(label="Preference for expert 4")] = 0.0
    favor_5: Annotated[float, _FAVOR(label="Preference for expert 5")] = 0.0
    favor_6: Annotated[float, _FAVOR(label="Preference for expert 6")] = 0.0
    favor_7: Annotated[float, _FAVOR(label="Preference for expert 7")] = 0.0
    favor_8: Annotated[float, _FAVOR(label="Preference for expert 8")] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The batch, routed, and its counts."""

    preferences: Row
    rows: tuple[Row, ...]
    routing: Routing
    num_tokens: Annotated[Count, Told(symbol="T")] = NUM_TOKENS
    capacity: Annotated[
        Count,
        Told(
            "Places of an expert",
            "C",
            "an even share would be {even}",
            "expert",
            assumes=("Rounded up.",),
        ),
    ]
    even: Tokens
    busiest: Annotated[
        Count,
        Told(
            "Asked of the busiest expert",
            note="{imbalance} the mean",
            color="activations",
            basis="simulated",
            assumes=("Logits: the preference of the expert plus normal noise of each token.",),
        ),
    ]
    imbalance: Ratio
    dropped_share: Annotated[
        Share,
        Told(
            "Dropped",
            note="{dropped} of {choices} choices",
            basis="simulated",
            assumes=("First choices are placed before second ones, as in GShard and Switch.",),
            sources=("fedus2022",),
        ),
    ]
    dropped: Count
    choices: Count
    lost: Annotated[
        Count,
        Told(
            "Tokens without any expert",
            note="the residual stream alone carries them on",
            basis="simulated",
            assumes=("All of the token's choices were dropped.",),
        ),
    ]
    empty: Annotated[
        Share,
        Told(
            "Places left empty",
            note="padding, if every expert computes all its places",
            basis="simulated",
            assumes=("Dropless kernels compute no padding.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the batch and its counts."""
    preferences = tuple(float(getattr(inputs, f"favor_{i + 1}")) for i in range(inputs.num_experts))
    router = Router(
        num_experts=inputs.num_experts,
        experts_per_token=min(inputs.experts_per_token, inputs.num_experts),
        capacity_factor=inputs.capacity_factor,
        gate=cast(Gate, inputs.gate),
        keep=cast(Keep, inputs.keep),
        seed=inputs.seed,
    )
    rows, routing = routed(router, preferences, NUM_TOKENS)
    choices = sum(routing.asked)
    places = routing.capacity * inputs.num_experts
    return Result(
        preferences=preferences,
        rows=rows,
        routing=routing,
        capacity=routing.capacity,
        even=choices / inputs.num_experts,
        busiest=max(routing.asked),
        imbalance=routing.imbalance,
        dropped_share=routing.dropped_share,
        dropped=routing.dropped,
        choices=choices,
        lost=lost_tokens(routing),
        empty=1 - sum(routing.taken) / places,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, its counts, and one token's way."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(flow_scene, result.routing, result.preferences),
        **tell.values("dropped_share", "busiest"),
        "capacity": tell.value("capacity", symbols={"k": (len(result.routing.chosen[0]), COUNT)}),
        **tell.values("empty", "lost"),
        "follow": partial(_follow, inputs, result),
    }


def _follow(inputs: Inputs, result: Result) -> Table:
    """Return one token's logits, scores, choices and weights."""
    at, routing = inputs.token - 1, result.routing
    chosen = routing.chosen[at]
    rows = []
    for expert, (logit, score) in enumerate(zip(result.rows[at], routing.scores[at], strict=True)):
        picked = expert in chosen
        slot = chosen.index(expert) if picked else 0
        rows.append(
            (
                f"E{expert + 1}",
                f"{logit:.3f}".replace("-", "−"),
                f"{score:.4f}",
                f"choice {slot + 1}" if picked else "-",
                f"{routing.weights[at][slot]:.4f}" if picked else "-",
                ("kept" if routing.kept[at][slot] else "dropped") if picked else "-",
            )
        )
    return Table(
        title=f"Token {inputs.token} and its experts",
        columns=("Expert", "Logit", "Score", "Chosen", "Weight", "Place"),
        rows=tuple(rows),
        caption="Several chosen experts share a weight of 1; a single one keeps its score.",
        links=tuple((f"expert:{expert}",) for expert in range(len(rows))),
    )
