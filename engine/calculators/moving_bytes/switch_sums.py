"""Switch sums: the same all-reduce around a ring and through a switch that adds, counted."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.hardware import LINKS
from engine.core import registry
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, RATIO, Bandwidth, Count, Ratio
from engine.core.views import Table
from engine.draw.collective import collective_scene
from engine.formulas.communication import in_network_gain
from engine.simulate.collectives.collective_execution import run_collective
from engine.simulate.collectives.collective_trace import CollectiveTrace, port_bytes

PACKAGE = "engine.collectives"
TITLE = "Sums in the switch, by hand"
QUESTION = "Which bytes does a switch that adds save?"
HEADLINE = "gain"
_MAX_RANKS = 8
_NAMES = {"in_network_all_reduce": "through the switch", "ring_all_reduce": "around the ring"}
_COUNTED = ("Counted in the runs; the tests hold them against the closed forms.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    way: Annotated[str, Choice(label="Way", options=_NAMES)] = "in_network_all_reduce"
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=_MAX_RANKS, whole=True, symbol="n")
    ] = 4


def _output(label: str, note: str, color: str = "ink") -> Output:
    return Output(label, "", note, color, _COUNTED, ("graham2016", "patarasuk2009"), "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The counts of both runs."""

    trace: CollectiveTrace
    ring_sent: Annotated[
        Ratio, _output("Sent around the ring", "the buffer, by each GPU", "communication")
    ]
    switch_sent: Annotated[
        Ratio, _output("Sent through the switch", "the buffer, by each GPU", "data")
    ]
    gain: Annotated[Ratio, _output("Fewer bytes", "ring over switch, so busbw at most", "data")]
    formula: Annotated[
        Ratio, Output("By the formula 2(n − 1)/(n + 1)", sources=("graham2016", "bekman2025"))
    ]
    half_sent: Annotated[
        Ratio, _output("An all-gather receives", "the buffer, by each GPU, on any way")
    ]
    bound: Annotated[
        Bandwidth,
        Output(
            "busbw at most",
            note="on NVLink 4, if every byte went at line rate",
            assumes=("The line rate times the bytes saved.",),
        ),
    ]
    counts: tuple[tuple[Count, Ratio, Ratio], ...]


def solve(inputs: Inputs) -> Result:
    """Return both runs on small numbers."""
    n = inputs.world_size
    sent = {
        algorithm: max(out for out, _ in port_bytes(_run(algorithm, n), -1, 1.0))
        for algorithm in _NAMES
    }
    ring, switch = sent["ring_all_reduce"], sent["in_network_all_reduce"]
    received = max(into for _, into in port_bytes(_run("ring_all_gather", n), -1, 1.0))
    return Result(
        trace=_run(inputs.way, n),
        ring_sent=ring,
        switch_sent=switch,
        gain=ring / switch,
        formula=in_network_gain(n),
        half_sent=received,
        bound=ring / switch * LINKS["nvlink4"].bandwidth,
        counts=tuple(
            (
                ranks,
                port_bytes(_run("ring_all_reduce", ranks), -1, 1.0)[0][0],
                port_bytes(_run("in_network_all_reduce", ranks), -1, 1.0)[0][0],
            )
            for ranks in range(2, _MAX_RANKS + 1)
        ),
    )


def _run(algorithm: str, ranks: Count) -> CollectiveTrace:
    return run_collective(registry.module(PACKAGE, algorithm), ranks)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene and the counts of the runs."""
    present = Presenter(result, inputs)
    return {
        "scene": partial(collective_scene, result.trace),
        **present.values("switch_sent", "ring_sent", "gain", "formula", "half_sent", "bound"),
        "counted": partial(_count_table, result),
    }


def _count_table(result: Result) -> Table:
    return Table(
        title="Buffers that each GPU sends",
        columns=("GPUs", "Around the ring", "Through the switch", "Fewer"),
        rows=tuple(
            (
                say("{n}", n=(ranks, COUNT)),
                say("{r}", r=(ring, RATIO)),
                say("{r}", r=(switch, RATIO)),
                say("{r}", r=(ring / switch, RATIO)),
            )
            for ranks, ring, switch in result.counts
        ),
        caption="With two GPUs the switch costs bytes; from four on it saves some.",
    )
