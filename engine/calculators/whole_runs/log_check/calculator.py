"""Paste your log: median, spread, drift and MFU of a training run, beside the prediction."""

from functools import partial

from engine.calculators.whole_runs.log_check import charts
from engine.calculators.whole_runs.log_check.inputs import PREDICTED
from engine.calculators.whole_runs.log_check.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.log_check.inputs import Inputs as Inputs
from engine.calculators.whole_runs.log_check.inputs import Result as Result
from engine.calculators.whole_runs.log_check.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.form.adjusted_inputs import told
from engine.form.run.prediction_text import ranged

TITLE = "Read my log"
QUESTION = "How fast and how steady is my run, what is its MFU, and is that what to expect?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        **tell.values("step_time"),
        "verdict": told(charts.verdict(result), result.changes),
        "predicted": ranged(tell, "predicted", result.evidence, assumes=(PREDICTED,)),
        **tell.values("token_rate"),
        "mfu": tell.value("mfu", note=charts.printed(result)),
        **tell.values("spread", "drift", "slow", "reserved"),
        "steps": partial(charts.steps, result),
        "reading": charts.reading(result),
    }
