"""Accumulation on the tiny model: micro-batches against one batch, every number computed."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE, Count, Ratio, Share, with_digits
from engine.core.views import Axis, Badge, Bar, Bars, Frame, Scene, Segment, Shape, Table
from engine.draw.shapes import rect, text
from engine.tiny.accumulation import AccumulatedStep, accumulate

_WIDTH, _LEFT, _LINE, _LETTER = 640.0, 216.0, 36.0, 19.0
_TOP = 32.0
# Which numbers of the gradient are shown: one of the embedding, one of each layer, one of the end.
SHOWN_PARAMETERS = (9, 70, 140, 250)


def accumulation_scene(accumulated: AccumulatedStep) -> Scene:
    """Return the animation of an accumulated step and Adam, beside a single batch."""
    count = len(accumulated.parts)
    frames = [_frame(accumulated, done) for done in range(count + 2)]
    return Scene(
        title="A step in micro-batches",
        width=_WIDTH,
        height=_TOP + (count + 2) * _LINE + 46,
        frames=tuple(frames),
        opening=1,
        caption="Four of the 260 numbers of the gradient, times a thousand. Each micro-batch adds "
        "its part to the same buffer; the last row is the gradient of all sequences at once.",
    )


def _frame(accumulated: AccumulatedStep, done: int) -> Frame:
    count = len(accumulated.parts)
    compared = done > count
    sums = accumulated.parts[min(done, count) - 1].total if done else [0.0] * len(accumulated.whole)
    shapes = [
        text(f"head{at}", _column_center(at), 20, 18.8, f"no. {parameter + 1}", kind="c-muted")
        for at, parameter in enumerate(SHOWN_PARAMETERS)
    ]
    for at, part in enumerate(accumulated.parts):
        name = f"micro-batch {at + 1}: {part.tokens} tok."
        look = "new" if at == done - 1 else "held" if at < done else "none"
        shapes += _row(at, name, part.gradient, look, "gradients")
    look = "held" if done else "none"
    shapes += _row(count, "sum so far", sums, "new" if 0 < done <= count else look, "gradients")
    shapes += _row(count + 1, "one batch", accumulated.whole, "new" if compared else "held", "data")
    shapes += _memory(accumulated, done)
    return Frame(caption=_caption(accumulated, done), shapes=tuple(shapes))


def _column_center(column: int) -> float:
    width = (_WIDTH - _LEFT) / len(SHOWN_PARAMETERS)
    return _LEFT + (column + 0.5) * width


def _row(row: int, name: str, numbers: list[float], look: str, color: str) -> list[Shape]:
    y = _TOP + row * _LINE
    shapes = [text(f"name{row}", 0, y + 23, 18.8, name, "start", "c-ink")]
    width = (_WIDTH - _LEFT) / len(SHOWN_PARAMETERS)
    opacity = {"new": "0.45", "held": "0.16", "none": "0.02"}[look]
    for at, parameter in enumerate(SHOWN_PARAMETERS):
        corner = (_LEFT + at * width + 2, y + 2)
        kind = f"cell c-{color}" + (" done" if look == "new" else "")
        label = "" if look == "none" else _number(numbers[parameter])
        shapes.append(
            rect(f"c{row}.{at}", corner, (width - 4, _LINE - 4), kind, (("fill-opacity", opacity),))
        )
        shapes.append(text(f"t{row}.{at}", _column_center(at), y + 24, _LETTER, label))
    return shapes


def _number(value: float) -> str:
    return typeset(f"{1000 * value:.3f}") if abs(value) >= 5e-7 else "0"


def _memory(accumulated: AccumulatedStep, done: int) -> list[Shape]:
    """Return the bar of live activations, beside those of a single batch."""
    y = _TOP + (len(accumulated.parts) + 2) * _LINE + 14
    now = accumulated.parts[done - 1].activations if 0 < done <= len(accumulated.parts) else 0
    most = max(part.activations for part in accumulated.parts)
    full = _WIDTH - _LEFT - 4
    words = (
        f"activations: {now} of {accumulated.activations}" if now else f"activations: up to {most}"
    )
    scale = (now or most) / accumulated.activations
    return [
        text("kept", 0, y + 12, 18.8, words, "start", "c-ink"),
        rect("all", (_LEFT + 2, y), (full, 14), "port", ()),
        rect("now", (_LEFT + 2, y), (full * scale, 14), "sent c-activations", ()),
    ]


def _caption(accumulated: AccumulatedStep, done: int) -> Text:
    count = len(accumulated.parts)
    if not done:
        return "The buffer of the gradient is zero."
    if done <= count:
        part = accumulated.parts[done - 1]
        loss = typeset(format_significant(part.loss, 4))
        return (
            f"Micro-batch {done} predicts {part.tokens} tokens with a mean loss of {loss}. Its "
            f"gradient is added, and its {part.activations} activations are freed."
        )
    if accumulated.off < 1e-12:
        return "The sum is the gradient of one big batch. Adam runs once."
    share = typeset(format_significant(100 * accumulated.off, 3))
    return f"The sum differs from the gradient of one big batch by {share} % of its length."


TITLE = "A step in micro-batches"
QUESTION = "Is a sum over micro-batches the gradient of one big batch?"
HEADLINE = "off"
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
    """The calculator's inputs."""

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
    """The accumulated step compared with the same step in a single batch.

    Attributes:
        step: all of it.
    """

    step: AccumulatedStep
    off: Annotated[
        Share,
        Output(
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
        Output("Loss that is reported", basis="simulated", assumes=(_RUN[0],)),
    ]
    whole_loss: Annotated[
        float,
        COUNT,
        Output("Loss of one batch", basis="simulated", assumes=(_RUN[0],)),
    ]
    kept: Annotated[
        Count,
        Output(
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
        Output(
            "Heaviest over lightest token",
            note="in the gradient of the step",
            color="gradients",
            basis="simulated",
            assumes=("A mean over a micro-batch gives each of its tokens 1/tokens of its weight.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the accumulated step compared with the same step in a single batch."""
    accumulated = accumulate(int(inputs.num_microbatches), inputs.lengths, inputs.weighting)
    weights = [part.weight for part in accumulated.parts]
    return Result(
        step=accumulated,
        off=accumulated.off if accumulated.off > _EXACT else 0.0,
        loss=accumulated.loss,
        whole_loss=accumulated.whole_loss,
        kept=max(part.activations for part in accumulated.parts),
        whole_kept=accumulated.activations,
        heaviest=max(weights) / min(weights),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "equal": _equality_badge(present, result),
        "scene": partial(accumulation_scene, result.step),
        **present.values("off", "loss", "whole_loss", "kept", "heaviest"),
        "weights": partial(_weight_bars, result),
        "table": partial(_table, result),
    }


def _equality_badge(present: Presenter, result: Result) -> Badge:
    if not result.off:
        return Badge(
            text="Equal",
            sentence="The accumulated gradient is that of one big batch, as close as rounding "
            "allows.",
            color="parameters",
        )
    words = "The accumulated gradient differs from that of one big batch by {off} of its length. "
    words += "The heaviest token counts {heaviest} as much as the lightest."
    return Badge(text="Not equal", sentence=present.say(words), color="communication")


def _weight_bars(result: Result) -> Bars:
    parts = result.step.parts
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
    whole = sum(part.tokens for part in result.step.parts)
    rounded_share = with_digits(SHARE, 3)
    return Table(
        title="The micro-batches of the step",
        columns=("Micro-batch", "Tokens", "Mean loss", "A token weighs", "Should weigh"),
        rows=tuple(
            (
                str(at + 1),
                say("{n}", n=(part.tokens, COUNT)),
                typeset(format_significant(part.loss, 4)),
                say("{w}", w=(part.weight, rounded_share)),
                say("{w}", w=(1 / whole, rounded_share)),
            )
            for at, part in enumerate(result.step.parts)
        ),
    )
