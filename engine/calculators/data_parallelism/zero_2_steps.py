"""ZeRO-2, part by part: gradients go to their owners while the backward pass runs."""

from dataclasses import dataclass

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

TITLE = "One step of ZeRO-2, part by part"
QUESTION = "Why keep gradients that you will not use?"
HEADLINE = "held"
EQUATIONS = (ZERO_MEMORY, ZERO_BYTES)
PRESETS = {
    "Two GPUs, four micro-batches": {"ranks": 2, "micro_batches": 4},
    "One GPU": {"ranks": 1},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: FewRanks = 4
    micro_batches: MicroBatches = 1
    place: Place = 110


def solve(inputs: Inputs) -> Result:
    """Return the step."""
    return solve_step(inputs.ranks, 2, inputs.micro_batches, inputs.place)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    return step_views(Presenter(result, inputs, equations=EQUATIONS), result)
