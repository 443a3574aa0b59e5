"""Expert parallelism on the tiny model, compared with one GPU."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import Slices, run_to_end
from engine.core.units import Count
from engine.core.views import Table
from engine.form.single_gpu_reference import equality_badge, loss_table
from engine.tiny.expert_record import ExpertRecord, start_expert_record

TITLE = "Experts over several GPUs, every number computed"
QUESTION = "Does it change the training to send tokens to experts on other GPUs?"
HEADLINE = "held"
EQUATIONS = ()
PRESETS_CITE = False
PRESETS = {"Two GPUs": {"ranks": "2"}, "All experts for every token": {"each": 4}}
_ASSUMES = (
    "Two layers of four experts, hidden size four, trained for three steps; every message counted.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[
        str, Choice(label="GPUs", cites=False, options={"1": "1", "2": "2", "4": "4"})
    ] = "4"
    each: Annotated[
        int, Number(label="Experts per token", low=1, high=4, whole=True, symbol="k")
    ] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run and its counts."""

    record: ExpertRecord
    held: Annotated[
        Count,
        Output(
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
        Output(
            "Numbers sent for tokens",
            note="per step, a mean of three; both ways, forward and backward",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    gradients: Annotated[
        Count,
        Output(
            "Numbers sent for gradients",
            note="per step; those of the experts stay where they are",
            color="gradients",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the run and its counts."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train on several GPUs and on a single GPU."""
    record = yield from start_expert_record(int(inputs.ranks), inputs.each).rest()
    return Result(
        record=record,
        held=record.run.state_counts[0].parameters,
        parameters=len(record.alone.parameters),
        tokens=max(record.sent("activations")),
        gradients=max(record.sent("gradients")),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: counts, comparison with one GPU, and both loss curves."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("held", "tokens", "gradients"),
        "equal": equality_badge(result.record.off),
        "losses": partial(_losses, result.record),
    }


def _losses(record: ExpertRecord) -> Table:
    why = "Nothing is dropped, so tokens meet the same experts."
    return loss_table(len(record.run.state_counts), record.run.losses, record.alone.losses, why)
