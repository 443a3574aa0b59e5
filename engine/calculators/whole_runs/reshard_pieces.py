"""Reshard pieces: files of some ranks, read by another number of ranks, and a training goes on."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, Count
from engine.core.views import Badge, Heatmap
from engine.tiny.resharded import AFTER, BEFORE, JOB, ReshardedTraining, train_resharded

TITLE = "Saved on four, loaded on six"
QUESTION = "Which rank reads which piece, and is it the same training afterward?"
HEADLINE = "pieces"
PRESETS = {
    "The same number": {"after": 4},
    "Two GPUs lost": {"before": 8, "after": 6},
    "One GPU reads all": {"after": 1},
}
_EXACT = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    before: Annotated[int, Number(label="GPUs that saved", low=1, high=8, whole=True)] = 4
    after: Annotated[int, Number(label="GPUs that load", low=1, high=8, whole=True)] = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The bytes read, and whether the training is unchanged."""

    training: ReshardedTraining
    pieces: Annotated[
        Count,
        Output(
            "Pieces read",
            note="of {before} files by {after} GPUs",
            color="memory",
            basis="simulated",
            assumes=("A piece is what one GPU reads of one file.",),
        ),
    ]
    most: Annotated[
        Count,
        Output(
            "Files that one GPU opens",
            note="at most",
            color="memory",
            basis="simulated",
            assumes=("Every GPU reads only what belongs to its own share.",),
        ),
    ]
    off: Annotated[
        float,
        COUNT,
        Output(
            "Off from one GPU without a stop",
            note="largest difference of a parameter",
            color="parameters",
            basis="simulated",
            assumes=("{first} steps, a checkpoint, {then} steps, in double precision.",),
        ),
    ]
    forgotten: Annotated[
        float,
        COUNT,
        Output(
            "Off if only weights are saved",
            note="Adam begins anew; a step moves a parameter by about {rate}",
            color="bad",
            basis="simulated",
            assumes=("The same training, its moments lost at the checkpoint.",),
        ),
    ]
    rate: Annotated[float, COUNT] = JOB.learning_rate
    first: Count = BEFORE
    then: Count = AFTER


def solve(inputs: Inputs) -> Result:
    """Return the training, stopped and resumed."""
    pieces = train_resharded(inputs.before, inputs.after)
    columns = list(zip(*pieces.read, strict=True))
    return Result(
        training=pieces,
        pieces=sum(1 for row in pieces.read for number in row if number),
        most=max(sum(1 for number in column if number) for column in columns),
        off=pieces.off if pieces.off > _EXACT else 0.0,
        forgotten=pieces.forgotten,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "verdict": _verdict(result),
        "pieces_map": partial(_map, inputs, result),
        **present.values("pieces", "most", "off", "forgotten"),
    }


def _verdict(result: Result) -> Badge:
    if result.off:
        return Badge(text="Not the same", sentence="The training differs.", color="bad")
    lost = typeset(format_significant(result.forgotten, 2))
    return Badge(
        text="The same training",
        sentence="After the stop all parameters are those of one GPU that never stopped. With "
        f"weights alone they are off by up to {lost}.",
        color="parameters",
    )


def _map(inputs: Inputs, result: Result) -> Heatmap:
    return Heatmap(
        title="Parameters that each GPU reads from each file",
        x_label="GPU that loads",
        y_label="file",
        x=tuple(map(str, range(inputs.after))),
        y=tuple(map(str, range(inputs.before))),
        values=tuple(
            tuple(float(number) if number else float("nan") for number in row)
            for row in result.training.read
        ),
        quantity=COUNT,
        caption="260 parameters in equal shares. Empty: nothing is read.",
    )
