"""Tiny token: every multiplication for a token in a model with 260 parameters."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import TINY_260
from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Operations
from engine.form.token_parts import matrix_table
from engine.formulas.token_operations import token_operations
from engine.simulate.layer.token_cost import TokenCostPart, token_cost_parts

TITLE = "One token of 260 parameters"
QUESTION = "How many operations does one token of the smallest Llama cost, product by product?"
HEADLINE = "summed"
EQUATIONS = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    sequence_length: Annotated[
        int, Number(label="Sequence length", low=1, high=4096, scale="log2", whole=True, symbol="s")
    ] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The multiplications, their sum, and the estimate of six operations per parameter."""

    parts: tuple[TokenCostPart, ...]
    summed: Annotated[
        Operations,
        Output(
            "All products of a token",
            color="compute",
            assumes=("The rows of the table together: forward, and twice as much backward.",),
        ),
    ]
    six: Annotated[
        Operations,
        Output(
            "Six per parameter",
            color="muted",
            assumes=("All 260 parameters, those of the embedding and of the norms among them.",),
            sources=("kaplan2020",),
        ),
    ]
    forward: Annotated[Operations, Output("Forward", assumes=("A third of all: two of the six.",))]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    parts = token_cost_parts(TINY_260, inputs.sequence_length, 1.0)
    return Result(
        parts=parts,
        summed=sum(part.all for part in parts),
        six=token_operations(TINY_260, inputs.sequence_length, "six"),
        forward=sum(part.forward for part in parts),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("summed", "forward", "six"),
        "matrices": partial(matrix_table, present, result.parts),
    }
