"""Levers: what each thing that could be changed would give, for the reader's own job."""

from engine.basis.views import View
from engine.calculators.whole_runs.levers import amdahl as waiting
from engine.calculators.whole_runs.levers.challenge import challenge
from engine.form.levers import views
from engine.form.levers.inputs import PRESETS as PRESETS
from engine.form.levers.inputs import Inputs as Inputs
from engine.form.levers.model import job

TITLE = "What to change first"
QUESTION = "Which change would make my job faster, by how much, and how sure is that?"
EQUATIONS = (waiting.AMDAHL,)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    found = job(inputs)
    return {
        "step_time": views.step_value(found),
        "first": views.first(found),
        "tornado": views.tornado(found),
        "exposed_share": views.exposed_value(found),
        "advice": views.advice(found),
        "amdahl": waiting.amdahl_curve(inputs, found),
        "five": waiting.amdahl_value("Step faster, if 5 % waits", 0.05, inputs.kernel_gain),
        "fifteen": waiting.amdahl_value("Step faster, if 15 % waits", 0.15, inputs.kernel_gain),
        "levers": views.table(found),
        "challenge": challenge(found),
    }
