"""The inputs of the cost of a run, and every number of the page."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reported_hours import WHOLE_RUNS, WholeRun
from engine.core.inputs import PERCENT, Choice, Number
from engine.core.outputs import Told
from engine.core.units import (
    HOUR,
    FlopRate,
    GpuTime,
    Money,
    Operations,
    Parameters,
    Ratio,
    Seconds,
    Share,
    TokenRate,
    Tokens,
)
from engine.form.job_inputs import TRILLIONS
from engine.form.missing_range import UNRANGED
from engine.form.price import PRICE
from engine.form.published_sync_calculator import COMPUTE
from engine.formulas import run
from engine.formulas.overlap import compute_time, tokens_of
from engine.formulas.parameters import active_parameters

_LEAST, _MOST = 0.05, 0.8
COLUMN = tuple(_LEAST * (_MOST / _LEAST) ** (step / 40) for step in range(41))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    model: Annotated[
        str,
        Choice(label="Model", cites=False, options={key: one.name for key, one in MODELS.items()}),
    ] = "llama-3-8b"
    tokens: Annotated[
        float, Number(label="Tokens", unit=TRILLIONS, low=1e9, high=1e14, scale="log", symbol="D")
    ] = 15e12
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    num_gpus: Annotated[
        int, Number(label="GPUs", low=1, high=131_072, scale="log2", whole=True, symbol="n")
    ] = 1024
    utilization: Annotated[
        float,
        Number(
            label="MFU",
            unit=PERCENT,
            low=_LEAST,
            high=_MOST,
            step=0.01,
            symbol="u",
            help="Of the dense 16-bit peak, with six operations per parameter and token.",
        ),
    ] = 0.4
    price: Annotated[float, PRICE] = 2 / HOUR
    step_tokens: Annotated[
        float,
        Number(
            label="Tokens of a GPU in one step",
            low=1,
            high=1 << 20,
            scale="log",
            whole=True,
            symbol="t",
        ),
    ] = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the run takes, and what a step of one GPU takes; `reached` is that of `WHOLE_RUNS`."""

    total: Annotated[
        Operations,
        Told(
            "Operations of the run",
            assumes=("Six for every parameter and every token; attention comes on top.",),
            sources=("kaplan2020",),
        ),
    ]
    rate: Annotated[
        TokenRate,
        Told("One GPU trains on", "r", color="compute", assumes=("Attention is left out.",)),
    ]
    gpu_time: Annotated[
        GpuTime, Told("GPU-hours", "G", assumes=("Nothing fails and nobody waits.",))
    ]
    days: Annotated[
        Seconds, Told("Time", "Tk", assumes=("Nothing fails and nobody waits for another.",))
    ]
    cost: Annotated[Money, Told("Cost", "K", assumes=("In the currency of the price.",))]
    per_million: Annotated[
        Money, Told("Cost of a million tokens", assumes=("The cost of the run over its tokens.",))
    ]
    step: Annotated[
        Seconds,
        Told(
            "Computing time of a step",
            "Tc",
            color="compute",
            assumes=("One GPU, its own tokens, nothing exchanged.", UNRANGED),
        ),
    ]
    printed_tokens: Annotated[
        Tokens,
        Told(
            "Tokens in 3.5 ms",
            note="a published page gives 3.5 ms without naming tokens",
            assumes=("The computing time that it prints, times the speed of this GPU.",),
            sources=("pingdo_sync",),
        ),
    ]
    per_parameter: Annotated[
        Ratio,
        Told(
            "Tokens per parameter",
            note="of those that work on one token",
            assumes=("Compute-optimal was about 20 in 2022.",),
        ),
    ]
    parameters: Annotated[Parameters, Told("Parameters that work", "P", of="model")]
    peak: Annotated[FlopRate, Told(symbol="F", of="gpu")]
    days_column: tuple[Seconds, ...]
    cost_column: tuple[Money, ...]
    reached: tuple[Share, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    parameters = active_parameters(MODELS[inputs.model])
    gpu = ACCELERATORS[inputs.gpu]
    peak = gpu.peak["fp16"]
    rate = run.token_rate(parameters, inputs.utilization, peak)
    days = run.work_time(inputs.tokens, inputs.num_gpus, rate)
    gpu_time = run.gpu_time(inputs.num_gpus, days)
    cost = run.cost(gpu_time, inputs.price)
    times = tuple(
        run.work_time(inputs.tokens, inputs.num_gpus, run.token_rate(parameters, share, peak))
        for share in COLUMN
    )
    return Result(
        total=run.TRAINING * parameters * inputs.tokens,
        rate=rate,
        gpu_time=gpu_time,
        days=days,
        cost=cost,
        per_million=cost / inputs.tokens * 1e6,
        step=compute_time(parameters, inputs.step_tokens, inputs.utilization, peak),
        printed_tokens=tokens_of(COMPUTE, parameters, inputs.utilization, peak),
        per_parameter=inputs.tokens / parameters,
        parameters=parameters,
        peak=peak,
        days_column=times,
        reached=tuple(map(reached, WHOLE_RUNS)),
        cost_column=tuple(
            run.cost(run.gpu_time(inputs.num_gpus, time), inputs.price) for time in times
        ),
    )


def reached(one: WholeRun) -> Share:
    """Return what share of the peak a whole run used, with all that went wrong."""
    parameters = active_parameters(MODELS[one.model])
    return run.utilization(
        parameters, one.tokens / one.gpu_time, ACCELERATORS[one.gpu].peak["fp16"]
    )
