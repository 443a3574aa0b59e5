"""Drop your trace: where the steps of a PyTorch profiler's trace went, beside the prediction."""

from functools import partial

from engine.calculators.whole_runs.trace_check import charts, tables
from engine.calculators.whole_runs.trace_check.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.trace_check.inputs import Inputs as Inputs
from engine.calculators.whole_runs.trace_check.inputs import Result as Result
from engine.calculators.whole_runs.trace_check.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.form.adjusted_inputs import told
from engine.form.run.prediction_text import ranged

TITLE = "Read my trace"
QUESTION = "Where did the time of my steps go, who waited for whom, and what was to be expected?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        **tell.values("step_time"),
        "verdict": told(charts.verdict(result), result.changes),
        "predicted": ranged(tell, "predicted", result.evidence),
        **tell.values("compute", "exposed", "hidden", "copies", "idle", "waited", "bus"),
        "parts": partial(charts.parts, result),
        "timeline": partial(charts.timeline, inputs, result),
        "compared": partial(tables.compared, result),
        "every_step": partial(charts.every_step, result),
        "who_waits": partial(charts.who_waits, result),
        "ranks": partial(tables.ranks, result),
        "collectives": partial(tables.collectives, result),
        "groups": partial(tables.groups, result),
        "longest": partial(tables.longest, result),
        **tell.values("unnamed", "kernels"),
        "unknown": partial(tables.unknown, result),
        "streams": partial(tables.streams, result),
        "reading": partial(tables.reading, result),
    }
