"""Bubble conventions: one idle time, two percentages, and a formula that is wrong for both."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.equation import Equation
from engine.basis.inputs import Number
from engine.basis.text import Text, say
from engine.basis.units import COUNT, RATIO, SHARE
from engine.basis.views import (
    Axis,
    Formula,
    Lines,
    Point,
    Receipt,
    Series,
    Table,
    Value,
    View,
)
from engine.formulas import pipeline
from engine.simulate.pipeline import Times, simulate

TITLE = "One bubble, two percentages"
QUESTION = "Is the bubble of a pipeline 27 or 37 percent?"
EQUATIONS = (
    pipeline.BUBBLE_SHARE,
    pipeline.BUBBLE_OVER_IDEAL,
    pipeline.BUBBLE_CONVERSION,
)
PRESETS = {
    "4 stages, 4 micro-batches": {"num_microbatches": 4},
    "4 stages, 32 micro-batches": {"num_microbatches": 32},
    "16 stages, 16 micro-batches": {"pipeline_parallel": 16, "num_microbatches": 16},
}
_LONGEST, _BUDGET = 1024, 3000
_EQUAL = Times(forward=1.0, backward_input=1.0, backward_weight=1.0, pair=3.0)
_WHOLE = 3.0  # what those times add up to
_LINKS = {"p": "pipeline_parallel", "m": "num_microbatches", "v": "num_chunks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    pipeline_parallel: Annotated[
        int, Number(label="Stages", low=2, high=64, scale="log", whole=True, symbol="p")
    ] = 4
    num_microbatches: Annotated[
        int,
        Number(label="Micro-batches", low=1, high=_LONGEST, scale="log", whole=True, symbol="m"),
    ] = 8
    num_chunks: Annotated[
        int, Number(label="Chunks per rank", low=1, high=8, whole=True, symbol="v")
    ] = 1


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    numbers = (inputs.pipeline_parallel, inputs.num_microbatches, inputs.num_chunks)
    share, over = pipeline.bubble_share(*numbers), pipeline.bubble_over_ideal(*numbers)
    shown = {
        "q": (share, SHARE),
        "o": (over, SHARE),
        "p": (inputs.pipeline_parallel, COUNT),
        "m": (inputs.num_microbatches, COUNT),
        "v": (inputs.num_chunks, COUNT),
    }

    def receipt(equation: Equation) -> Receipt:
        return Receipt(
            equation=equation,
            symbols={key: shown[key] for key in equation.symbols},
            inputs={key: name for key, name in _LINKS.items() if key in equation.symbols},
            assumptions=("Stages alike, messages free. The played schedules give the same.",),
        )

    return {
        "share": Value(
            label="Of the step",
            value=share,
            quantity=SHARE,
            receipt=receipt(pipeline.BUBBLE_SHARE),
            note="idle time over the time of the step",
        ),
        "over_ideal": Value(
            label="Over the ideal",
            value=over,
            quantity=SHARE,
            receipt=receipt(pipeline.BUBBLE_OVER_IDEAL),
            note="idle time over the time that is computed",
        ),
        "utilization": Value(
            label="Stages at work",
            value=1 - share,
            quantity=SHARE,
            receipt=Receipt(assumptions=("What the bubble leaves of the step.",)),
        ),
        "published_bubble": Value(
            label="A published formula",
            value=printed_bubble(inputs.num_microbatches),
            quantity=SHARE,
            receipt=Receipt(
                assumptions=("(N − 1)/N for N micro-batches, as printed; wrong.",),
                sources=("pingdo_pipeline",),
            ),
            note="stages do not occur in it",
        ),
        "formula": Formula(
            title="From one to the other",
            equation=pipeline.BUBBLE_CONVERSION,
            symbols={key: shown[key] for key in ("q", "o")},
        ),
        "bubble": _bubble(inputs, share),
        "step": _step(inputs),
        "published": _published(inputs, share, over),
    }


def printed_bubble(num_microbatches: int) -> float:
    """Return what the published text calls the bubble: (N - 1)/N, without any stages."""
    return (num_microbatches - 1) / num_microbatches


def printed_step(num_microbatches: int) -> float:
    """Return its step in passes of one stage: (N - 1)/N of one, and one more."""
    return printed_bubble(num_microbatches) + 1


def _axis() -> Axis:
    return Axis(label="micro-batches", quantity=COUNT, low=1, high=_LONGEST, scale="log")


def _bubble(inputs: Inputs, share: float) -> Lines:
    p, v = inputs.pipeline_parallel, inputs.num_chunks
    column = sorted({round(2 ** (exponent / 3)) for exponent in range(31)})
    curves = (
        (
            "share",
            "of the step",
            "compute",
            False,
            [pipeline.bubble_share(p, m, v) for m in column],
        ),
        (
            "over",
            "over the ideal",
            "memory",
            False,
            [pipeline.bubble_over_ideal(p, m, v) for m in column],
        ),
        ("printed", "a published formula", "muted", True, [printed_bubble(m) for m in column]),
    )
    return Lines(
        title="The bubble over the micro-batches",
        x=_axis(),
        y=Axis(label="bubble", quantity=SHARE, low=0.0, high=1.0),
        series=tuple(
            Series(key=key, label=label, x=tuple(column), y=tuple(y), color=color, dashed=dashed)
            for key, label, color, dashed, y in curves
        ),
        points=(
            Point(
                key="now", label=say("{q}", q=(share, SHARE)), x=inputs.num_microbatches, y=share
            ),
        ),
        handle="num_microbatches",
        caption="Drag the handle: more micro-batches, smaller bubble. The dashed formula says the "
        "opposite.",
    )


def _step(inputs: Inputs) -> Lines:
    played = _played(inputs.pipeline_parallel)
    column = sorted({round(2 ** (exponent / 3)) for exponent in range(31)})
    right = [m + inputs.pipeline_parallel - 1 for m in column]
    now = float(inputs.num_microbatches + inputs.pipeline_parallel - 1)
    return Lines(
        title="The step over the micro-batches",
        x=_axis(),
        y=Axis(
            label="step, in passes of one stage", quantity=RATIO, low=1.0, high=2000.0, scale="log"
        ),
        series=(
            Series(
                key="right",
                label="(m + p − 1)",
                x=tuple(column),
                y=tuple(right),
                color="muted",
            ),
            Series(
                key="played",
                label="1F1B, played",
                x=tuple(m for m, _ in played),
                y=tuple(step for _, step in played),
                color="compute",
            ),
            Series(
                key="printed",
                label="a published formula",
                x=tuple(column),
                y=tuple(printed_step(m) for m in column),
                color="communication",
                dashed=True,
            ),
        ),
        points=(
            Point(key="now", label=say("{t}", t=(now, RATIO)), x=inputs.num_microbatches, y=now),
        ),
        handle="num_microbatches",
        caption="The published step does not grow with the micro-batches: it ends at two passes.",
    )


def _played(p: int) -> list[tuple[float, float]]:
    """Return (micro-batches, step) of 1F1B, played as long as it takes no time to speak of."""
    found: list[tuple[float, float]] = []
    left = _BUDGET
    for exponent in range(11):
        m = 2**exponent
        left -= 2 * p * m
        if found and left < 0:
            break
        found.append((float(m), simulate("one_f_one_b", p, m, 1, _EQUAL).period / _WHOLE))
    return found


def _published(inputs: Inputs, share: float, over: float) -> Table:
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    rows: tuple[tuple[Text, ...], ...] = (
        (
            "Bubble",
            say("{q}", q=(printed_bubble(m), SHARE)),
            say("{q} of the step, {o} over the ideal", q=(share, SHARE), o=(over, SHARE)),
            "stages are missing from it; right only by chance, where there are as many as "
            "micro-batches, and then over the ideal",
        ),
        (
            "Step, in passes of one stage",
            say("{t}", t=(printed_step(m), RATIO)),
            say("{t}", t=(float(m + p - 1), RATIO)),
            "more micro-batches are more work",
        ),
        (
            "Micro-batches that a stage holds",
            say("{m}", m=(m, COUNT)),
            say(
                "{a} on the first stage, {b} on the last",
                a=(pipeline.one_f_one_b_peak(0, p, m), COUNT),
                b=(pipeline.one_f_one_b_peak(p - 1, p, m), COUNT),
            ),
            "that is GPipe; 1F1B holds no more than there are stages",
        ),
    )
    return Table(
        title="Spot the error",
        columns=("What", "It gives", "1F1B", "Why"),
        rows=rows,
        caption="A published text's formulas with your numbers, beside the played schedule.",
    )
