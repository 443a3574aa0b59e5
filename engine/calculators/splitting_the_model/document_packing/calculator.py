"""Document packing: masks by document, and which GPU then has how much attention to compute."""

from functools import partial

from engine.calculators.splitting_the_model.document_packing import charts
from engine.calculators.splitting_the_model.document_packing.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.document_packing.result import Result as Result
from engine.calculators.splitting_the_model.document_packing.result import solve as solve
from engine.core.outputs import Teller, Views

TITLE = "Documents in a shared sequence"
QUESTION = "Documents have different lengths: which GPU waits for which?"
EQUATIONS = ()
PRESETS = {
    "Each document cut by itself": {"cut": "document"},
    "One long document": {"long_document": True, "cut": "document"},
    "Short documents": {"mean_length": 2048},
    "By their work": {"packing": "balanced", "cut": "document"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the lengths, the work, and what it costs."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "lengths": partial(charts.lengths, inputs, result),
        **tell.values("busiest", "idle"),
        "regime": charts.regime(tell, result),
        "work": partial(charts.work, result),
        **tell.values("layer", "gain", "claimed"),
        "cuts": partial(charts.cuts, inputs, result),
    }
