"""Inputs of the failure-lives calculator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core import units
from engine.core.inputs import Number, Scalar, Unit
from engine.core.units import DAY, HOUR
from engine.form.saving_inputs import (
    LLAMA3_GPUS,
    LLAMA3_MTBF,
    Checkpoint,
    GpuMtbf,
    Interval,
    Restart,
    Seed,
)

FEWEST, MOST = 8, 131_072
_DAYS = Unit(" days", DAY, {"h": HOUR, "d": DAY, "weeks": 7 * DAY}, quantity=units.SECONDS)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "BLOOM 176B, as reported": {
        "num_gpus": 384,
        "gpu_mtbf": 43_008 * HOUR,
        "work": 105 * DAY,
        "interval": 3 * HOUR,
        "checkpoint": 40.0,
    },
    "70B on 1,024 GPUs": {"num_gpus": 1024, "work": 22 * DAY},
    "A cluster that fails as RSC-1's did": {
        "num_gpus": 1024,
        "work": 22 * DAY,
        "gpu_mtbf": 8_090 * HOUR,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_gpus: Annotated[
        int, Number(label="GPUs", low=FEWEST, high=MOST, scale="log2", whole=True, symbol="n")
    ] = LLAMA3_GPUS
    work: Annotated[
        float,
        Number(label="Steps take", unit=_DAYS, low=DAY, high=365 * DAY, scale="log", symbol="T"),
    ] = 60 * DAY
    interval: Interval = HOUR
    checkpoint: Checkpoint = 60.0
    restart: Restart = 600.0
    gpu_mtbf: GpuMtbf = LLAMA3_MTBF
    seed: Seed = 1
