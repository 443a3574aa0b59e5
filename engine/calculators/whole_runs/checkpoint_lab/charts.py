"""The checkpoint lab: goodput by interval, what a checkpoint holds, what was published."""

import math

from engine.basis.told import Teller
from engine.basis.units import BYTES, DAY, GB, SECONDS, SHARE, Parameters, Seconds, Share
from engine.basis.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Cite,
    Condition,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Table,
)
from engine.calculators.whole_runs.checkpoint_lab.inputs import Inputs
from engine.simulate.saved_run import Pace, Saved

_LEAST: Seconds = 30.0
INTERVALS = tuple(_LEAST * (DAY / _LEAST) ** (i / 40) for i in range(41))


def verdict(tell: Teller, inputs: Inputs, fits: bool, one: Saved, now: Pace) -> Badge:
    """Return what saving costs at the reader's interval."""
    if not fits:
        return Badge(
            text="Does not fit",
            sentence="The fullest GPU cannot hold this job. There is nothing to save.",
            color="bad",
        )
    if inputs.optimizer == "no":
        return Badge(
            text="Not enough to go on",
            sentence=tell.say(
                "A checkpoint of weights alone takes {whole}. Training that goes on from it has "
                "lost Adam's moments and the full-precision copy."
            ),
            color="bad",
        )
    if inputs.background and one.write > inputs.interval:
        return Badge(
            text="Storage too slow",
            sentence=tell.say(
                "A checkpoint is written after {write}, later than the next one is due. It waits."
            ),
            color="bad",
        )
    often = inputs.interval < now.daly
    words = "Steps wait {stall} for each. The best interval is {daly}, with a goodput of {best}."
    return Badge(
        text="More often than needed" if often else "Less often than best",
        sentence=tell.say(words),
        color="compute" if abs(now.best - now.goodput) < 0.01 else "communication",
    )


def curve(inputs: Inputs, now: Pace, points: tuple[tuple[Pace, Pace], ...]) -> Lines:
    """Return goodput by interval, for both ways of writing."""
    rows = (("waits", "steps wait for the write", 0), ("behind", "written in the background", 1))
    return Lines(
        title="Goodput by the work between two checkpoints",
        x=Axis(
            label="work between checkpoints", quantity=SECONDS, low=_LEAST, high=DAY, scale="log"
        ),
        y=Axis(label="goodput", quantity=SHARE, low=0.0, high=1.0),
        series=tuple(
            Series(
                key=key,
                label=label,
                x=INTERVALS,
                y=tuple(pair[at].goodput for pair in points),
                color="compute" if at else "memory",
                dashed=not at,
            )
            for key, label, at in rows
        ),
        points=(Point(key="you", label="you", x=inputs.interval, y=now.goodput),),
        rules=(Rule(key="daly", label="best", axis="x", at=now.daly),)
        if _LEAST <= now.daly <= DAY
        else (),
        handle="interval",
    )


def parts(one: Saved, size: Parameters) -> Bars:
    """Return what a checkpoint holds, and what it leaves out."""
    return Bars(
        title="What is in a checkpoint",
        axis=Axis(
            label="bytes",
            quantity=BYTES,
            low=0.0,
            high=1.05 * size * max(14.0, one.weight + one.optimizer),
        ),
        bars=(
            Bar(
                key="saved",
                label="your checkpoint",
                segments=(
                    Segment(
                        key="weights", label="weights", value=size * one.weight, color="parameters"
                    ),
                    Segment(
                        key="optimizer",
                        label="optimizer",
                        value=size * one.optimizer,
                        color="optimizer",
                    ),
                ),
            ),
            Bar(
                key="weights",
                label="weights in bf16 alone",
                segments=(
                    Segment(key="weights", label="weights", value=2.0 * size, color="parameters"),
                ),
            ),
        ),
    )


def published(tell: Teller, inputs: Inputs) -> Table:
    """Return what was published of two runs beside what is computed of the reader's."""
    mine = "{whole}, {per_gpu} by each GPU"
    return Table(
        title="Published, beside yours",
        columns=("Run", "Checkpoint", "Storage", "Source"),
        rows=(
            (
                "Llama 3 405B, 16,384 H100",
                "up to 4 GB by each GPU",
                "2 TB/s sustained, 7 TB/s at peak",
                Cite(("dubey2024",)),
            ),
            (
                "BLOOM 176B, 384 A100",
                "2.3 TB, of which 329 GB are weights",
                "40 s for each",
                Cite(("bigscience2022",)),
            ),
            (
                "yours",
                tell.say(mine),
                tell.say("{storage}, {write} for each"),
                "",
            ),
        ),
    )


def challenge(inputs: Inputs, goodput: Share, fits: bool) -> Challenge:
    """Return the challenge."""
    return Challenge(
        title="A cheap file system",
        goal="Llama 3 70B on 1,024 GPUs keeps 97 % of its time with a storage of 10 GB/s.",
        conditions=(
            Condition(text="Llama 3 70B", met=inputs.model == "llama-3-70b"),
            Condition(text="1,024 GPUs", met=inputs.world_size == 1024),
            Condition(text="storage of at most 10 GB/s", met=inputs.storage <= 10 * GB),
            Condition(text="weights and optimizer are saved", met=inputs.optimizer == "yes"),
            Condition(text="it fits", met=fits),
            Condition(text="97 % goodput", met=math.isfinite(goodput) and goodput >= 0.97),
        ),
        hints=(
            "What do the steps wait for if the write runs behind them?",
            "A second checkpoint cannot begin before the first is written.",
            "Drag the interval to the rule in the chart.",
        ),
        start={
            "model": "llama-3-70b",
            "world_size": 1024,
            "global_batch_size": 1024,
            "storage": 10 * GB,
            "background": False,
        },
        solution={
            "model": "llama-3-70b",
            "world_size": 1024,
            "global_batch_size": 1024,
            "storage": 10 * GB,
            "background": True,
            "interval": 600.0,
        },
    )
