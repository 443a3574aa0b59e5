"""Collective steps: a collective on small numbers, round by round."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core import registry
from engine.core.inputs import Choice
from engine.core.outputs import Teller, Told, Views
from engine.core.units import Count, Ratio
from engine.draw.collective import collective_drawing
from engine.form.fields import FewGpus
from engine.simulate.collectives.collective_execution import run
from engine.simulate.collectives.collective_trace import Trace, port_bytes

PACKAGE = "engine.collectives"
TITLE = "An all-reduce, round by round"
QUESTION = "How can every GPU get the sum without one of them doing all the work?"
_COUNTED = ("Counted in the run that the scene shows; the tests hold it against the closed form.",)
_SOURCES = ("patarasuk2009", "thakur2005", "sanders2009")
_ORDER = ("ring_all_reduce", "star_all_reduce", "tree_all_reduce")


def _options() -> dict[str, str]:
    """Return every collective in the folder, the all-reduces first."""
    found = registry.names(PACKAGE)
    ordered = [name for name in _ORDER if name in found]
    ordered += [name for name in found if name not in ordered]
    return {name: registry.module(PACKAGE, name).TITLE for name in ordered}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    algorithm: Annotated[str, Choice(label="Algorithm", options=_options())] = "ring_all_reduce"
    world_size: FewGpus = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the run counted; `trace` is the run, and `star` whether rank 0 stands in the middle."""

    trace: Trace
    star: bool
    rounds: Annotated[
        Count,
        Told(
            "Rounds",
            "",
            "each waits for the one before",
            assumes=_COUNTED,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    busiest_port: Annotated[
        Ratio,
        Told(
            "Busiest port sends",
            "",
            "the buffer",
            assumes=_COUNTED,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    idlest_port: Annotated[
        Ratio,
        Told(
            "Least busy port sends",
            "",
            "the buffer, of {world_size} ports",
            assumes=_COUNTED,
            sources=_SOURCES,
            basis="simulated",
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the run of the collective on small numbers."""
    collective = registry.module(PACKAGE, inputs.algorithm)
    trace = run(collective, inputs.world_size)
    sent = [out for out, _ in port_bytes(trace, -1, 1.0)]
    return Result(
        trace=trace,
        star=hasattr(collective, "ROOT"),
        rounds=len(trace.frames) - 1,
        busiest_port=max(sent),
        idlest_port=min(sent),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene and what its run counted."""
    tell = Teller(inputs, result)
    return {
        "scene": partial(collective_drawing, result.trace, star=result.star),
        "rounds": tell.value("rounds", value=float(result.rounds)),
        **tell.values("busiest_port", "idlest_port"),
    }
