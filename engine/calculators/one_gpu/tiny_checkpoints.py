"""Checkpoints on a tiny chain of layers: really trained, with every input counted."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Symbol, Teller, Told, Views
from engine.core.units import Count
from engine.core.views import Badge, Lines, Point, Series
from engine.draw.checkpoint_chain import chain_scene
from engine.formulas.recomputation import CHECKPOINTS_HELD, checkpoints_held
from engine.tiny.checkpoints import Checkpointed, train

TITLE = "Checkpoints on a chain of layers"
QUESTION = "How far apart should checkpoints be?"
EQUATIONS = (CHECKPOINTS_HELD,)
PRESETS = {
    "An input kept at every layer": {"every": 1},
    "16 layers in segments of 4": {"num_layers": 16, "every": 4},
}
_DEEPEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    num_layers: Annotated[
        int, Number(label="Layers", low=2, high=_DEEPEST, whole=True, symbol="L"), Symbol("L")
    ] = 9
    every: Annotated[
        int,
        Number(label="Layers per checkpoint", low=1, high=_DEEPEST, whole=True, symbol="c"),
        Symbol("c"),
    ] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run.

    Attributes:
        found: all of it.
    """

    found: Checkpointed
    most: Annotated[
        Count,
        Told(
            "Inputs held at most",
            note="{numbers} numbers",
            color="activations",
            basis="simulated",
            assumes=("Counted in the run, at its fullest moment.",),
            sources=("chen2016",),
        ),
    ]
    numbers: Count
    formula: Annotated[
        Count,
        Told(
            "By the formula",
            "H",
            color="activations",
            assumes=("All segments are equally long; a shorter last one can hold less.",),
        ),
    ]
    repeated: Annotated[
        Count,
        Told(
            "Layers that run forward again",
            note="of {num_layers}",
            color="compute",
            basis="simulated",
            assumes=(
                "Counted in the run. The last layer of a segment need not run again for the inputs "
                "of others; inside, every layer is computed again in the backward pass anyway.",
            ),
            sources=("chen2016",),
        ),
    ]
    curve: tuple[Count, ...]


def solve(inputs: Inputs) -> Result:
    """Return the run; a segment is no longer than the chain."""
    layers, every = inputs.num_layers, min(inputs.every, inputs.num_layers)
    found = train(layers, every)
    return Result(
        found=found,
        most=found.most,
        numbers=found.numbers,
        formula=checkpoints_held(layers, inputs.every),
        repeated=found.repeated,
        curve=tuple(checkpoints_held(layers, c) for c in range(1, _DEEPEST + 1)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {
        "scene": partial(chain_scene, inputs.num_layers, result.found.events),
        "equal": _equal(tell, result),
        **tell.values("most", "formula", "repeated"),
        "curve": partial(_curve, tell, inputs, result),
    }


def _equal(tell: Teller, result: Result) -> Badge:
    if result.found.off == 0:
        words = "All gradients agree with a run that keeps every input, to the last bit. {repeated}"
        return Badge(
            text="The same gradient",
            sentence=tell.say(words + " layers ran forward a second time."),
            color="parameters",
        )
    return Badge(text="Not the same", sentence="A gradient differs.", color="communication")


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    column = tuple(float(c) for c in range(1, _DEEPEST + 1))
    return Lines(
        title="Inputs held, by the distance of the checkpoints",
        x=tell.axis("every", "layers per checkpoint", low=1, high=_DEEPEST),
        y=tell.axis("most", "inputs held at most", low=0, high=1.1 * max(result.curve)),
        series=(
            Series(key="held", label="the formula", x=column, y=result.curve, color="activations"),
        ),
        points=(
            Point(key="now", label=tell.say("counted: {most}"), x=inputs.every, y=result.most),
        ),
        handle="every",
        caption="Few checkpoints leave long segments, which must be held while they run backward. "
        "Many checkpoints take the room themselves.",
    )
