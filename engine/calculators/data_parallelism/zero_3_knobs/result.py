"""Every number of the page: the step with the reader's settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from engine.basis.told import Told
from engine.basis.units import Bytes, Count, Parameters, Seconds
from engine.calculators.data_parallelism.zero_3_knobs.inputs import Inputs
from engine.form.sharded.knobs import knob_fields, knob_job
from engine.simulate.fetched_step import Buckets, FetchedStep, Planned, fetched_step, planned
from engine.simulate.parameter_fetch import Knobs

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
class Result:
    """The step that the settings give."""

    step: FetchedStep
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


def step_of(inputs: Inputs, changes: Mapping[str, Any] | None = None) -> FetchedStep:
    """Return the simulated step of the inputs, some of them changed."""
    if changes:
        return step_of(replace(inputs, **changes))
    return fetched_step(
        knob_job(*knob_fields(inputs)),
        *_settings(inputs),
    )


def plan_of(inputs: Inputs, changes: Mapping[str, Any]) -> Planned:
    """Return what the step of the changed inputs gathers and keeps, without its times."""
    return planned(inputs.model, *_settings(replace(inputs, **changes)))


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
    step = step_of(inputs)
    return Result(
        step=step,
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
