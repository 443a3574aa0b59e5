"""Drop your trace: step breakdown of a PyTorch profiler trace, against the prediction."""

from functools import partial

from engine.calculators.whole_runs.trace_check import charts, tables
from engine.calculators.whole_runs.trace_check.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.trace_check.inputs import Inputs as Inputs
from engine.calculators.whole_runs.trace_check.inputs import Result as Result
from engine.calculators.whole_runs.trace_check.inputs import solve as solve
from engine.core.outputs import Presenter, Views
from engine.form.adjusted_inputs import with_changes
from engine.form.run.prediction_text import value_with_range

TITLE = "Read my trace"
QUESTION = "Where did the time of my steps go, who waited for whom, and what was to be expected?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("step_time"),
        "verdict": with_changes(
            charts.with_another_job(charts.verdict(result), result), result.changes
        ),
        "predicted": value_with_range(present, "predicted", result.evidence),
        **present.values("compute", "exposed", "hidden", "copies", "idle", "waited", "bus"),
        "parts": partial(charts.parts, result),
        "timeline": partial(charts.timeline, inputs, result),
        "compared": partial(tables.comparison, result),
        "every_step": partial(charts.every_step, result),
        "who_waits": partial(charts.who_waits, result),
        "ranks": partial(tables.ranks, result),
        "collectives": partial(tables.collectives, result),
        "groups": partial(tables.groups, result),
        "longest": partial(tables.longest, result),
        **present.values("unnamed", "kernels"),
        "unknown": partial(tables.unknown, result),
        "streams": partial(tables.streams, result),
        "reading": partial(tables.reading, result),
    }
