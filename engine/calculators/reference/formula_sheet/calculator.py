"""Formula sheet: every equation of the model with the numbers of one training job in it."""

from collections.abc import Mapping
from types import ModuleType

from engine.basis import discover
from engine.basis.equation import Equation
from engine.basis.units import MiB
from engine.basis.views import Formula, View
from engine.calculators.reference.formula_sheet import model as _sheet_model
from engine.calculators.reference.formula_sheet import network as _sheet_network
from engine.calculators.reference.formula_sheet import pipeline as _sheet_pipeline
from engine.calculators.reference.formula_sheet import run as _sheet_run
from engine.calculators.reference.formula_sheet.example import Example
from engine.calculators.reference.formula_sheet.inputs import Inputs as Inputs

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
    "transfer_time",
    "overlap",
    "pipeline",
    "stragglers",
    "goodput",
    "run",
)


def groups() -> dict[ModuleType, tuple[Equation, ...]]:
    """Return the modules of formulas that hold equations, in reading order, and their equations."""
    names = discover.names(PACKAGE)
    first = [name for name in _ORDER if name in names]
    ordered = [*first, *(name for name in names if name not in first)]
    modules = [discover.module(PACKAGE, name) for name in ordered]
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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return every equation that has an example, by its name, in the order of the page."""
    return {equation.name: _formula(equation, inputs) for equation in EQUATIONS}


def _formula(equation: Equation, inputs: Inputs) -> Formula:
    example = EXAMPLES[equation.name]
    numbers = example.symbols(inputs)
    return Formula(
        title=example.title,
        equation=equation,
        symbols={key: numbers[key] for key in equation.symbols},
        inputs={key: name for key, name in example.inputs.items() if key in equation.symbols},
    )
