"""The numbers of a forecast."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import TRILLIONS, Choice, Number, Scalar
from engine.core.outputs import Output
from engine.core.units import (
    COUNT,
    HOUR,
    Count,
    Energy,
    GpuTime,
    Money,
    Power,
    Ratio,
    Seconds,
    Share,
    TokenRate,
)
from engine.form.fields import OwnConstants
from engine.form.forecast_jobs import JOBS
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
from engine.simulate.job.forecast import Forecast
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence

_POISSON = "Failures strike at random and independently, at a constant rate."
STEP = "The site's cost model gives the step; four of five measured steps lie in its range."
_GPUS = "Idle GPUs count: nobody else has them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The job on other numbers of GPUs, with the same batch.

    Attributes:
        more: GPUs over those of the plan.
        wall: of the run; `perfect`: if time were inverse to the number of GPUs.
        cost: of the run over that of the plan's own number of GPUs.
    """

    more: tuple[Ratio, ...]
    wall: tuple[Seconds, ...]
    perfect: tuple[Seconds, ...]
    cost: tuple[Ratio, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A job.

    Attributes:
        low_*, high_*: ends of the ranges.
        steps: of the run; `batch`: sequences in each; `draw`: power of all GPUs.
        grown: the batch that so many GPUs need, where it is larger than the job's; else 0.
        published, published_days: GPU hours and wall time that were published; 0 where none were.
    """

    wall_time: Annotated[
        Seconds,
        Output(
            "The run takes",
            "Tr",
            "{early} to {late} in four of five such predictions",
            assumes=(STEP, _POISSON, "No evaluation, no planned maintenance, no run repeated."),
        ),
    ]
    gpu_hours: Annotated[
        GpuTime, Output("GPU hours", "G", "{low_hours} to {high_hours}", assumes=(_GPUS,))
    ]
    cost: Annotated[
        Money,
        Output(
            "Cost",
            "K",
            "{low_cost} to {high_cost}, at {price}",
            assumes=("In the currency of the price; storage and network left out.",),
        ),
    ]
    energy: Annotated[
        Energy,
        Output(
            "Energy",
            "E",
            "{low_energy} to {high_energy}; {num_gpus} GPUs draw {draw} with their building",
            assumes=("Full power for the whole time; a GPU that waits draws less.",),
        ),
    ]
    work_time: Annotated[
        Seconds,
        Output(
            "If nothing fails and no GPU is slow",
            "Tk",
            "{steps} steps of {step}",
            color="compute",
            assumes=(STEP,),
        ),
    ]
    ideal: Annotated[
        Seconds,
        Output(
            "At the peak of the GPUs",
            note="{ideal_share} of the run",
            color="compute",
            assumes=("Megatron's count of the model's operations, over the dense peak.",),
            sources=("korthikanti2022",),
        ),
    ]
    ideal_share: Annotated[Share, Output("Ideal over real", assumes=(STEP,))]
    goodput: Annotated[
        Share,
        Output("Goodput", "g", "share of the time spent on work that lasts", assumes=(_POISSON,)),
    ]
    mtbf: Annotated[
        Seconds, Output("Something fails every", "M", "{failures} failures", assumes=(_POISSON,))
    ]
    slow_gpu: Annotated[
        Seconds,
        Output(
            "Lost to the slow GPU",
            note="by all that wait for it, in every step",
            assumes=("Its computation takes longer; messages and host are as they were.",),
        ),
    ]
    token_rate: Annotated[TokenRate, Output("Speed of one GPU", "r", assumes=(STEP,))]
    step: Annotated[Seconds, Output("Step", assumes=(STEP,))]
    slow_down: Annotated[Ratio, Output(symbol="m")]
    num_gpus: Annotated[Count, Output(symbol="n", of="job")]
    batch: Count
    grown: Count
    steps: Annotated[float, COUNT]
    failures: Annotated[float, COUNT]
    early: Seconds
    late: Seconds
    low_hours: GpuTime
    high_hours: GpuTime
    low_cost: Money
    high_cost: Money
    low_energy: Energy
    high_energy: Energy
    draw: Power
    published: GpuTime
    fit: MemoryFit
    forecast: Forecast
    evidence: Evidence
    curve: Curve


# The inputs of the forecast of a job.

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
