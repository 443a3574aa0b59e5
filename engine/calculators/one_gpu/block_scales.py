"""Block scales: a tensor with outliers squeezed into FP8 and FP4, by every recipe in use."""

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, SHARE, Share
from engine.core.views import Axis, Bar, Bars, Challenge, Condition, Lines, Segment, Series, Table
from engine.simulate.numerics.block_scaling import (
    RECIPES,
    QuantizedTensor,
    block_scales,
    quantize,
    sample_tensor,
)
from engine.simulate.numerics.number_format import FORMATS


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    recipe: Annotated[
        str, Choice(label="Recipe", options={key: recipe.name for key, recipe in RECIPES.items()})
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
    all: dict[str, QuantizedTensor]
    error: Annotated[
        Share,
        Output(
            "A value is off by",
            note="on average, of itself",
            color="buffers",
            basis="simulated",
            assumes=_RUN,
        ),
    ]
    lost: Annotated[
        Share,
        Output("Values that become zero", color="buffers", basis="simulated", assumes=_RUN),
    ]
    bits: Annotated[
        float,
        COUNT,
        Output(
            "Bits per value",
            note="its part of the scale included",
            color="parameters",
            assumes=("Bits of the element, and of its scale over the values that share it.",),
            sources=("ocp_mx", "nvfp4"),
        ),
    ]
    scales: tuple[float, ...]
    num_scales: Annotated[
        int, COUNT, Output("Scales", assumes=("One for each block of the 1,024 values.",))
    ]


@lru_cache(maxsize=32)
def _scale_by_recipe(typical: float, outlier: float, rounding: str) -> dict[str, QuantizedTensor]:
    values = sample_tensor(typical, outlier)
    by_chance = rounding == "stochastic"
    return {key: quantize(values, key, stochastic=by_chance) for key in RECIPES}


def solve(inputs: Inputs) -> Result:
    """Return the tensor under every recipe."""
    values = sample_tensor(inputs.typical, inputs.outlier)
    by_recipe = _scale_by_recipe(inputs.typical, inputs.outlier, inputs.rounding)
    mine, divisors = by_recipe[inputs.recipe], block_scales(values, inputs.recipe)
    return Result(
        values=values,
        all=by_recipe,
        error=mine.error,
        lost=mine.lost,
        bits=RECIPES[inputs.recipe].bits,
        scales=tuple(divisors),
        num_scales=len(divisors) if RECIPES[inputs.recipe].block >= 0 else 0,
    )


TITLE = "Scales for narrow formats"
QUESTION = "How do eight or four bits hold a tensor whose values differ a thousandfold?"
HEADLINE = "error"
PRESETS = {
    "Gradients: tiny values": {"typical": 1e-5, "outlier": 1.0},
    "Activations with strong outliers": {"outlier": 3000.0},
    "Stochastic rounding": {"rounding": "stochastic"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the histogram, the recipes, and the reader's."""
    present = Presenter(result, inputs)
    return {
        "histogram": partial(_histogram, result),
        **present.values("error", "lost", "bits", "num_scales"),
        "recipes": partial(_recipes, inputs, result),
        "table": partial(_recipe_table, result),
        "block": partial(_block_table, inputs, result),
        "challenge": _challenge(inputs, result),
    }


_LOW, _HIGH = -40, 24  # powers of two of the histogram


def _histogram(result: Result) -> Lines:
    """Return the number of values at each power of two, over the ranges of the formats."""
    counts = dict.fromkeys(range(_LOW, _HIGH + 1), 0)
    for value in result.values:
        if value:
            counts[min(max(math.frexp(value)[1] - 1, _LOW), _HIGH)] += 1
    xs, ys = [], []
    for power, count in counts.items():
        xs += [2.0**power, 2.0 ** (power + 1)]
        ys += [count / len(result.values)] * 2
    top = max(ys)
    low, high = 2.0**_LOW, 2.0**_HIGH
    ranges = []
    looks = {
        "e2m1": "parameters",
        "e4m3": "gradients",
        "e5m2": "optimizer",
        "fp16": "buffers",
        "bf16": "ink",
    }
    for at, (key, color) in enumerate(looks.items()):
        form, level = FORMATS[key], top * (1.12 + 0.13 * at)
        ends = (max(form.smallest, low), min(form.largest, high))
        ranges.append(Series(key=key, label=form.name, x=ends, y=(level, level), color=color))
    return Lines(
        title="A tensor's values, and what unscaled formats can hold",
        x=Axis(label="size of a value", quantity=COUNT, low=low, high=high, scale="log"),
        y=Axis(label="share of the values", quantity=SHARE, low=0.0, high=1.8 * top),
        series=(
            Series(key="values", label="values", x=tuple(xs), y=tuple(ys), color="activations"),
            *ranges,
        ),
        caption="A bar above spans the numbers of a format, from the smallest above zero to the "
        "largest. A scale moves a tensor sideways until it fits; it makes no bar longer.",
    )


def _recipes(inputs: Inputs, result: Result) -> Bars:
    errors = {key: outcome.error for key, outcome in result.all.items()}
    return Bars(
        title="What each recipe loses",
        axis=Axis(
            label="a value is off by, on average",
            quantity=SHARE,
            low=0.0,
            high=1.1 * max(errors.values()),
        ),
        bars=tuple(
            Bar(
                key=key,
                label=f"{RECIPES[key].name}: {RECIPES[key].bits:g} bits"
                + (" (yours)" if key == inputs.recipe else ""),
                segments=(Segment(key="error", label="error", value=error, color="buffers"),),
            )
            for key, error in errors.items()
        ),
        caption="A value that becomes zero is off by 100 %.",
    )


def _recipe_table(result: Result) -> Table:
    return Table(
        title="All recipes",
        columns=("Recipe", "Bits per value", "Off by", "Become zero"),
        rows=tuple(
            (
                recipe.name,
                f"{recipe.bits:g}",
                say("{e}", e=(result.all[key].error, SHARE)),
                say("{l}", l=(result.all[key].lost, SHARE)),
            )
            for key, recipe in RECIPES.items()
        ),
    )


def _block_table(inputs: Inputs, result: Result) -> Table:
    """Return some values around the outlier, before and after."""
    back = result.all[inputs.recipe].values
    width = RECIPES[inputs.recipe].block
    scales = result.scales
    rows = []
    for at in (34, 35, 36, 37, 38, 39):
        scale = scales[at // width] if width > 0 else scales[0]
        code = back[at] / scale if scale else 0.0
        rows.append(
            (
                str(at + 1) + (" (outlier)" if at == 37 else ""),
                say("{v}", v=(float(f"{result.values[at]:.4g}"), COUNT)),
                say("{s}", s=(float(f"{scale:.4g}"), COUNT)),
                say("{c}", c=(float(f"{code:.6g}"), COUNT)),
                say("{b}", b=(float(f"{back[at]:.4g}"), COUNT)),
            )
        )
    return Table(
        title=f"Six values under {RECIPES[inputs.recipe].name}",
        columns=("Value", "Before", "Scale", "Stored", "Stored × scale"),
        rows=tuple(rows),
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: dict[str, Scalar] = {"typical": 1e-5, "outlier": 3000.0, "recipe": "fp4"}
    return Challenge(
        title="Challenge: gradients with outliers in fewer than five bits",
        goal="Values near 0.00001, and a column that is 3,000 times as large. Find a recipe with "
        "fewer than five bits per value that still keeps four out of five values.",
        conditions=(
            Condition(
                text="typical values of 0.00001 and outliers 3,000 times as large",
                met=(inputs.typical, inputs.outlier) == (1e-5, 3000.0),
            ),
            Condition(text="fewer than five bits per value", met=result.bits < 5),
            Condition(text="at most 20 % of the values become zero", met=result.lost <= 0.2),
        ),
        hints=(
            "One scale for the tensor must fit its largest value. What does that do to the rest?",
            "The smaller the block, the fewer values share a scale with an outlier.",
            "A scale with a mantissa fits a block better than a power of two.",
        ),
        start=start,
        solution={**start, "recipe": "nvfp4"},
    )
