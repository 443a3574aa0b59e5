"""Every number of the page: the step with the reader's settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from engine.calculators.data_parallelism.zero_3_knobs.inputs import RANGES, Inputs
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.slices import Running, Slices, steps_done
from engine.core.units import Bytes, Count, Parameters, Seconds
from engine.form.sharded.knobs import knob_fields, knob_job
from engine.simulate.data_parallel.fetched_step import (
    BUCKET,
    Buckets,
    FetchedStep,
    fetched_step,
    planned,
)
from engine.simulate.data_parallel.parameter_fetch import LIVE, PERSISTENT, PREFETCH, REUSE, Knobs

DEFAULTS = {
    "prefetch": PREFETCH,
    "live": LIVE,
    "reuse": REUSE,
    "persistent": PERSISTENT,
    "bucket": BUCKET,
}
# What the figure of a setting shows: exposed time, buffers or collectives.
SHOWN = {
    "live": "buffers",
    "prefetch": "exposed",
    "bucket": "exposed",
    "reuse": "buffers",
    "persistent": "calls",
}
# name -> value that the board tries instead of the default
TRIED = {"live": 1e8, "prefetch": 1e6, "bucket": 5e7, "reuse": 1e10, "persistent": 2e7}
_POINTS = 9
_ASSUMED: tuple[str, ...] = (
    "One micro-batch; every matrix is a module; gathers and reductions take turns on the wire.",
    "A module's own fetch starts when the module before it has ended. A host that runs ahead of "
    "the GPU hides more.",
)


def _told(label: str, note: str, color: str = "ink") -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=_ASSUMED,
        sources=("deepspeed_fetch", "rajbhandari2020"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What a setting changes over its range, with the reader's value and with the default."""

    x: tuple[Parameters, ...]
    y: tuple[float, ...]
    now: float
    default: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step that the settings give.

    Attributes:
        usual: the step with the defaults, overlap as the reader has it.
        curves: setting -> what `SHOWN` names over its range.
        tried: with the defaults, with each value of `TRIED`, without overlap.
    """

    step: FetchedStep
    usual: Later[FetchedStep]
    curves: Mapping[str, Running[Curve]]
    tried: Running[tuple[FetchedStep, ...]]
    exposed: Annotated[
        Seconds, _told("Exposed communication", "of a step of {step_time}", "communication")
    ]
    step_time: Annotated[Seconds, _told("Step", "without its optimizer")]
    buffers: Annotated[
        Bytes, _told("Buffers", "{gathered} gathered, {reduced} for gradients", "buffers")
    ]
    calls: Annotated[
        Count, _told("Collectives", "{gathers} gathers, {reductions} reductions", "communication")
    ]
    most: Annotated[Parameters, _told("Gathered at once", "elements, at most", "parameters")]
    gathered: Bytes
    reduced: Bytes
    gathers: Count
    reductions: Count
    states: Annotated[Bytes, _told("States", "on each GPU between steps", "optimizer")]
    sent: Annotated[Bytes, _told("Sent by each GPU", "per step", "communication")]


def _step(inputs: Inputs, changes: Mapping[str, Any]) -> FetchedStep:
    """Return the simulated step of the inputs, some of them changed."""
    inputs = replace(inputs, **changes)
    return fetched_step(knob_job(*knob_fields(inputs)), *_settings(inputs))


def _settings(inputs: Inputs) -> tuple[Knobs, Buckets]:
    knobs = Knobs(
        prefetch=inputs.prefetch,
        live=inputs.live,
        reuse=inputs.reuse,
        persistent=inputs.persistent,
    )
    return knobs, Buckets(size=inputs.bucket, overlap=inputs.overlap)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    step = _step(inputs, {})
    return Result(
        step=step,
        usual=Later(partial(_step, inputs, DEFAULTS)),
        curves={name: Running(_curve(inputs, name)) for name in SHOWN},
        tried=Running(_tried(inputs)),
        exposed=step.seen.exposed,
        step_time=step.seen.length,
        buffers=step.buffers,
        calls=step.gathers + step.reductions,
        most=step.fetched.live,
        gathered=step.live,
        reduced=step.bucket,
        gathers=step.gathers,
        reductions=step.reductions,
        states=step.states,
        sent=step.sent,
    )


def _curve(inputs: Inputs, name: str) -> Slices[Curve]:
    """Find what one setting changes over its range, the others as they are."""
    low, high = RANGES[name]
    xs = tuple(low * (high / low) ** (i / (_POINTS - 1)) for i in range(_POINTS))
    ys = []
    for place, x in enumerate(xs, start=1):
        yield steps_done(place, _POINTS, "Point")
        ys.append(_shown(inputs, name, x))
    now, default = (_shown(inputs, name, x) for x in (getattr(inputs, name), DEFAULTS[name]))
    return Curve(x=xs, y=tuple(ys), now=now, default=default)


def _shown(inputs: Inputs, name: str, value: float) -> float:
    """Return what the figure of a setting shows; times alone need a step that is played."""
    changes: Mapping[str, Any] = {name: value}
    if SHOWN[name] == "exposed":
        return _step(inputs, changes).seen.exposed
    plan = planned(inputs.model, *_settings(replace(inputs, **changes)))
    return plan.buffers if SHOWN[name] == "buffers" else float(plan.gathers + plan.reductions)


def _tried(inputs: Inputs) -> Slices[tuple[FetchedStep, ...]]:
    """Find every setting changed alone, the job as the reader has it."""
    usual = {**DEFAULTS, "overlap": True}
    found = [_step(inputs, usual)]
    for place, (name, value) in enumerate(TRIED.items(), start=1):
        yield steps_done(place, len(TRIED), "Setting")
        found.append(_step(inputs, {**usual, name: value}))
    return *found, _step(inputs, {**usual, "overlap": False})
