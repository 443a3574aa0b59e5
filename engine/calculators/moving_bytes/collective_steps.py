"""Collective steps: a collective on small numbers, round by round."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core import registry
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count, Ratio
from engine.draw.collective import collective_drawing
from engine.form.fields import FewGpus
from engine.simulate.collectives.collective_execution import run_collective
from engine.simulate.collectives.collective_trace import CollectiveTrace, port_bytes

PACKAGE = "engine.collectives"
TITLE = "An all-reduce, round by round"
QUESTION = "How can every GPU get the sum without one of them doing all the work?"
HEADLINE = "rounds"
_COUNTED = ("Counted in the run that the scene shows; the tests hold it against the closed form.",)
_SOURCES = ("patarasuk2009", "thakur2005", "sanders2009")
_ORDER = ("ring_all_reduce", "star_all_reduce", "tree_all_reduce")


def _options() -> dict[str, str]:
    """Return every collective in the folder, the all-reduces first."""
    names = registry.module_names(PACKAGE)
    ordered = [name for name in _ORDER if name in names]
    ordered += [name for name in names if name not in ordered]
    return {name: registry.module(PACKAGE, name).TITLE for name in ordered}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    algorithm: Annotated[str, Choice(label="Algorithm", options=_options())] = "ring_all_reduce"
    world_size: FewGpus = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Counts of the run; `trace` is the run, `star` whether rank 0 is drawn in the center."""

    trace: CollectiveTrace
    star: bool
    rounds: Annotated[
        Count,
        Output(
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
        Output(
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
        Output(
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
    trace = run_collective(collective, inputs.world_size)
    sent = [out for out, _ in port_bytes(trace, -1, 1.0)]
    return Result(
        trace=trace,
        star=hasattr(collective, "ROOT"),
        rounds=len(trace.frames) - 1,
        busiest_port=max(sent),
        idlest_port=min(sent),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene and the counts of its run."""
    present = Presenter(inputs, result)
    return {
        "scene": partial(collective_drawing, result.trace, star=result.star),
        "rounds": present.value("rounds", value=float(result.rounds)),
        **present.values("busiest_port", "idlest_port"),
    }
