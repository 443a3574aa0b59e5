"""Pipeline bubble conventions: the same idle time as two percentages."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, Count, Ratio, Share
from engine.core.views import Line, Lines, Scale, Table, Value
from engine.formulas import pipeline
from engine.simulate.pipeline.pipeline_measures import steps_in_passes

TITLE = "One bubble, two percentages"
QUESTION = "Is the bubble of a pipeline 27 or 37 percent?"
HEADLINE = "share"
EQUATIONS = (
    pipeline.BUBBLE_SHARE,
    pipeline.BUBBLE_OVER_IDEAL,
    pipeline.BUBBLE_CONVERSION,
    pipeline.FEW_SHARE,
    pipeline.FEW_OVER_IDEAL,
)
PRESETS = {
    "4 stages, 4 micro-batches": {"num_microbatches": 4},
    "4 stages, 32 micro-batches": {"num_microbatches": 32},
    "16 stages, 16 micro-batches": {"pipeline_parallel": 16, "num_microbatches": 16},
}
_LONGEST = 1024
_COLUMN = tuple(sorted({round(2 ** (exponent / 3)) for exponent in range(31)}))
_ALIKE = ("Stages alike, messages free. The played schedules give the same.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The bubble by either convention, by a published formula, and as simulated."""

    share: Annotated[
        Share, Output("Of the step", "q", "idle time over the time of the step", assumes=_ALIKE)
    ]
    over_ideal: Annotated[
        Share,
        Output("Over the ideal", "o", "idle time over the time that is computed", assumes=_ALIKE),
    ]
    utilization: Annotated[
        Share, Output("Stages at work", assumes=("What the bubble leaves of the step.",))
    ]
    published_bubble: Annotated[
        Share,
        Output(
            "A published formula",
            note="stages do not occur in it",
            assumes=("(N − 1)/N for N micro-batches, as printed; wrong.",),
            sources=("pingdo_pipeline",),
        ),
    ]
    step: Ratio
    published_step: Ratio
    first_held: Annotated[float, COUNT]
    last_held: Annotated[float, COUNT]
    share_column: tuple[Share, ...]
    over_column: tuple[Share, ...]
    published_column: tuple[Share, ...]
    step_column: tuple[Ratio, ...]
    published_step_column: tuple[Ratio, ...]
    played: tuple[tuple[Count, Ratio], ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    p, m, v = inputs.pipeline_parallel, inputs.num_microbatches, inputs.num_chunks
    share = pipeline.bubble_share(p, m, v)
    return Result(
        share=share,
        over_ideal=pipeline.bubble_over_ideal(p, m, v),
        utilization=1 - share,
        published_bubble=pipeline.printed_bubble(m),
        step=m / (1 - share),
        published_step=pipeline.printed_step(m),
        first_held=_peak_microbatches(0, inputs),
        last_held=_peak_microbatches(p - 1, inputs),
        share_column=tuple(pipeline.bubble_share(p, n, v) for n in _COLUMN),
        over_column=tuple(pipeline.bubble_over_ideal(p, n, v) for n in _COLUMN),
        published_column=tuple(map(pipeline.printed_bubble, _COLUMN)),
        step_column=tuple(n / (1 - pipeline.bubble_share(p, n, v)) for n in _COLUMN),
        published_step_column=tuple(map(pipeline.printed_step, _COLUMN)),
        played=steps_in_passes("one_f_one_b", p),
    )


def _peak_microbatches(rank: Count, inputs: Inputs) -> float:
    """Return a rank's peak number of micro-batches in activation memory."""
    p, m, v = inputs.pipeline_parallel, inputs.num_microbatches, inputs.num_chunks
    if v == 1:
        return pipeline.one_f_one_b_peak(rank, p, m)
    return min(m, pipeline.interleaved_peak(rank, p, v))


def _order(inputs: Inputs) -> str:
    return "1F1B" if inputs.num_chunks == 1 else "Interleaved 1F1B"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        **_bubbles(present, inputs),
        **present.values("utilization", "published_bubble"),
        "formula": present.formula("From one to the other", pipeline.BUBBLE_CONVERSION),
        "bubble": partial(_bubble, present, inputs, result),
        "step": partial(_step, present, inputs, result),
        "published": partial(_published, present, inputs),
    }


def _bubbles(present: Presenter, inputs: Inputs) -> dict[str, Value]:
    """Return the bubble by both conventions; with fewer micro-batches than stages chunks wait."""
    if inputs.num_chunks == 1 or inputs.num_microbatches >= inputs.pipeline_parallel:
        return present.values("share", "over_ideal")
    return {
        "share": present.value("share", equation=pipeline.FEW_SHARE),
        "over_ideal": present.value("over_ideal", equation=pipeline.FEW_OVER_IDEAL),
    }


def _bubble(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    published = result.published_column
    return present.curve(
        "The bubble over the micro-batches",
        over=Scale("num_microbatches", "micro-batches", 1, _LONGEST, log=True),
        shows=Scale("share", "bubble", 0.0, 1.0),
        x=_COLUMN,
        lines=(
            Line("share", "of the step", result.share_column, "compute"),
            Line("over", "over the ideal", result.over_column, "memory"),
            Line("printed", "a published formula", published, "muted", dashed=True),
        ),
        caption="Drag the handle: more micro-batches, smaller bubble. The dashed formula says the "
        "opposite.",
    )


def _step(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    right = "(m + p − 1)" if inputs.num_chunks == 1 else "with your chunks"
    published = result.published_step_column
    played = "1F1B, played" if inputs.num_chunks == 1 else "1F1B of one chunk, played"
    many, steps = zip(*result.played, strict=True)
    return present.curve(
        "The step over the micro-batches",
        over=Scale("num_microbatches", "micro-batches", 1, _LONGEST, log=True),
        shows=Scale("step", "step, in passes of one stage", 1.0, 2000.0, log=True),
        x=_COLUMN,
        lines=(
            Line("right", right, result.step_column, "muted"),
            Line("played", played, steps, "compute", x=many),
            Line("printed", "a published formula", published, "communication", dashed=True),
        ),
        caption="The published step does not grow with the micro-batches: it ends at two passes.",
    )


def _published(present: Presenter, inputs: Inputs) -> Table:
    return Table(
        title="Spot the error",
        columns=("What", "It gives", _order(inputs), "Why"),
        rows=(
            (
                "Bubble",
                present.say("{published_bubble}"),
                present.say("{share} of the step, {over_ideal} over the ideal"),
                "it leaves out the stages; over the ideal it is right by chance, if there are as "
                "many stages as micro-batches",
            ),
            (
                "Step, in passes of one stage",
                present.say("{published_step}"),
                present.say("{step}"),
                "more micro-batches are more work",
            ),
            (
                "Micro-batches that a stage holds",
                present.say("{num_microbatches}"),
                present.say("{first_held} on the first stage, {last_held} on the last"),
                "that is GPipe; 1F1B holds no more than there are stages",
            ),
        ),
        caption="A published text's formulas with these numbers, beside the played schedule.",
    )
