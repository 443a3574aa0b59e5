"""A prompt through the tiny model on two GPUs, weights gathered and activations added."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, Count, Ratio
from engine.core.views import Axis, Badge, Bar, Bars, Segment, Table
from engine.tiny.two_ways import TwoWays, two_ways

TITLE = "Two ways through 192 weights, every number computed"
QUESTION = "Do gathered weights and added activations give the same result?"
HEADLINE = "ratio"
EQUATIONS = ()
PRESETS = {"One token": {"tokens": 1}, "Six tokens": {"tokens": 6}, "Sixteen": {"tokens": 16}}
_LEAST, _EQUAL = 1e-14, 1e-12
_ASSUMES = ("Two layers, hidden size four, two GPUs; one forward pass, every message counted.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tokens: Annotated[
        int, Number(label="Tokens of the prompt", low=1, high=16, whole=True, symbol="t")
    ] = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The pass and its counts."""

    both_ways: TwoWays
    weights: Annotated[
        Count,
        Output(
            "Numbers sent for weights",
            note="by each GPU, in both layers",
            color="parameters",
            basis="simulated",
            assumes=_ASSUMES,
            sources=("rajbhandari2020",),
        ),
    ]
    activations: Annotated[
        Count,
        Output(
            "Numbers sent for activations",
            note="by each GPU, in both layers",
            color="activations",
            basis="simulated",
            assumes=_ASSUMES,
            sources=("shoeybi2019",),
        ),
    ]
    ratio: Annotated[
        Ratio,
        Output(
            "Weights over activations",
            note="6× for one token, 1× for six",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the pass and its counts."""
    both_ways = two_ways(inputs.tokens)
    return Result(
        both_ways=both_ways,
        weights=both_ways.weights_sent,
        activations=both_ways.activations_sent,
        ratio=both_ways.weights_sent / both_ways.activations_sent,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the counts and the results side by side."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "sent": partial(_sent, result),
        **present.values("weights", "activations", "ratio"),
        "equal": _equal(result.both_ways.off),
        "rows": partial(_rows, result.both_ways),
    }


def _sent(result: Result) -> Bars:
    parts = (
        ("weights", "ZeRO-3: weights gathered", result.weights, "parameters"),
        ("activations", "TP: activations added up", result.activations, "activations"),
    )
    return Bars(
        title="Numbers that each GPU sends",
        axis=Axis(
            label="numbers sent, both layers",
            quantity=COUNT,
            low=0.0,
            high=1.1 * max(result.weights, result.activations),
        ),
        bars=tuple(
            Bar(
                key=key,
                label=name,
                segments=(Segment(key="sent", label="sent", value=count, color=color),),
            )
            for key, name, count, color in parts
        ),
    )


def _equal(off: float) -> Badge:
    bound = "less than" if off < _LEAST else "up to"
    how = f"by {bound} {typeset(format_significant(max(off, _LEAST), 2))} of the largest"
    return Badge(
        text="Equal to one GPU" if off <= _EQUAL else "Not equal",
        sentence=f"The results of both ways differ {how} from those of one GPU.",
        color="parameters" if off <= _EQUAL else "communication",
    )


def _rows(both_ways: TwoWays) -> Table:
    return Table(
        title="What the layers make of the last token",
        columns=("Entry", "ZeRO-3", "TP"),
        rows=tuple(
            (f"{index}", typeset(f"{here:.12f}"), typeset(f"{there:.12f}"))
            for index, (here, there) in enumerate(
                zip(both_ways.gathered, both_ways.added, strict=True)
            )
        ),
        caption="Twelve digits.",
    )
