"""Is my memory right? Three readings of one GPU against the model's three lines."""

from functools import partial

from engine.calculators.whole_runs.memory_check import charts
from engine.calculators.whole_runs.memory_check.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.memory_check.inputs import Inputs as Inputs
from engine.calculators.whole_runs.memory_check.inputs import Result as Result
from engine.calculators.whole_runs.memory_check.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.form.adjusted_inputs import told

TITLE = "Is my memory right?"
QUESTION = "Which of my three memory readings differs from the model, and what fills the gap?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        **tell.values("our_process"),
        "verdict": told(charts.verdict(result), result.changes),
        **tell.values("our_allocated", "our_reserved"),
        "in_pieces": tell.value("in_pieces", note=charts.pieces_note(result)),
        "beside": tell.value("beside", note=charts.beside_note(result)),
        "lines": partial(charts.bars, result),
        "compared": charts.compared(result),
    }
