"""Stack explorer: a job from a hop of nanoseconds to a run of months."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from engine.calculators.whole_runs.stack_explorer import layers, published, ruler, step, wires
from engine.calculators.whole_runs.stack_explorer.challenge import challenge
from engine.calculators.whole_runs.stack_explorer.events import events
from engine.calculators.whole_runs.stack_explorer.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.stack_explorer.inputs import Inputs as Inputs
from engine.calculators.whole_runs.stack_explorer.result import Result as Result
from engine.calculators.whole_runs.stack_explorer.result import solve as solve
from engine.calculators.whole_runs.stack_explorer.result import steps_alone, terms
from engine.core.outputs import Presenter, Views
from engine.core.views import Receipt, Value
from engine.form.memory_fit import fit_badge
from engine.form.run import charts, verdicts
from engine.form.run import views as run_views
from engine.form.run.equations import MFU, STEP
from engine.form.what_if import views as levers
from engine.formulas.job import COST, RATE

TITLE = "The job"
QUESTION = "Where does every microsecond of one job go?"
EQUATIONS = (RATE, COST, MFU, STEP)

RUNS = {"forecast_time": terms, "run_time": steps_alone}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: the header, the ruler, the layers, and each tab."""
    present, job = Presenter(result, inputs, equations=EQUATIONS), result.job
    estimated, placed = job.found, events(result)
    values = run_views.estimate_values(estimated)
    return {
        **_header(present, values, result),
        "possible": verdicts.possible_badge(job.run, estimated.doubts, job.changes),
        "fits": fit_badge(estimated.fit),
        "published": partial(published.table, present, result),
        "ruler": partial(ruler.scene, inputs, placed, result.ruler),
        "event_time": ruler.time_value(present, inputs, placed),
        "event_panel": partial(ruler.panel, inputs, placed, result.step_time),
        "events": partial(ruler.table, inputs, placed),
        **present.values("decades"),
        "layer_panel": partial(layers.panel, present, inputs, job),
        "layers": partial(layers.table, present, job),
        **present.values("message_time"),
        "message_regime": wires.message_regime(present, inputs, result),
        "waterfall": partial(wires.waterfall, present, result),
        "three_times": partial(wires.axis_times, job),
        "map": lambda: wires.cluster_map(job.part()),
        "axes": partial(wires.axes, job),
        **present.values("overlap_gain"),
        "overlaps": partial(step.overlaps, job),
        "timeline": partial(step.timeline, result),
        "parts": partial(charts.time_bars, estimated),
        "look": partial(step.profiling_table, job),
        "commands": partial(step.commands, job),
        "first": levers.first_lever_badge(job.levers),
        "tornado": partial(levers.tornado, job.levers),
        "levers": partial(levers.gains_table, job.levers),
        "challenge": partial(challenge, inputs, result),
    }


_NONE = "it does not fit: no step runs"
_NO_STEP = Receipt(assumptions=("It does not fit, so no step runs.",))


def _header(present: Presenter, values: Mapping[str, Value], result: Result) -> dict[str, Value]:
    """Return speed and price, with a note if the job does not fit."""
    header = {
        "mfu": published.mfu_value(values["mfu"], result),
        **present.values("token_rate", "exposed_share", "cost_of_tokens"),
        "step_time": values["step_time"],
    }
    if result.job.runs:
        return header
    rates = ("token_rate", "cost_of_tokens")
    return header | {
        "mfu": replace(header["mfu"], note=_NONE),
        "step_time": replace(header["step_time"], note=_NONE),
        **{name: present.value(name, receipt=_NO_STEP, note=_NONE) for name in rates},
    }
