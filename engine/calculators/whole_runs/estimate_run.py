"""Estimate a run: step time, memory and what they consist of, for any parallel plan."""

from dataclasses import dataclass
from functools import partial

from engine.basis.text import Text
from engine.basis.told import Views
from engine.catalog.reported import REPORTED
from engine.estimate import estimate
from engine.form.run import charts, verdicts
from engine.form.run.beside import beside
from engine.form.run.inputs import Inputs as Inputs
from engine.form.run.repair import run_of
from engine.form.run.result import Estimate, estimated
from engine.form.run.views import EQUATIONS as EQUATIONS
from engine.form.run.views import peak, values
from engine.run.file import Run

TITLE = "Estimate a run"
QUESTION = "How long does one training step take, where does the time go, and does it fit?"
PRESETS = {name: one.settings for name, one in REPORTED.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run nearest to the inputs, what had to change for it, and its estimate."""

    run: Run
    changes: tuple[Text, ...]
    found: Estimate


def solve(inputs: Inputs) -> Result:
    """Return the estimate of the run nearest to the inputs."""
    run, changes = run_of(inputs)
    return Result(run=run, changes=changes, found=estimate(run))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    run, found = result.run, result.found
    numbers = values(run, found)
    return {
        "step_time": numbers.pop("step_time"),
        "possible": verdicts.possible(run, result.changes),
        **numbers,
        "time_parts": partial(charts.time_parts, run, found),
        "fits": verdicts.fit(run, found),
        "peak_memory": peak(run, found),
        "memory_parts": partial(charts.memory_parts, run, found),
        "published": partial(beside, inputs, estimated(run, found)),
    }
