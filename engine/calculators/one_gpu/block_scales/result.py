"""Block scales: what the reader can change, and the tensor under every recipe."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.units import COUNT, Share
from engine.simulate.numerics.block_scaling import RECIPES, Scaled, scaled, scales, tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    recipe: Annotated[
        str, Choice(label="Recipe", options={key: one.name for key, one in RECIPES.items()})
    ] = "mxfp8"
    typical: Annotated[float, Number(label="Typical value", low=1e-8, high=1e3, scale="log")] = 1.0
    outlier: Annotated[
        float,
        Number(
            label="Outliers, times as large",
            low=1.0,
            high=1e4,
            scale="log",
            help="One column of 128.",
        ),
    ] = 100.0
    rounding: Annotated[
        str,
        Choice(label="Rounding", options={"nearest": "to the nearest", "stochastic": "by chance"}),
    ] = "nearest"


_RUN = ("1,024 seeded normal values in rows of 128; one column is larger.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The tensor under every recipe.

    Attributes:
        values: of the tensor.
        all: recipe -> what is left.
        scales: of the reader's recipe; 1 where it has none.
    """

    values: tuple[float, ...]
    all: dict[str, Scaled]
    error: Annotated[
        Share,
        Told(
            "A value is off by",
            note="on average, of itself",
            color="buffers",
            basis="simulated",
            assumes=_RUN,
        ),
    ]
    lost: Annotated[
        Share,
        Told("Values that become zero", color="buffers", basis="simulated", assumes=_RUN),
    ]
    bits: Annotated[
        float,
        COUNT,
        Told(
            "Bits per value",
            note="its part of the scale included",
            color="parameters",
            assumes=("Bits of the element, and of its scale over the values that share it.",),
            sources=("ocp_mx", "nvfp4"),
        ),
    ]
    scales: tuple[float, ...]
    num_scales: Annotated[
        int, COUNT, Told("Scales", assumes=("One for each block of the 1,024 values.",))
    ]


@lru_cache(maxsize=32)
def _all(typical: float, outlier: float, rounding: str) -> dict[str, Scaled]:
    values = tensor(typical, outlier)
    by_chance = rounding == "stochastic"
    return {key: scaled(values, key, stochastic=by_chance) for key in RECIPES}


def solve(inputs: Inputs) -> Result:
    """Return the tensor under every recipe."""
    values = tensor(inputs.typical, inputs.outlier)
    found = _all(inputs.typical, inputs.outlier, inputs.rounding)
    mine, divisors = found[inputs.recipe], scales(values, inputs.recipe)
    return Result(
        values=values,
        all=found,
        error=mine.error,
        lost=mine.lost,
        bits=RECIPES[inputs.recipe].bits,
        scales=tuple(divisors),
        num_scales=len(divisors) if RECIPES[inputs.recipe].block >= 0 else 0,
    )
