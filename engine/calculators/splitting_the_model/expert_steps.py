"""Expert parallelism on the tiny model: trained over several GPUs, held against one."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Teller, Told, Views
from engine.core.slices import Slices, whole
from engine.core.units import Count
from engine.core.views import Table
from engine.form.single_gpu_reference import equal, losses
from engine.tiny.expert_record import Record, recording

TITLE = "Experts over several GPUs, every number computed"
QUESTION = "Does it change the training to send tokens to experts on other GPUs?"
EQUATIONS = ()
PRESETS_CITE = False
PRESETS = {"Two GPUs": {"ranks": "2"}, "All experts for every token": {"each": 4}}
_ASSUMES = (
    "Two layers of four experts, hidden size four, trained for three steps; every message counted.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    ranks: Annotated[
        str, Choice(label="GPUs", cites=False, options={"1": "1", "2": "2", "4": "4"})
    ] = "4"
    each: Annotated[
        int, Number(label="Experts per token", low=1, high=4, whole=True, symbol="k")
    ] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run and its counts."""

    found: Record
    held: Annotated[
        Count,
        Told(
            "Parameters on a GPU",
            note="of {parameters}; everything but the experts is on every GPU",
            color="parameters",
            basis="simulated",
            assumes=_ASSUMES,
            sources=("lepikhin2021",),
        ),
    ]
    parameters: Count
    tokens: Annotated[
        Count,
        Told(
            "Numbers sent for tokens",
            note="per step, a mean of three; both ways, forward and backward",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    gradients: Annotated[
        Count,
        Told(
            "Numbers sent for gradients",
            note="per step; those of the experts stay where they are",
            color="gradients",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the run and its counts."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train on several GPUs and on one."""
    found = yield from recording(int(inputs.ranks), inputs.each).rest()
    return Result(
        found=found,
        held=found.run.held[0].parameters,
        parameters=len(found.alone.parameters),
        tokens=max(found.sent("activations")),
        gradients=max(found.sent("gradients")),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the counts, the comparison with one GPU and the losses of both."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("held", "tokens", "gradients"),
        "equal": equal(result.found.off),
        "losses": partial(_losses, result.found),
    }


def _losses(found: Record) -> Table:
    why = "Nothing is dropped, so tokens meet the same experts."
    return losses(len(found.run.held), found.run.losses, found.alone.losses, why)
