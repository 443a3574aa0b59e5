"""Inputs of the lives of a job: whose steps, how they are saved, and what fails."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core import units
from engine.core.inputs import Choice, Number, Scalar, Unit
from engine.core.units import DAY, HOUR, Seconds
from engine.form.forecast_jobs import JOBS, modeled_work
from engine.form.saving_inputs import (
    LLAMA3_GPUS,
    LLAMA3_MTBF,
    Checkpoint,
    GpuMtbf,
    Interval,
    Restart,
    Seed,
)

OWN = "own"
FORECAST = (
    "The forecast of the job without losses: its tokens at the step of the estimate, as fast on "
    "each GPU on any number of them. Or the days that you say."
)
FEWEST, MOST = 8, 131_072
_DAYS = Unit(" days", DAY, {"h": HOUR, "d": DAY, "weeks": 7 * DAY}, quantity=units.SECONDS)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "BLOOM 176B, as reported": {
        "num_gpus": 384,
        "job": OWN,
        "gpu_mtbf": 43_008 * HOUR,
        "work": 105 * DAY,
        "interval": 3 * HOUR,
        "checkpoint": 40.0,
    },
    "70B on 1,024 GPUs": {"num_gpus": 1024, "job": "70b"},
    "A cluster that fails as RSC-1's did": {
        "num_gpus": 1024,
        "job": "70b",
        "gpu_mtbf": 8_090 * HOUR,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_gpus: Annotated[
        int, Number(label="GPUs", low=FEWEST, high=MOST, scale="log2", whole=True, symbol="n")
    ] = LLAMA3_GPUS
    job: Annotated[
        str,
        Choice(
            label="Steps of",
            cites=False,
            options={key: job.name for key, job in JOBS.items()} | {OWN: "a job of your own"},
        ),
    ] = "405b"
    work: Annotated[
        float,
        Number(
            label="Days of your own job",
            unit=_DAYS,
            low=DAY,
            high=365 * DAY,
            scale="log",
            help="Its steps without losses. Counts where the job is your own.",
        ),
    ] = 60 * DAY
    interval: Interval = HOUR
    checkpoint: Checkpoint = 60.0
    restart: Restart = 600.0
    gpu_mtbf: GpuMtbf = LLAMA3_MTBF
    seed: Seed = 1


def work_of(inputs: Inputs) -> Seconds:
    """Return the time of all steps without losses."""
    if inputs.job == OWN:
        return inputs.work
    return modeled_work(inputs.job) / inputs.num_gpus
