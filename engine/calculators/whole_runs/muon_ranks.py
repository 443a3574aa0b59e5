"""Muon on four GPUs: one layer's attention matrices, orthogonalized in five ways, exactly."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.core.inputs import Choice
from engine.core.numbers import typeset
from engine.core.outputs import Teller, Told, Views
from engine.core.units import Bytes, Count, Operations, Parameters
from engine.core.views import Badge, Table
from engine.draw.whole_matrices import whole_scene
from engine.formulas.muon import EXCHANGED, GATHERED, muon_exchanged, muon_gathered
from engine.tiny.whole_matrices import NAMES, SIDE, Orthogonalized, Scheme, orthogonalized

TITLE = "Four matrices on several GPUs, orthogonalized exactly"
QUESTION = "Who orthogonalizes a matrix whose rows lie on several GPUs?"
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
    """What the reader can change."""

    scheme: Annotated[str, Choice(label="How", options=_OPTIONS)] = "exchange"
    ranks: Annotated[str, Choice(label="GPUs", options={n: n for n in ("1", "2", "4")})] = "4"


_COUNTED = (
    "Counted in the run. What every sharded optimizer also does is left out: gradients arrive "
    "by a reduce-scatter, and new parameters leave by an all-gather.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run, what was sent and computed, and the same by formulas."""

    found: Orthogonalized
    sent: Annotated[
        Count,
        Told(
            "Sent by each GPU in the optimizer step",
            "",
            "numbers; {matrices} are in the four matrices",
            "communication",
            _COUNTED,
            basis="simulated",
        ),
    ]
    formula: Annotated[
        Count, Told("By the formula", "", "numbers", "communication", ("Equal parts.",))
    ]
    operations: Annotated[
        Operations,
        Told(
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
    found, one = orthogonalized(ranks, scheme), orthogonalized(1, "owner")
    last = found.moments[-1]
    size = float(len(NAMES) * SIDE * SIDE)
    by_formula = {
        "gather": muon_gathered(size, ranks, 1.0),
        "exchange": muon_exchanged(size, ranks, 1.0),
    }
    return Result(
        found=found,
        sent=max(last.sent),
        formula=round(by_formula.get(scheme, 0.0)),
        operations=max(last.operations),
        alone=one.moments[-1].operations[0],
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, whether the update is that of one GPU, and what it took."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(whole_scene, result.found, cast("Scheme", inputs.scheme)),
        "equal": _equal(tell, result.found.off),
        **tell.values("sent", "formula", "operations"),
        "values": partial(_values, result.found),
    }


def _equal(tell: Teller, off: float) -> Badge:
    same = off <= _EQUAL
    how = "by nothing but rounding" if same else f"by up to {typeset(f'{off:.2g}')}"
    return Badge(
        text="The update of one GPU" if same else "A different update",
        sentence=f"The four updates differ {how} from those of one GPU.",
        color="parameters" if same else "bad",
    )


def _values(found: Orthogonalized) -> Table:
    """Return the singular values of the four updates, on all GPUs together and on one."""
    rows = tuple(
        (name, *(_listed(values) for values in (together, alone)))
        for name, together, alone in zip(NAMES, found.values, found.alone, strict=True)
    )
    return Table(
        title="Singular values of the updates",
        columns=("Matrix", "All GPUs together", "One GPU"),
        rows=rows,
        caption="Muon wants all of them near one, so that no direction of the matrix is left out.",
    )


def _listed(values: tuple[float, ...]) -> str:
    return typeset(", ".join(f"{value:.3f}" for value in values))
