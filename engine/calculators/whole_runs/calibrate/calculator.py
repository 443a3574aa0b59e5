"""Calibrate to your cluster: measured constants in place of the catalog's, in every prediction."""

from functools import partial

from engine.calculators.whole_runs.calibrate import charts, fit, places
from engine.calculators.whole_runs.calibrate.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.calibrate.inputs import Inputs as Inputs
from engine.calculators.whole_runs.calibrate.result import Result as Result
from engine.calculators.whole_runs.calibrate.result import solve as solve
from engine.catalog.reader_constants import format_constants
from engine.core.outputs import Presenter, Views
from engine.core.views import Code
from engine.form.run.prediction_text import evidence_assumptions

TITLE = "Calibrate to your cluster"
QUESTION = "How far are my machines from the catalog's, and what does that change for my job?"

_MEASURED = "The cost model with the measured constants in place of the catalog's."


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "step_time": present.value(
            "step_time", assumes=(_MEASURED, *evidence_assumptions(result.evidence))
        ),
        "verdict": charts.verdict(result),
        **present.values("least", "most", "width"),
        **{
            name: present.value(name, note=charts.count_note(result, name))
            for name in charts.FASTEST
        },
        "compared": charts.comparison(result),
        "shares": partial(charts.shares, result),
        "takes": places.constant_links(result),
        "points": partial(fit.points, result),
        "text": Code(
            title="Your constants, for any field that asks for them",
            language="text",
            text=format_constants(result.own) if result.own else "nothing to carry",
        ),
    }
