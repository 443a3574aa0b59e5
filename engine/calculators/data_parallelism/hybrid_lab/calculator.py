"""Hierarchical sharding at real scale: the step by width of the shard group."""

from functools import partial

from engine.calculators.data_parallelism.hybrid_lab.challenge import challenge
from engine.calculators.data_parallelism.hybrid_lab.inputs import (
    NODE,
    TOKENS,
    Result,
)
from engine.calculators.data_parallelism.hybrid_lab.inputs import (
    PRESETS as PRESETS,
)
from engine.calculators.data_parallelism.hybrid_lab.inputs import (
    Inputs as Inputs,
)
from engine.calculators.data_parallelism.hybrid_lab.inputs import (
    solve as solve,
)
from engine.core.outputs import Teller, Views
from engine.core.text import say, words
from engine.core.units import BYTES, SECONDS, SHARE
from engine.core.views import Axis, Badge, Bar, Bars, Lines, Point, Series
from engine.form.sharded.lab import fit, simulated_step, step_segments, timeline
from engine.simulate.data_parallel.sharded_step import Sharded

TITLE = "Hierarchical sharding at real scale"
QUESTION = "How wide should the states of this job be sharded?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "step_time": simulated_step(tell, result.ran.evidence),
        **tell.values("exposed", "peak", "kept"),
        "regime": _regime(tell, inputs, result),
        "fits": fit(tell, result.ran),
        "widths": partial(_widths, inputs, result),
        "timeline": partial(
            timeline,
            "A step on its streams",
            result.ran,
            "Gathers and reductions inside a node and the sums between nodes use different "
            "wires. Hatched: communication that nothing hides.",
        ),
        "curve": partial(_curve, tell, inputs, result),
        "challenge": partial(challenge, inputs, result),
    }


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if result.exposed > 0.1 * result.step_time:
        return Badge(
            text="The step waits for the network",
            sentence=tell.say("{exposed} of {step_time} is exposed."),
            color="communication",
        )
    return Badge(
        text="Hidden",
        sentence=tell.say("{exposed} of {step_time} is exposed, with {kept} of states."),
        color="compute",
    )


def _widths(inputs: Inputs, result: Result) -> Bars:
    steps = list(zip(result.widths, result.by_width(), strict=True))
    if inputs.second and result.width > NODE:
        steps.append((0, result.ran))
    high = max(one.seen.length for _, one in steps) * 1.05
    return Bars(
        title="The step by width of the shard group",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(_bar(width, one, inputs) for width, one in steps),
        caption="Beside the width: states and buffers at most. Activations come on top.",
    )


def _bar(width: int, one: Sharded, inputs: Inputs) -> Bar:
    held = words(say("{m}", m=(one.peak, BYTES)))
    name = f"{width} GPUs" if width else "with a second copy"
    if width == int(inputs.ranks):
        name = f"all {width}"
    return Bar(
        key=f"width{width}",
        label=f"{name}, {held}" if one.fits else f"{name}, {held}: does not fit",
        segments=step_segments(one),
    )


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    told = ("one copy over all", "communication"), ("a copy in each node", "data")
    xs = tuple(float(count) for count in TOKENS)
    return Lines(
        title="Share of the step that computes, by tokens of a micro-batch",
        x=tell.axis("tokens", "tokens of a micro-batch", low=512, high=131_072, scale="log"),
        y=Axis(label="computing", quantity=SHARE, low=0.0, high=1.05),
        series=tuple(
            Series(
                key=f"width{width}",
                label=label,
                x=xs,
                y=shares,
                color=color,
                dashed=width != result.width,
            )
            for (label, color), (width, shares) in zip(told, result.by_tokens(), strict=True)
        ),
        points=(
            Point(
                key="now",
                label=tell.say("{computing}"),
                x=float(inputs.tokens),
                y=result.computing,
            ),
        ),
        handle="tokens",
        caption="The rest of the step is exposed communication.",
    )
