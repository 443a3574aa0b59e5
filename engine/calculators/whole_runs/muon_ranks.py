"""Muon on four GPUs: a layer's attention matrices, orthogonalized in five ways, exactly."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, cast

from engine.core.inputs import Choice
from engine.core.numbers import typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, OPERATIONS, Bytes, Count, Operations, Parameters
from engine.core.views import Badge, Frame, Scene, Shape, Table
from engine.draw.shapes import rect, text
from engine.formulas.muon import EXCHANGED, GATHERED, muon_exchanged, muon_gathered
from engine.tiny.whole_matrices import (
    NAMES,
    SIDE,
    Grid,
    MuonPhase,
    OrthogonalizedStep,
    Scheme,
    orthogonalize_step,
)

_CELL, _GAP, _FONT = 21.0, 16.0, 16.0
_MATRIX = SIDE * _CELL
_LEFT, _TOP = 62.0, 62.0
_LINE = _MATRIX + 20
_WIDTH = _LEFT + len(NAMES) * (_MATRIX + _GAP)
_STARTS = {
    "gather": "Each GPU has its rows of the momentum of every matrix.",
    "exchange": "Each GPU has its rows of the momentum of every matrix.",
    "slices": "Each GPU has its rows of the momentum of every matrix.",
    "owner": "Each GPU has the momentum of whole matrices of its own.",
    "repeat": "Each GPU has the momentum of every matrix, whole.",
}
_GATHERS = {
    "gather": "All-gather: every GPU now has every matrix.",
    "exchange": "All-to-all: every GPU sends its rows to the owner of the matrix.",
}
_WORKS = {
    "gather": "Every GPU does the same work on every matrix.",
    "exchange": "Each owner works on its own matrices.",
    "owner": "Each owner works on its own matrices.",
    "repeat": "Every GPU does the same work on every matrix.",
    "slices": "Each GPU takes its rows for a matrix of their own.",
}
_BACK = {
    "gather": "Each GPU keeps the update of its own rows.",
    "exchange": "All-to-all: the owners send back the update of each GPU's rows.",
}


def whole_scene(run: OrthogonalizedStep, scheme: Scheme) -> Scene:
    """Return a frame for every phase."""
    ranks = len(run.moments[0].held)
    frames = tuple(
        Frame(caption=_caption(now, scheme), shapes=(*_headings(now), *_cells(now)))
        for now in run.moments
    )
    opening = next(
        (i for i, now in enumerate(run.moments) if now.phase == "gather"),
        0,
    )
    return Scene(
        title="Four matrices on several GPUs",
        width=_WIDTH,
        height=_TOP + ranks * _LINE,
        frames=frames,
        opening=opening,
        caption="Rows are GPUs, columns the four attention matrices of a layer. A stronger color "
        "is a larger number, relative to the largest of its matrix. Empty cells are on other GPUs.",
    )


def _caption(now: MuonPhase, scheme: Scheme) -> Text:
    if now.phase == "start":
        return _STARTS[scheme]
    counts = " Sent by each GPU so far: {sent} numbers; operations of each GPU: {operations}."
    figures = {
        "sent": (now.sent[0], COUNT),
        "operations": (now.operations[0], OPERATIONS),
    }
    words = {"gather": _GATHERS, "back": _BACK}.get(now.phase)
    if words:
        return say(words[scheme] + counts, **figures)
    return say(f"Newton-Schulz, step {now.phase} of 5. {_WORKS[scheme]}{counts}", **figures)


def _headings(now: MuonPhase) -> Iterable[Shape]:
    steps = now.phase.isdigit()
    done = "update" if now.phase == "back" else "momentum"
    done = f"Newton-Schulz, step {now.phase}" if steps else done
    yield text("phase", 0, 18, _FONT, done, "start", "value c-ink")
    for column, name in enumerate(NAMES):
        x = _LEFT + column * (_MATRIX + _GAP) + _MATRIX / 2
        yield text(f"name {name}", x, _TOP - 14, _FONT, name)
    for rank in range(len(now.held)):
        y = _TOP + rank * _LINE + _MATRIX / 2 + 6
        yield text(f"gpu {rank}", 0, y, _FONT, f"GPU {rank}", "start")


def _cells(now: MuonPhase) -> Iterable[Shape]:
    color = "optimizer" if now.phase in ("start", "gather") else "parameters"
    for rank, grids in enumerate(now.held):
        for matrix, grid in enumerate(grids):
            corner = (_LEFT + matrix * (_MATRIX + _GAP), _TOP + rank * _LINE)
            yield from _grid(f"{rank}.{matrix}", corner, grid, _largest(now, matrix), color)


def _largest(now: MuonPhase, matrix: Count) -> float:
    numbers = [
        abs(number)
        for grids in now.held
        for row in grids[matrix]
        for number in row
        if number is not None
    ]
    return max(numbers)


def _grid(
    key: str, corner: tuple[float, float], grid: Grid, largest: float, color: str
) -> Iterable[Shape]:
    for row, numbers in enumerate(grid):
        for column, number in enumerate(numbers):
            at = (corner[0] + column * _CELL, corner[1] + row * _CELL)
            weight = -1.0 if number is None else round(abs(number) / largest, 2)
            yield _cell(f"{key}.{row}.{column}", at, weight, color)


@lru_cache(maxsize=8192)
def _cell(key: str, at: tuple[float, float], weight: float, color: str) -> Shape:
    present = weight >= 0
    opacity = 0.12 + 0.78 * weight if present else 0.0
    kind = f"cell c-{color if present else 'muted'}"
    return rect(key, at, (_CELL - 2, _CELL - 2), kind, (("fill-opacity", f"{opacity:.2f}"),))


TITLE = "Four matrices on several GPUs, orthogonalized exactly"
QUESTION = "Who orthogonalizes a matrix whose rows lie on several GPUs?"
HEADLINE = "sent"
EQUATIONS = (GATHERED, EXCHANGED)
PRESETS = {
    "Each GPU its own matrices": {"scheme": "owner"},
    "Rows instead of matrices": {"scheme": "slices"},
    "Two GPUs": {"ranks": "2"},
}
_EQUAL = 1e-12
_OPTIONS = {
    "exchange": "gather each matrix on one GPU",
    "gather": "gather every matrix on every GPU",
    "owner": "each matrix whole on one GPU",
    "repeat": "all matrices on every GPU",
    "slices": "each GPU its own rows only",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    scheme: Annotated[str, Choice(label="How", options=_OPTIONS)] = "exchange"
    ranks: Annotated[str, Choice(label="GPUs", options={n: n for n in ("1", "2", "4")})] = "4"


_COUNTED = (
    "Counted in the run. What every sharded optimizer also does is left out: gradients arrive "
    "by a reduce-scatter, and new parameters leave by an all-gather.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run, its sent bytes and operations, and the same by formulas."""

    step: OrthogonalizedStep
    sent: Annotated[
        Count,
        Output(
            "Sent by each GPU in the optimizer step",
            "",
            "numbers; {matrices} are in the four matrices",
            "communication",
            _COUNTED,
            basis="simulated",
        ),
    ]
    formula: Annotated[
        Count, Output("By the formula", "", "numbers", "communication", ("Equal parts.",))
    ]
    operations: Annotated[
        Operations,
        Output(
            "Newton-Schulz on each GPU",
            "",
            "one GPU alone has {alone}",
            "compute",
            ("Three products in each of five steps, counted.",),
            ("jordan2024",),
            basis="simulated",
        ),
    ]
    alone: Operations
    matrices: Count = len(NAMES) * SIDE * SIDE
    element: Bytes = 1.0
    parameters: Parameters = float(len(NAMES) * SIDE * SIDE)


def solve(inputs: Inputs) -> Result:
    """Run the step."""
    ranks, scheme = int(inputs.ranks), cast("Scheme", inputs.scheme)
    run, single = orthogonalize_step(ranks, scheme), orthogonalize_step(1, "owner")
    last = run.moments[-1]
    size = float(len(NAMES) * SIDE * SIDE)
    by_formula = {
        "gather": muon_gathered(size, ranks, 1.0),
        "exchange": muon_exchanged(size, ranks, 1.0),
    }
    return Result(
        step=run,
        sent=max(last.sent),
        formula=round(by_formula.get(scheme, 0.0)),
        operations=max(last.operations),
        alone=single.moments[-1].operations[0],
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: scene, equality with a single GPU, and costs."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(whole_scene, result.step, cast("Scheme", inputs.scheme)),
        "equal": _equal(present, result.step.off),
        **present.values("sent", "formula", "operations"),
        "values": partial(_values, result.step),
    }


def _equal(present: Presenter, off: float) -> Badge:
    same = off <= _EQUAL
    how = "by nothing but rounding" if same else f"by up to {typeset(f'{off:.2g}')}"
    return Badge(
        text="The update of one GPU" if same else "A different update",
        sentence=f"The four updates differ {how} from those of one GPU.",
        color="parameters" if same else "bad",
    )


def _values(run: OrthogonalizedStep) -> Table:
    """Return singular values of the four updates, distributed and on a single GPU."""
    rows = tuple(
        (name, *(_number_list(values) for values in (together, alone)))
        for name, together, alone in zip(NAMES, run.values, run.alone, strict=True)
    )
    return Table(
        title="Singular values of the updates",
        columns=("Matrix", "All GPUs together", "One GPU"),
        rows=rows,
        caption="Muon wants all of them near one, so that no direction of the matrix is left out.",
    )


def _number_list(values: tuple[float, ...]) -> str:
    return typeset(", ".join(f"{value:.3f}" for value in values))
