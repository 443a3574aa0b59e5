"""ZeRO-3, part by part: parameters are gathered, used and freed; gradients go to their owners."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Switch
from engine.core.outputs import Presenter, Views
from engine.form.sharded.steps import (
    FewRanks,
    MicroBatches,
    Place,
    Result,
    solve_step,
    step_views,
)
from engine.formulas.states import ZERO_MEMORY
from engine.formulas.volumes import ZERO_BYTES

TITLE = "One step of ZeRO-3, part by part"
QUESTION = "Why keep parameters that you are not using now?"
HEADLINE = "held"
EQUATIONS = (ZERO_MEMORY, ZERO_BYTES)
PRESETS = {
    "Kept after the forward pass": {"reshard": False},
    "Two GPUs, four micro-batches": {"ranks": 2, "micro_batches": 4},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: FewRanks = 4
    reshard: Annotated[
        bool,
        Switch(
            label="Free after the forward pass",
            help="reshard_after_forward in FSDP2. Off: gathered parameters stay for the backward "
            "pass.",
        ),
    ] = True
    micro_batches: MicroBatches = 1
    place: Place = 110


def solve(inputs: Inputs) -> Result:
    """Return the step."""
    return solve_step(inputs.ranks, 3, inputs.micro_batches, inputs.place, reshard=inputs.reshard)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    return step_views(Presenter(result, inputs, equations=EQUATIONS), result)
