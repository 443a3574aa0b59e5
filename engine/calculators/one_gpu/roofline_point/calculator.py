"""The roofline of a GPU, a point under it, and what others have measured there."""

from functools import partial

from engine.calculators.one_gpu.roofline_point import charts
from engine.calculators.one_gpu.roofline_point.inputs import Inputs as Inputs
from engine.calculators.one_gpu.roofline_point.inputs import Result as Result
from engine.calculators.one_gpu.roofline_point.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.formulas.roofline import ATTAINABLE, RIDGE

TITLE = "The roofline of a GPU"
QUESTION = "How fast can an operation run that does so many operations for every byte?"
EQUATIONS = (ATTAINABLE, RIDGE)
PRESETS = {
    "B200": {"gpu": "B200"},
    "H100, fp8": {"precision": "fp8"},
    "A100": {"gpu": "A100-SXM-80GB"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {
        **tell.values("rate", "ridge", "share"),
        "limit": charts.limit(tell, result),
        "roofline": partial(charts.roofline, tell, inputs, result),
        "formula": tell.formula("The lower of two limits", ATTAINABLE),
        "measured": partial(charts.measured, tell, inputs, result),
        "kernels": partial(charts.kernels, tell, inputs, result),
    }
