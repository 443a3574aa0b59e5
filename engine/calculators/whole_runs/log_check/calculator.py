"""Paste your log: median, spread, drift and MFU of a training run, beside the prediction."""

from functools import partial

from engine.calculators.whole_runs.log_check import charts
from engine.calculators.whole_runs.log_check.inputs import PREDICTED
from engine.calculators.whole_runs.log_check.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.log_check.inputs import Inputs as Inputs
from engine.calculators.whole_runs.log_check.inputs import Result as Result
from engine.calculators.whole_runs.log_check.inputs import solve as solve
from engine.core.outputs import Presenter, Views
from engine.form.adjusted_inputs import with_changes
from engine.form.run.prediction_text import value_with_range

TITLE = "Read my log"
QUESTION = "How fast and how steady is my run, what is its MFU, and is that what to expect?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("step_time"),
        "verdict": with_changes(charts.verdict(result), result.changes),
        "predicted": value_with_range(present, "predicted", result.evidence, assumes=(PREDICTED,)),
        **present.values("token_rate"),
        "mfu": present.value("mfu", note=charts.printed(result)),
        **present.values("spread", "drift", "slow", "reserved"),
        "steps": partial(charts.steps, result),
        "reading": charts.reading(result),
    }
