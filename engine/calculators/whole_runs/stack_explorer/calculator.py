"""The stack explorer: one job, from a hop of nanoseconds to a run of months."""

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
from engine.core.outputs import Teller, Views
from engine.core.views import Receipt, Value
from engine.form.run import charts, verdicts
from engine.form.run import views as run_views
from engine.form.run.equations import MFU, STEP
from engine.form.what_if import views as levers
from engine.formulas.job import COST, RATE

TITLE = "The job"
QUESTION = "Where does every microsecond of one job go?"
EQUATIONS = (RATE, COST, MFU, STEP)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the header, the ruler, the layers, and what stands on each tab."""
    tell, found = Teller(result, inputs, equations=EQUATIONS), result.job
    estimated, placed = found.found, events(result)
    told = run_views.values(estimated)
    return {
        **_header(tell, told, result),
        "possible": verdicts.possible(found.run, estimated.doubts, found.changes),
        "fits": verdicts.fit(estimated),
        "published": partial(published.table, tell, result),
        "ruler": partial(ruler.scene, inputs, placed, result.ruler),
        "event_time": ruler.time_value(tell, inputs, placed),
        "event_panel": partial(ruler.panel, inputs, placed, result.step_time),
        "events": partial(ruler.table, inputs, placed),
        **tell.values("decades"),
        "layer_panel": partial(layers.panel, tell, inputs, found),
        "layers": partial(layers.table, tell, found),
        **tell.values("message_time"),
        "message_regime": wires.message_regime(tell, inputs, result),
        "waterfall": partial(wires.waterfall, tell, result),
        "three_times": partial(wires.three_times, found),
        "map": lambda: wires.cluster_map(found.part()),
        "axes": partial(wires.axes, found),
        **tell.values("overlap_gain"),
        "overlaps": partial(step.overlaps, found),
        "timeline": partial(step.timeline, inputs, result),
        "parts": partial(charts.time_parts, estimated),
        "look": partial(step.look, found),
        "commands": partial(step.commands, found),
        "first": levers.first(found.levers),
        "tornado": partial(levers.tornado, found.levers),
        "levers": partial(levers.table, found.levers),
        "challenge": partial(challenge, inputs, result),
    }


_NONE = "it does not fit: no step runs"
_NO_STEP = Receipt(assumptions=("It does not fit, so no step runs.",))


def _header(tell: Teller, told: Mapping[str, Value], result: Result) -> dict[str, Value]:
    """Return speed and price; what does not fit has neither, and its figures say so."""
    found = {
        "mfu": published.beside(told["mfu"], result),
        **tell.values("token_rate", "exposed_share", "cost_of_tokens"),
        "step_time": told["step_time"],
    }
    if result.job.fits:
        return found
    rates = ("token_rate", "cost_of_tokens")
    return found | {
        "mfu": replace(found["mfu"], note=_NONE),
        "step_time": replace(found["step_time"], note=_NONE),
        **{name: tell.value(name, receipt=_NO_STEP, note=_NONE) for name in rates},
    }
