"""Accumulation on the tiny model: micro-batches against one batch, every number computed."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.numbers import significant, typeset
from engine.core.outputs import Teller, Told, Views
from engine.core.text import say
from engine.core.units import COUNT, SHARE, Count, Ratio, Share, as_given
from engine.core.views import Axis, Badge, Bar, Bars, Segment, Table
from engine.draw.accumulation import accumulation_scene
from engine.tiny.accumulation import Accumulated, accumulate

TITLE = "A step in micro-batches"
QUESTION = "Is a sum over micro-batches the gradient of one big batch?"
PRESETS = {
    "The trap: texts of different lengths, mean of means": {
        "lengths": "uneven",
        "weighting": "means",
    },
    "One sequence at a time": {"num_microbatches": "8"},
}
_EXACT = 1e-12
_RUN = (
    "Computed in double precision on the 260-parameter model, eight sequences in all.",
    "The length of the difference of the two gradients, over that of the right one.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    num_microbatches: Annotated[
        str, Choice(label="Micro-batches", options={"1": "1", "2": "2", "4": "4", "8": "8"})
    ] = "4"
    lengths: Annotated[
        str,
        Choice(
            label="Sequences",
            options={"even": "all equally long", "uneven": "of different lengths"},
        ),
    ] = "even"
    weighting: Annotated[
        str,
        Choice(
            label="Loss",
            options={
                "tokens": "sum over all tokens of the step",
                "means": "mean of each micro-batch, then their mean",
            },
        ),
    ] = "tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step, beside the step in one batch.

    Attributes:
        found: all of it.
    """

    found: Accumulated
    off: Annotated[
        Share,
        Told(
            "The gradient is off by",
            note="of the length of the right one",
            color="gradients",
            basis="simulated",
            assumes=_RUN,
        ),
    ]
    loss: Annotated[
        float,
        COUNT,
        Told("Loss that is reported", basis="simulated", assumes=(_RUN[0],)),
    ]
    whole_loss: Annotated[
        float,
        COUNT,
        Told("Loss of one batch", basis="simulated", assumes=(_RUN[0],)),
    ]
    kept: Annotated[
        Count,
        Told(
            "Activations at once",
            note="of {whole_kept} for one batch",
            color="activations",
            basis="simulated",
            assumes=("The numbers that go into every part of the model, in the largest one.",),
        ),
    ]
    whole_kept: Count
    heaviest: Annotated[
        Ratio,
        Told(
            "Heaviest over lightest token",
            note="in the gradient of the step",
            color="gradients",
            basis="simulated",
            assumes=("A mean over a micro-batch gives each of its tokens 1/tokens of its weight.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the step in micro-batches beside the step in one batch."""
    found = accumulate(int(inputs.num_microbatches), inputs.lengths, inputs.weighting)
    weights = [part.weight for part in found.parts]
    return Result(
        found=found,
        off=found.off if found.off > _EXACT else 0.0,
        loss=found.loss,
        whole_loss=found.whole_loss,
        kept=max(part.activations for part in found.parts),
        whole_kept=found.activations,
        heaviest=max(weights) / min(weights),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        "equal": _equal(tell, result),
        "scene": partial(accumulation_scene, result.found),
        **tell.values("off", "loss", "whole_loss", "kept", "heaviest"),
        "weights": partial(_weights, result),
        "table": partial(_table, result),
    }


def _equal(tell: Teller, result: Result) -> Badge:
    if not result.off:
        return Badge(
            text="Equal",
            sentence="The accumulated gradient is that of one big batch, as close as rounding "
            "allows.",
            color="parameters",
        )
    words = "The accumulated gradient differs from that of one big batch by {off} of its length. "
    words += "The heaviest token counts {heaviest} as much as the lightest."
    return Badge(text="Not equal", sentence=tell.say(words), color="communication")


def _weights(result: Result) -> Bars:
    parts = result.found.parts
    return Bars(
        title="What one token of each micro-batch weighs in the gradient",
        axis=Axis(
            label="weight of one token",
            quantity=SHARE,
            low=0.0,
            high=1.1 * max(part.weight for part in parts),
        ),
        bars=tuple(
            Bar(
                key=str(at),
                label=f"micro-batch {at + 1}, {part.tokens} tokens",
                segments=(
                    Segment(key="weight", label="weight", value=part.weight, color="gradients"),
                ),
            )
            for at, part in enumerate(parts)
        ),
        caption="If all tokens weigh the same, the step is that of one batch.",
    )


def _table(result: Result) -> Table:
    whole = sum(part.tokens for part in result.found.parts)
    given = as_given(SHARE, 3)
    return Table(
        title="The micro-batches of the step",
        columns=("Micro-batch", "Tokens", "Mean loss", "A token weighs", "Should weigh"),
        rows=tuple(
            (
                str(at + 1),
                say("{n}", n=(part.tokens, COUNT)),
                typeset(significant(part.loss, 4)),
                say("{w}", w=(part.weight, given)),
                say("{w}", w=(1 / whole, given)),
            )
            for at, part in enumerate(result.found.parts)
        ),
    )
