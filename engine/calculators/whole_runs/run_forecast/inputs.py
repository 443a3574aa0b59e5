"""The inputs of the forecast of a job."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Choice, Number, Scalar
from engine.core.units import HOUR
from engine.form.fields import OwnConstants
from engine.form.forecast_jobs import JOBS
from engine.form.job_inputs import TRILLIONS
from engine.form.price import PRICE
from engine.form.saving_inputs import (
    LLAMA3_MTBF,
    BoardPower,
    Checkpoint,
    GpuMtbf,
    Interval,
    Overhead,
    Restart,
    Slower,
)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "7B on 64 H100": {"job": "7b", "tokens": JOBS["7b"].tokens},
    "Llama 3 405B, as published": {"job": "405b", "tokens": JOBS["405b"].tokens},
    "DeepSeek-V3, as published": {"job": "deepseek-v3", "tokens": JOBS["deepseek-v3"].tokens},
    "GPT 1T, as published": {"job": "gpt-1t", "tokens": JOBS["gpt-1t"].tokens, "power": 400.0},
    "One GPU a tenth slower": {"slower": 0.1},
}
LEAST, MOST = 0.125, 16.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    job: Annotated[
        str, Choice(label="Job", options={key: job.name for key, job in JOBS.items()})
    ] = "70b"
    tokens: Annotated[
        float, Number(label="Tokens", unit=TRILLIONS, low=1e9, high=1e14, scale="log", symbol="D")
    ] = JOBS["70b"].tokens
    more: Annotated[
        float,
        Number(
            label="GPUs, over those of the plan",
            low=LEAST,
            high=MOST,
            scale="log2",
            help="More or fewer replicas share the same batch.",
        ),
    ] = 1.0
    price: Annotated[float, PRICE] = 2 / HOUR
    slower: Slower = 0.0
    gpu_mtbf: GpuMtbf = LLAMA3_MTBF
    interval: Interval = HOUR
    checkpoint: Checkpoint = 60.0
    restart: Restart = 600.0
    power: BoardPower = 700.0
    overhead: Overhead = 1.1
    own_constants: OwnConstants = ""
