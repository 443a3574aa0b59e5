"""Expert capacity: dropped tokens and empty places of random routing over the factor."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, Count, Share
from engine.core.views import Line, Lines, Scale
from engine.formulas.experts import (
    EMPTY_SHARE,
    EXPERT_CAPACITY,
    dropped_share,
    empty_share,
    expert_capacity,
)

TITLE = "Capacity against drops and padding"
QUESTION = "How many tokens are dropped if they choose their experts by chance?"
HEADLINE = "dropped"
EQUATIONS = (EXPERT_CAPACITY, EMPTY_SHARE)
PRESETS = {
    "4,096 tokens": {"num_tokens": 4096},
    "Capacity factor 1.25": {"capacity_factor": 1.25},
    "256 experts, 8 per token, 4,096 tokens": {
        "num_tokens": 4096,
        "num_experts": 256,
        "experts_per_token": 8,
    },
}
_LOW, _HIGH = 0.5, 4.0
_FACTORS = tuple(_LOW + i / 40 for i in range(141))
_BY_CHANCE = ("Tokens choose independently and without preference; a real router drops more.",)
_BINOMIAL = (
    "The tokens that ask for one expert follow a binomial distribution; the mean of what exceeds "
    "its places, over the mean of all.",
    *_BY_CHANCE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    capacity_factor: Annotated[
        float, Number(label="Capacity factor", low=_LOW, high=_HIGH, step=0.05, symbol="f")
    ] = 1.0
    num_tokens: Annotated[
        int, Number(label="Tokens", low=16, high=65_536, scale="log2", whole=True, symbol="T")
    ] = 64
    num_experts: Annotated[
        int, Number(label="Experts", low=2, high=512, scale="log2", whole=True, symbol="E")
    ] = 8
    experts_per_token: Annotated[
        int,
        Number(
            label="Experts per token",
            low=1,
            high=16,
            whole=True,
            symbol="k",
            help="No more than there are experts.",
        ),
    ] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Places, drops and padding, and their curves over the factor."""

    dropped: Annotated[
        Share,
        Output(
            "Dropped",
            "d",
            "of all choices",
            assumes=_BINOMIAL,
            sources=("fedus2022",),
            color="communication",
        ),
    ]
    empty: Annotated[
        Share,
        Output("Places left empty", "e", "computed for nothing", assumes=_BY_CHANCE, color="muted"),
    ]
    capacity: Annotated[Count, Output("Places of an expert", "C", color="expert")]
    chance: Annotated[Share, Output(symbol="p")]
    each: Count
    dropped_curve: tuple[Share, ...]
    empty_curve: tuple[Share, ...]


def solve(inputs: Inputs) -> Result:
    """Return the places of experts, the dropped tokens and the padding."""
    each = min(inputs.experts_per_token, inputs.num_experts)
    dropped, empty = zip(
        *(_dropped_and_empty(inputs, each, factor) for factor in _FACTORS), strict=True
    )
    now = _dropped_and_empty(inputs, each, inputs.capacity_factor)
    return Result(
        dropped=now[0],
        empty=now[1],
        capacity=expert_capacity(
            inputs.num_tokens, inputs.num_experts, each, inputs.capacity_factor
        ),
        chance=each / inputs.num_experts,
        each=each,
        dropped_curve=dropped,
        empty_curve=empty,
    )


def _dropped_and_empty(inputs: Inputs, each: Count, factor: float) -> tuple[Share, Share]:
    """Return the shares of choices dropped and of places left empty at a capacity factor."""
    tokens, experts = inputs.num_tokens, inputs.num_experts
    capacity = expert_capacity(tokens, experts, each, factor)
    dropped = dropped_share(capacity, tokens, each / experts)
    return dropped, empty_share(dropped, capacity, tokens * each / experts)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the numbers and the curves."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("dropped"),
        **{
            name: present.value(name, symbols={"k": (result.each, COUNT)})
            for name in ("empty", "capacity")
        },
        "curve": partial(_curve, present, inputs, result),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Dropped and empty, over the capacity factor",
        over=Scale("capacity_factor", "capacity factor", _LOW, _HIGH),
        shows=Scale("dropped", "share", 0.0, 1.0),
        x=_FACTORS,
        lines=(
            Line("dropped", "choices dropped", result.dropped_curve, "communication"),
            Line("empty", "places empty", result.empty_curve, "muted", dashed=True),
        ),
        now="{dropped} dropped",
        caption=present.say(
            "{num_tokens} tokens choose by chance; an expert has {capacity} places."
        ),
    )
