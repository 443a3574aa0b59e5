"""Token cost: the operations that training spends on one token, matrix by matrix."""

from functools import partial

from engine.calculators.one_gpu.token_cost import charts
from engine.calculators.one_gpu.token_cost.inputs import Inputs as Inputs
from engine.calculators.one_gpu.token_cost.inputs import Result as Result
from engine.calculators.one_gpu.token_cost.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.form.token_parts import matrices
from engine.formulas.token_operations import BREAK_EVEN_LENGTH, TOKEN_OPERATIONS

TITLE = "What one token costs"
QUESTION = "How many operations does training spend on one token, and on which matrices?"
EQUATIONS = (TOKEN_OPERATIONS, BREAK_EVEN_LENGTH)
PRESETS = {
    "Llama 3 8B, a million tokens": {"sequence_length": 1 << 20},
    "Llama 3 405B": {"model": "llama-3-405b"},
    "DeepSeek-V3, a mixture of experts": {"model": "deepseek-v3", "sequence_length": 4096},
    "260 parameters": {"model": "tiny-260", "sequence_length": 8},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {
        **tell.values("operations", "six", "attention", "break_even", "more_than_six"),
        **tell.values("longer", "summed"),
        "formula": tell.formula("One token, with your numbers", TOKEN_OPERATIONS),
        "curve": partial(charts.curve, tell, inputs, result),
        "by_matrix": partial(charts.by_matrix, tell, result),
        "matrices": partial(matrices, tell, result.parts),
    }
