"""Slow port: the effect of a single slow port on an all-reduce, by algorithm."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.transports import INFINIBAND
from engine.core.inputs import GBITS, PERCENT, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import GB, Count, Gbit, Ratio, Seconds
from engine.core.views import Badge, Line, Lines, Scale
from engine.form.fields import FewGpus
from engine.simulate.collectives.collective_walkthrough import (
    WalkthroughSetup,
    run_walkthrough,
    slow_port_times,
)

TITLE = "One slow port"
QUESTION = "How much slower is an all-reduce if one port of many sends at a fraction of its speed?"
HEADLINE = "time"
SLOW_GPU = 1
_LOW = 0.05
_SHARES = (_LOW, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)
_ASSUMES = (
    "One port of {port} per GPU, of which NCCL reaches nine tenths, on one switch that never "
    "blocks; {latency} per message. On equal ports, ring and tree take what they take in NCCL.",
    "Messages of a round start together and share ports max-min fairly; a round starts when "
    "the one before has ended.",
)
_SOURCES = ("bertsekas1992", "hockney1994")
# Line -> algorithm, whose port is slow, name, color. The root of a star is GPU 0.
_SHOWN = {
    "ring": ("ring", SLOW_GPU, "ring", "communication"),
    "tree": ("tree", SLOW_GPU, "double tree", "tensor"),
    "star": ("star", SLOW_GPU, "star, not its root", "expert"),
    "root": ("star", 0, "star, its root", "pipeline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    slow_share: Annotated[
        float,
        Number(label="Remaining speed of one port", unit=PERCENT, low=_LOW, high=1.0, step=0.05),
    ] = 0.25
    world_size: FewGpus = 8
    port: Annotated[
        float,
        Number(label="Port per GPU", unit=GBITS, low=10 * Gbit, high=1600 * Gbit, scale="log"),
    ] = 400 * Gbit


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The ring with the slow port and without, and three algorithms over its speed."""

    time: Annotated[
        Seconds,
        Output(
            "The ring now",
            "",
            "GPU 1 sends at {slow_share}",
            "communication",
            assumes=_ASSUMES,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    even_time: Annotated[
        Seconds,
        Output(
            "With equal ports",
            "",
            "a buffer of 14 GB on {world_size} GPUs",
            assumes=_ASSUMES,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    latency: Seconds = INFINIBAND.step
    slower: Ratio
    others: Count
    slow: bool
    times: Mapping[str, tuple[Seconds, ...]]


def solve(inputs: Inputs) -> Result:
    """Return the simulated times."""
    setup = WalkthroughSetup(
        algorithm="ring",
        world_size=inputs.world_size,
        slow_share=inputs.slow_share,
        slow_gpu=SLOW_GPU,
        size=14 * GB,
        port=inputs.port,
        latency=INFINIBAND.step,
    )
    ring, even = run_walkthrough(setup), replace(setup, slow_share=1.0)
    return Result(
        time=ring.timed.time,
        even_time=ring.even.time,
        slower=ring.timed.time / ring.even.time,
        others=inputs.world_size - 1,
        slow=ring.slow_port in ring.timed.bottleneck and inputs.slow_share < 1,
        times={
            line: slow_port_times(replace(even, algorithm=name, slow_gpu=gpu), _SHARES)
            for line, (name, gpu, _, _) in _SHOWN.items()
        },
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the ring's time, its limit, and the curves of three algorithms."""
    present = Presenter(inputs, result)
    return {
        **present.values("time", "even_time"),
        "binding": _limit_badge(present, result),
        "curve": partial(_curve, present, inputs, result),
    }


def _limit_badge(present: Presenter, result: Result) -> Badge:
    if result.slow:
        return Badge(
            text=f"Port of GPU {SLOW_GPU}",
            sentence=present.say(
                "{others} GPUs wait for the port of one: the ring takes {slower} as long as with "
                "equal ports."
                if result.others > 1
                else "Both GPUs wait for one port: the ring takes {slower} as long as with equal "
                "ports."
            ),
            color="communication",
        )
    return Badge(
        text="All ports alike",
        sentence="No port is slower than the others, and every port is busy all the time.",
        color="data",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    every = [time for column in result.times.values() for time in column]
    return present.curve(
        "Time of one all-reduce over the speed of one port",
        over=Scale("slow_share", "remaining speed of one port", _LOW, 1.0),
        shows=Scale("time", "time", min(every) / 1.5, max(every) * 1.5, log=True),
        x=_SHARES,
        lines=(
            Line(line, _SHOWN[line][2], column, _SHOWN[line][3])
            for line, column in result.times.items()
        ),
        caption="The axis of time is logarithmic. Drag the handle to the left. In a ring it "
        "does not matter whose port is slow. In a star the root's carries everything; in a double "
        "tree it depends on how much a GPU passes on.",
    )
