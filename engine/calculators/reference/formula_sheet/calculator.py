"""Formula sheet: every equation of the model with the numbers of a training job."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from engine.calculators.reference.formula_sheet import model as model_examples
from engine.calculators.reference.formula_sheet import network as network_examples
from engine.calculators.reference.formula_sheet import pipeline as pipeline_examples
from engine.calculators.reference.formula_sheet import run as run_examples
from engine.calculators.reference.formula_sheet.inputs import Example, SymbolValues
from engine.calculators.reference.formula_sheet.inputs import Inputs as Inputs
from engine.core import registry
from engine.core.equation import Equation
from engine.core.outputs import Views
from engine.core.units import MiB
from engine.core.views import Formula

TITLE = "Formula sheet"
QUESTION = "What does every formula of the model give for one job?"
HEADLINE = "gpt_parameters"
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
    **model_examples.EXAMPLES,
    **network_examples.EXAMPLES,
    **pipeline_examples.EXAMPLES,
    **run_examples.EXAMPLES,
}
# Files that build on one another, in the order to read them; others follow by name.
_ORDER = (
    "gpt",
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
    names = registry.module_names(PACKAGE)
    first = [name for name in _ORDER if name in names]
    ordered = [*first, *(name for name in names if name not in first)]
    modules = [registry.module(PACKAGE, name) for name in ordered]
    equations_of = {
        module: tuple(value for value in vars(module).values() if isinstance(value, Equation))
        for module in modules
    }
    return {module: equations for module, equations in equations_of.items() if equations}


EQUATIONS = tuple(
    equation
    for equations in groups().values()
    for equation in equations
    if equation.name in EXAMPLES
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The number behind every symbol of every equation, by the equation's name."""

    numbers: Mapping[str, SymbolValues]


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


def _formula(equation: Equation, numbers: SymbolValues) -> Formula:
    example = EXAMPLES[equation.name]
    return Formula(
        title=example.title,
        equation=equation,
        symbols={key: numbers[key] for key in equation.symbols},
        inputs={key: name for key, name in example.inputs.items() if key in equation.symbols},
    )
