"""Newton-Schulz iteration of a singular value, and of a four-row matrix."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.numbers import typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, Count, Ratio
from engine.core.views import Badge, Line, Lines, Rule, Scale, Table
from engine.tiny.whole_matrices import (
    CUBIC,
    MUON,
    NAMES,
    Coefficients,
    momentum,
    newton_schulz,
    polynomial_iterates,
)
from engine.tiny.whole_matrices import singular_values as singular_values_of

TITLE = "Newton-Schulz, step by step"
QUESTION = "Where do five steps take a singular value?"
HEADLINE = "after"
EQUATIONS = ()
PRESETS = {
    "Ten steps": {"steps": 10},
    "The cubic that converges": {"polynomial": "cubic"},
    "A very small value": {"value": 2e-4},
}
_LOWEST = 1e-4
_COLUMN = tuple(_LOWEST * 10 ** (4 * place / 120) for place in range(121))
_POLYNOMIALS: dict[str, Coefficients] = {"muon": MUON, "cubic": CUBIC}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    value: Annotated[
        float,
        Number(
            label="Singular value before",
            low=_LOWEST,
            high=1.0,
            scale="log",
            symbol="\N{GREEK SMALL LETTER SIGMA}",
            help="Of the matrix over its Frobenius norm, so that none is above one.",
        ),
    ] = 0.06
    steps: Annotated[int, Number(label="Steps", low=0, high=15, whole=True, symbol="S")] = 5
    polynomial: Annotated[
        str,
        Choice(
            label="Polynomial",
            options={
                "muon": "Muon's, of fifth degree",
                "cubic": "an exact cubic, 1.5x − 0.5x³",
            },
        ),
    ] = "muon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A singular value after every step, and those of a whole matrix."""

    path: tuple[Ratio, ...]
    after: Annotated[
        float,
        COUNT,
        Output(
            "Singular value after",
            "",
            "one would be exact",
            "parameters",
            ("One polynomial, applied as many times as there are steps.",),
            ("jordan2024",),
        ),
    ]
    slope: Annotated[
        Ratio,
        Output(
            "Growth of a tiny value in one step",
            "",
            "the first coefficient",
            "compute",
            ("Of a value so small that its cube does not count.",),
            ("jordan2024",),
        ),
    ]
    least: Annotated[
        float,
        COUNT,
        Output(
            "Smallest value that gets to 0.5",
            "",
            "relative to the Frobenius norm",
            "parameters",
            ("Found on a grid of 30 values for each factor of ten.",),
            ("jordan2024",),
        ),
    ]
    column: tuple[Ratio, ...]
    matrix: tuple[tuple[Ratio, ...], ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    coefficients = _POLYNOMIALS[inputs.polynomial]
    path = polynomial_iterates(inputs.value, inputs.steps, coefficients)
    column = tuple(polynomial_iterates(value, inputs.steps, coefficients)[-1] for value in _COLUMN)
    reached = [x for x, y in zip(_COLUMN, column, strict=True) if y >= 0.5]
    matrices = newton_schulz(momentum()[0], inputs.steps, coefficients)
    return Result(
        path=path,
        after=path[-1],
        slope=coefficients[0],
        least=min(reached, default=1.0),
        column=column,
        matrix=tuple(map(singular_values_of, matrices)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: the curve, the path of a value, and a matrix step by step."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "curve": partial(_curve, present, inputs, result),
        **present.values("after", "least", "slope"),
        "near": _nearness_verdict(present, result),
        "path": partial(_path, present, inputs, result),
        "matrix": partial(_matrix, result),
    }


def _nearness_verdict(present: Presenter, result: Result) -> Badge:
    before = (result.path[0], COUNT)
    if 0.6 <= result.after <= 1.3:
        return Badge(
            text="About one",
            sentence=present.say("From {x} the steps lead to {after}.", x=before),
            color="parameters",
        )
    return Badge(
        text="Not there yet",
        sentence=present.say("From {x} these steps lead only to {after}.", x=before),
        color="bad",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "A singular value before and after",
        over=Scale(COUNT, "singular value before", _LOWEST, 1.0, log=True),
        shows=Scale("after", "after all steps", 0.0, 1.3),
        x=_COLUMN,
        lines=(Line("after", "after", result.column, "parameters"),),
        handle="value",
        rules=(Rule(key="one", label="one", axis="y", at=1.0, color="muted"),),
        caption="The same polynomial acts on every singular value of a matrix by itself.",
    )


def _path(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    steps = tuple(float(step) for step in range(len(result.path)))
    return present.curve(
        "The same value, step by step",
        over=Scale(COUNT, "steps", 0.0, 15.0),
        shows=Scale("after", "singular value", 0.0, 1.3),
        x=steps if len(steps) > 1 else (0.0, 0.0),
        lines=(
            Line(
                "path",
                "singular value",
                result.path if len(steps) > 1 else result.path * 2,
                "compute",
            ),
        ),
        handle="steps",
        rules=(Rule(key="one", label="one", axis="y", at=1.0, color="muted"),),
        caption="Drag the number of steps.",
    )


def _matrix(result: Result) -> Table:
    rows = tuple(
        ("before" if not step else f"step {step}", *(typeset(f"{value:.4f}") for value in values))
        for step, values in enumerate(result.matrix)
    )
    return Table(
        title=f"Singular values of the {NAMES[0]} matrix's momentum",
        columns=("", *(_name(column) for column in range(len(result.matrix[0])))),
        rows=rows,
        caption="Of the first layer of the model with 260 parameters, after its first step.",
    )


def _name(column: Count) -> str:
    return ("Largest", "Second", "Third", "Smallest")[column]
