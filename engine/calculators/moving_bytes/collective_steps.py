"""Collective steps: a collective on small numbers, round by round."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis import discover
from engine.basis.inputs import Choice
from engine.basis.text import say
from engine.basis.units import COUNT, RATIO
from engine.basis.views import Receipt, Scene, Value, View
from engine.draw.collective import collective_scene
from engine.form.fields import FewGpus
from engine.simulate.collective import run
from engine.simulate.trace import port_bytes

PACKAGE = "engine.collectives"
TITLE = "An all-reduce, round by round"
QUESTION = "How can every GPU get the sum without one of them doing all the work?"
_ORDER = ("ring_all_reduce", "star_all_reduce", "tree_all_reduce")


def _options() -> dict[str, str]:
    """Return every collective in the folder, the all-reduces first."""
    found = discover.names(PACKAGE)
    ordered = [name for name in _ORDER if name in found]
    ordered += [name for name in found if name not in ordered]
    return {name: discover.module(PACKAGE, name).TITLE for name in ordered}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    algorithm: Annotated[str, Choice(label="Algorithm", options=_options())] = "ring_all_reduce"
    world_size: FewGpus = 8


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the scene and what its run counted."""
    collective = discover.module(PACKAGE, inputs.algorithm)
    trace = run(collective, inputs.world_size)
    sent = [out for out, _ in port_bytes(trace, -1, 1.0)]
    scene: Scene = collective_scene(trace, star=hasattr(collective, "ROOT"))
    counted = Receipt(
        basis="simulated",
        assumptions=(
            "Counted in the run that the scene shows; the tests hold it against the closed form.",
        ),
        sources=("patarasuk2009", "thakur2005", "sanders2009"),
    )
    return {
        "scene": scene,
        "rounds": Value(
            label="Rounds",
            value=float(len(trace.frames) - 1),
            quantity=COUNT,
            receipt=counted,
            note="each waits for the one before",
        ),
        "busiest_port": Value(
            label="Busiest port sends",
            value=max(sent),
            quantity=RATIO,
            receipt=counted,
            note="the buffer",
        ),
        "idlest_port": Value(
            label="Least busy port sends",
            value=min(sent),
            quantity=RATIO,
            receipt=counted,
            note=say("the buffer, of {n} ports", n=(inputs.world_size, COUNT)),
        ),
    }
