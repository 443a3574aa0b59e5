"""Formula sheet: every equation of the model with the numbers of one training job in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from engine.calculators.reference.formula_sheet import model as _sheet_model
from engine.calculators.reference.formula_sheet import network as _sheet_network
from engine.calculators.reference.formula_sheet import pipeline as _sheet_pipeline
from engine.calculators.reference.formula_sheet import run as _sheet_run
from engine.calculators.reference.formula_sheet.example import Example, Shown
from engine.calculators.reference.formula_sheet.inputs import Inputs as Inputs
from engine.core import registry
from engine.core.equation import Equation
from engine.core.outputs import Views
from engine.core.units import MiB
from engine.core.views import Formula

TITLE = "Formula sheet"
QUESTION = "What does every formula of the model give for one job?"
PRESETS = {
    "GPT-3 on 1,024 GPUs": {
        "parameters": 175e9,
        "num_nodes": 128,
        "bucket": 4096 * MiB,
        "num_layers": 96,
        "hidden_size": 12_288,
        "num_attention_heads": 96,
        "vocab_size": 51_200,
        "sequence_length": 2048,
        "tensor_parallel": 8,
    },
}
PACKAGE = "engine.formulas"
EXAMPLES: Mapping[str, Example] = {
    **_sheet_model.EXAMPLES,
    **_sheet_network.EXAMPLES,
    **_sheet_pipeline.EXAMPLES,
    **_sheet_run.EXAMPLES,
}
# Files that build on one another, in the order to read them; others follow by name.
_ORDER = (
    "parameters",
    "operations",
    "states",
    "activations",
    "compute",
    "communication",
    "bandwidth",
    "hierarchy",
    "ring_time",
    "overlap",
    "pipeline",
    "pipeline_idle",
    "stragglers",
    "goodput",
    "run",
)


def groups() -> dict[ModuleType, tuple[Equation, ...]]:
    """Return the modules of formulas that hold equations, in reading order, and their equations."""
    names = registry.names(PACKAGE)
    first = [name for name in _ORDER if name in names]
    ordered = [*first, *(name for name in names if name not in first)]
    modules = [registry.module(PACKAGE, name) for name in ordered]
    found = {
        module: tuple(thing for thing in vars(module).values() if isinstance(thing, Equation))
        for module in modules
    }
    return {module: equations for module, equations in found.items() if equations}


EQUATIONS = tuple(
    equation
    for equations in groups().values()
    for equation in equations
    if equation.name in EXAMPLES
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The number behind every symbol of every equation, by the equation's name."""

    numbers: Mapping[str, Shown]


def solve(inputs: Inputs) -> Result:
    """Return the numbers of every equation that has an example."""
    names = [equation.name for equation in EQUATIONS]
    return Result(numbers={name: EXAMPLES[name].symbols(inputs) for name in names})


def views(inputs: Inputs, result: Result) -> Views:
    """Return every equation that has an example, by its name, in the order of the page."""
    return {
        equation.name: partial(_formula, equation, result.numbers[equation.name])
        for equation in EQUATIONS
    }


def _formula(equation: Equation, numbers: Shown) -> Formula:
    example = EXAMPLES[equation.name]
    return Formula(
        title=example.title,
        equation=equation,
        symbols={key: numbers[key] for key in equation.symbols},
        inputs={key: name for key, name in example.inputs.items() if key in equation.symbols},
    )
