"""Calibrate to your cluster: measured constants in place of the catalog's, in every prediction."""

from functools import partial

from engine.calculators.whole_runs.calibrate import charts, fit, places
from engine.calculators.whole_runs.calibrate.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.calibrate.inputs import Inputs as Inputs
from engine.calculators.whole_runs.calibrate.result import Result as Result
from engine.calculators.whole_runs.calibrate.result import solve as solve
from engine.catalog.reader_constants import write
from engine.core.outputs import Teller, Views
from engine.core.views import Code
from engine.form.run.prediction_text import known

TITLE = "Calibrate to your cluster"
QUESTION = "How far are my machines from the catalog's, and what does that change for my job?"

_MEASURED = "The cost model with the measured constants in place of the catalog's."


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "step_time": tell.value("step_time", assumes=(_MEASURED, *known(result.evidence))),
        "verdict": charts.verdict(result),
        **tell.values("least", "most", "width"),
        **{name: tell.value(name, note=charts.note(result, name)) for name in charts.FASTEST},
        "compared": charts.compared(result),
        "shares": partial(charts.shares, result),
        "takes": places.takes(result),
        "points": partial(fit.points, result),
        "text": Code(
            title="Your constants, for any field that asks for them",
            language="text",
            text=write(result.own) if result.own else "nothing to carry",
        ),
    }
