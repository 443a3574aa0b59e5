"""Every number of a calibration: the constants, and the job with and without them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from engine.calculators.whole_runs.calibrate.inputs import (
    ASSUMED,
    Inputs,
    job_on,
    machine_of,
    parse_measurements,
)
from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import OwnConstants
from engine.core.outputs import Output
from engine.core.units import Bandwidth, Count, FlopRate, Ratio, Seconds
from engine.run.logs.calibration import Timings
from engine.run.machines import cluster_of
from engine.run.run import Run
from engine.simulate.measured.calibration import Calibration, calibrate
from engine.simulate.measured.measured_cluster import (
    all_timings,
    fastest_rates,
    logged_step,
    num_timings,
    own_constants,
    with_log_pace,
)
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_range import step_range
from engine.simulate.step.what_if import run_step_time

_INFINITE = float("inf")  # of what the text does not measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The measurements, and the calibrated prediction.

    Attributes:
        machine: key of `NODES`; empty where neither text nor reader names one.
        run, evidence: the job, with the measured constants if there are any, and what is known.
        own: the constants; None where nothing could be fitted.
        found: the fits.
        logged: a logged step, and what it is of the catalog's prediction.
    """

    machine: str
    run: Run
    evidence: Evidence
    own: OwnConstants | None
    found: Calibration
    unread: Count
    logged: tuple[Seconds, float] | None
    step_time: Annotated[
        Seconds,
        Output("Step on your cluster", "T", "{ours} with the catalog's constants"),
    ]
    ours: Seconds
    least: Annotated[
        Seconds, Output("Range, from", assumes=("Eight in ten such steps lie in the range.",))
    ]
    most: Annotated[
        Seconds, Output("Range, to", assumes=("Eight in ten such steps lie in the range.",))
    ]
    width: Annotated[
        Ratio,
        Output(
            "Range against the catalog's",
            note="relative to the step",
            assumes=(
                "What differs from cluster to cluster and was measured narrows it, but never by "
                "more than what runs of one cluster have in common; errors of the measurement "
                "widen it.",
            ),
        ),
    ]
    product: Annotated[
        FlopRate,
        Output(
            "Fastest product",
            basis="measured",
            color="compute",
            assumes=("Two operations for each product of two elements, over the time.",),
        ),
    ]
    copy: Annotated[
        Bandwidth,
        Output(
            "Fastest copy",
            basis="measured",
            color="memory",
            assumes=("Bytes read and bytes written, over the time.",),
        ),
    ]
    collective: Annotated[
        Bandwidth,
        Output(
            "Fastest collective",
            basis="measured",
            color="communication",
            assumes=("Bus bandwidth, as nccl-tests count it.",),
        ),
    ]
    rows: Count


@lru_cache(maxsize=8)  # another job on the same machines changes no constant
def _measured(timings: Timings, machine: str) -> Calibration:
    return calibrate(timings, cluster_of(machine))


def solve(inputs: Inputs) -> Result:
    """Return the constants in the text, and the job's prediction with them."""
    text, machine = parse_measurements(inputs.measured), machine_of(inputs)
    timings = all_timings(text, machine or ASSUMED)
    run = job_on(inputs, machine or ASSUMED)
    calibration = Calibration(measured=(), points=())
    if machine:
        calibration = _measured(timings, machine)
    own = own_constants(calibration, NODES[machine].gpu) if machine else None
    if machine and text.log:
        own = with_log_pace(own or OwnConstants(gpu=NODES[machine].gpu), text, run)
    mine = replace(run, cluster=replace(run.cluster, own=own))
    ours, step = run_step_time(run).total, run_step_time(mine).total
    least, most, _ = step_range(mine, step)
    before = step_range(run, ours)
    fastest = fastest_rates(timings)
    return Result(
        machine=machine,
        run=mine,
        evidence=evidence(mine),
        own=own,
        found=calibration,
        unread=timings.unread,
        logged=logged_step(text, run),
        step_time=step,
        ours=ours,
        least=least,
        most=most,
        width=(most - least) / step / ((before[1] - before[0]) / ours),
        product=fastest.product or _INFINITE,
        copy=fastest.copy or _INFINITE,
        collective=fastest.collective or _INFINITE,
        rows=num_timings(timings),
    )
