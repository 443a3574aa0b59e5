"""The exposed tail: one gradient in N pieces behind a backward pass, and what is left over."""

from functools import partial

from engine.calculators.data_parallelism.chunk_tail.inputs import (
    COLUMN,
    MOST,
    PUBLISHED,
)
from engine.calculators.data_parallelism.chunk_tail.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.chunk_tail.inputs import Result as Result
from engine.calculators.data_parallelism.chunk_tail.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.views import Badge, Lines, Point, Published, Rule, Series
from engine.formulas.bucket_tail import (
    EXPOSED_TAIL,
    MOST_PIECES,
)

TITLE = "How many pieces?"
QUESTION = "How much of an all-reduce stays exposed if the gradient is cut in N pieces?"
EQUATIONS = (EXPOSED_TAIL, MOST_PIECES)
PRESETS = {
    "One piece": {"pieces": 1},
    "64 pieces": {"pieces": 64},
    "A short backward pass": {"backward": 4e-3},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=(EXPOSED_TAIL,))
    eta = Published(
        text=tell.say("a published page's overlap efficiency: {published_overlap}"),
        reason="It divides communication by the backward pass: the better all of it hides, the "
        "smaller it gets.",
        source="pingdo_pipeline",
        claim="E4.42",
    )
    return {
        "curve": partial(_curve, tell, inputs, result),
        "exposed": tell.value("exposed", symbols={"N": "pieces"}),
        "regime": _regime(tell, inputs, result),
        "hidden": tell.value("hidden", published=eta),
        "most": tell.value("most", equation=MOST_PIECES, symbols={"N": "most"}),
        **tell.values("half", "compared", "whole", "published_overlap"),
    }


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if inputs.pieces == 1:
        return Badge(
            text="Nothing hides",
            sentence="One piece is complete only when the backward pass ends.",
            color="communication",
        )
    if inputs.pieces > result.most:
        return Badge(
            text="The wire never rests",
            sentence=tell.say(
                "Transfers and {pieces} latencies outlast the backward pass: more pieces only add "
                "latency."
            )
            if result.most > 1
            else "The all-reduce alone outlasts the backward pass, in any number of pieces.",
            color="communication",
        )
    return Badge(
        text="Only the last piece is exposed",
        sentence="All others are summed before the backward pass ends.",
        color="compute",
    )


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    high, low = max(result.curve), min(result.curve)
    rules = [Rule(key="whole", label="nothing hidden", axis="y", at=result.whole, color="muted")]
    if 1 < result.most < MOST:
        rules.append(
            Rule(
                key="most",
                label="latencies fill the backward pass",
                axis="x",
                at=result.most,
                color="muted",
            )
        )
    points = [
        Point(
            key="now",
            label=tell.say("{exposed}"),
            x=float(inputs.pieces),
            y=result.exposed,
        )
    ]
    if inputs.pieces != PUBLISHED:
        points.insert(
            0,
            Point(
                key="published",
                label="16: published optimum",
                x=16.0,
                y=result.compared,
                color="ink",
            ),
        )
    return Lines(
        title="Exposed communication against the number of pieces",
        x=tell.axis("pieces", "pieces of the gradient", low=1.0, high=float(MOST), scale="log"),
        y=tell.axis("exposed", "exposed", low=low / 2, high=high * 2, scale="log"),
        series=(
            Series(
                key="exposed",
                label="exposed tail",
                x=tuple(map(float, COLUMN)),
                y=result.curve,
                color="communication",
            ),
        ),
        points=tuple(points),
        rules=tuple(rules),
        handle="pieces",
        caption="Both axes are logarithmic. Drag the handle.",
    )
