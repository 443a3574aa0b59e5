"""Run totals: published GPU-hours of whole runs beside the steps of their plans."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.reported_hours import WHOLE_RUNS
from engine.catalog.whole_run_record import WholeRun
from engine.core.inputs import Choice, Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import (
    DAY,
    GPU_TIME,
    RATIO,
    SECONDS,
    SHARE,
    TERA,
    Count,
    Parameters,
    Ratio,
    Seconds,
    Share,
)
from engine.core.views import Citation, Table
from engine.form.plan_to_reality import ASSUMES, HIGH_SHARE, LOW_SHARE, SOURCES, quantile
from engine.formulas import run
from engine.formulas.parameters import active_parameters

# Active parameters from which a run counts as one of a large model.
LARGE: Parameters = 9e9
DAYS = Unit(" days", DAY, {"h": 3600.0}, quantity=SECONDS)
_GROUPS = {
    "all": "all runs",
    "published": "runs whose plan is published",
    "small": "models below 9B parameters",
    "large": "models from 9B parameters on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    show: Annotated[str, Choice(label="Show", options=_GROUPS)] = "all"
    plan: Annotated[
        float,
        Number(label="Steps of your plan", unit=DAYS, low=DAY / 24, high=1000 * DAY, scale="log"),
    ] = 30 * DAY


def _output(label: str, note: str = "") -> Output:
    return Output(label, note=note, assumes=ASSUMES, sources=SOURCES, basis="compared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The factor from plan to reality of the runs shown, and what it makes of a plan."""

    runs: Annotated[Count, _output("Runs", "with a published total")]
    low: Annotated[Ratio, _output("One run in ten stays below")]
    median: Annotated[Ratio, _output("Published over plan, median")]
    high: Annotated[Ratio, _output("One run in ten is above")]
    likely: Annotated[
        Seconds,
        Output(
            "Runs of this kind took in the end",
            note="{soon} to {late} in eight of ten",
            assumes=ASSUMES,
            sources=SOURCES,
        ),
    ]
    soon: Seconds
    late: Seconds


def shown_runs(show: str) -> tuple[WholeRun, ...]:
    """Return the runs of a group."""
    member = {
        "all": lambda _: True,
        "published": lambda one: one.published_plan,
        "small": lambda one: active_parameters(one.shape) < LARGE,
        "large": lambda one: active_parameters(one.shape) >= LARGE,
    }[show]
    return tuple(filter(member, WHOLE_RUNS))


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    runs = shown_runs(inputs.show)
    factors = [whole.factor for whole in runs]
    low, median, high = (quantile(share, factors) for share in (LOW_SHARE, 0.5, HIGH_SHARE))
    return Result(
        runs=len(runs),
        low=low,
        median=median,
        high=high,
        likely=inputs.plan * median,
        soon=inputs.plan * low,
        late=inputs.plan * high,
    )


def mfu_of(whole_run: WholeRun) -> Share:
    """Return the MFU of a published run over its whole duration, interruptions included."""
    return run.utilization(
        active_parameters(whole_run.shape),
        whole_run.tokens / whole_run.gpu_time,
        ACCELERATORS[whole_run.gpu].peak["fp16"],
    )


def totals_table(present: Presenter, show: str) -> Table:
    """Return published GPU-hours beside those of the plan's steps, the furthest first."""
    return Table(
        title="Whole runs: published beside planned",
        columns=(
            "Run",
            "Tokens",
            "Published",
            "Plan",
            "Factor",
            "Whose plan",
            "Of the peak",
            "The hours hold, or leave out",
            "Source",
        ),
        rows=tuple(
            (
                f"{whole.name} on {ACCELERATORS[whole.gpu].name}",
                f"{whole.tokens / TERA:.3g}T",
                present.say("{g}", g=(whole.gpu_time, GPU_TIME)),
                present.say("{g}", g=(whole.forecast, GPU_TIME)),
                present.say("{f}", f=(whole.factor, RATIO)),
                "published" if whole.published_plan else "planner's best",
                present.say("{u}", u=(mfu_of(whole), SHARE)),
                whole.includes,
                Citation((whole.source,)),
            )
            for whole in sorted(shown_runs(show), key=lambda run: -run.factor)
        ),
        caption="Plan: the steps alone, by the step model, without failures. Of the peak: six "
        "operations per parameter and token of the whole run over the 16-bit peak; DeepSeek-V3 "
        "multiplied in fp8.",
    )


TITLE = "Whole runs, planned and real"
QUESTION = "How much longer than its plan does a training run take?"
HEADLINE = "median"
EQUATIONS = ()
PRESETS = {
    "A model below 9B": {"show": "small"},
    "Published plans only": {"show": "published"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the numbers and the table."""
    present = Presenter(inputs, result)
    return {
        **present.values("runs", "median", "low", "high", "likely"),
        "table": partial(totals_table, present, inputs.show),
    }
