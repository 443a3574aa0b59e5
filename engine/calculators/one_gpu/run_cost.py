"""Run cost: from tokens and parameters to days, GPU-hours and money."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.flop_conventions import Counting
from engine.catalog.models import MODELS
from engine.catalog.reader_defaults import USUAL_MFU
from engine.core.inputs import PERCENT, TRILLIONS, Choice, Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import (
    DAY,
    HOUR,
    FlopRate,
    GpuTime,
    Money,
    Operations,
    Parameters,
    Ratio,
    Seconds,
    TokenRate,
    Tokens,
)
from engine.core.views import Challenge, Condition, Line, Lines, Scale
from engine.form.conventions import COUNTINGS
from engine.form.missing_range import NO_RANGE
from engine.form.plan_to_reality import ASSUMES, NO_LOSSES, SOURCES, in_the_end
from engine.form.price import PRICE
from engine.form.published_sync_calculator import COMPUTE
from engine.formulas import run
from engine.formulas.overlap import COMPUTE_TIME, compute_time, tokens_of
from engine.formulas.parameters import active_parameters
from engine.formulas.token_operations import token_operations
from engine.simulate.job.forecast import JobTerms, job_run

_LEAST, _MOST = 0.05, 0.8
COLUMN = tuple(_LEAST * (_MOST / _LEAST) ** (step / 40) for step in range(41))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: model.name for key, model in MODELS.items()}
        ),
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
            help="Of the dense 16-bit peak, counted as chosen below.",
        ),
    ] = USUAL_MFU
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
    counting: Annotated[str, Choice(label="MFU counts", options=COUNTINGS, advanced=True)] = "six"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length",
            low=128,
            high=1 << 20,
            scale="log2",
            whole=True,
            advanced=True,
            help="Counts where attention is counted.",
        ),
    ] = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """GPU-hours and cost of the run, and the step time."""

    total: Annotated[
        Operations,
        Output(
            "Operations of the run",
            assumes=("Counted as chosen; by the rule of six, attention comes on top.",),
            sources=("kaplan2020",),
        ),
    ]
    rate: Annotated[
        TokenRate,
        Output(
            "One GPU trains on", "r", color="compute", assumes=("At the MFU, counted as chosen.",)
        ),
    ]
    gpu_time: Annotated[GpuTime, Output("GPU-hours", "G", "the steps alone", assumes=(NO_LOSSES,))]
    days: Annotated[Seconds, Output("Time", "Tk", "if nothing fails", assumes=(NO_LOSSES,))]
    in_the_end: Annotated[
        Seconds,
        Output(
            "Runs of this kind took in the end",
            note="{end_low} to {end_high} in eight of ten",
            assumes=ASSUMES,
            sources=SOURCES,
        ),
    ]
    cost: Annotated[Money, Output("Cost", "K", assumes=("In the currency of the price.",))]
    per_million: Annotated[
        Money, Output("Cost of a million tokens", assumes=("The cost of the run over its tokens.",))
    ]
    step: Annotated[
        Seconds,
        Output(
            "Computing time of a step",
            "Tc",
            color="compute",
            assumes=("One GPU, its own tokens, nothing exchanged.", NO_RANGE),
        ),
    ]
    printed_tokens: Annotated[
        Tokens,
        Output(
            "Tokens in 3.5 ms",
            note="a published page gives 3.5 ms without naming tokens",
            assumes=("The computing time that it prints, times the speed of this GPU.",),
            sources=("pingdo_sync",),
        ),
    ]
    per_parameter: Annotated[
        Ratio,
        Output(
            "Tokens per parameter",
            note="of those that work on one token",
            assumes=("Compute-optimal was about 20 in 2022.",),
        ),
    ]
    parameters: Annotated[
        Parameters,
        Output(
            "Parameters that work",
            "P",
            of="model",
            assumes=("With attention counted, six times as many parameters would cost as much.",),
        ),
    ]
    end_low: Seconds
    end_high: Seconds
    peak: Annotated[FlopRate, Output(symbol="F", of="gpu")]
    cost_column: tuple[Money, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    active, parameters = active_parameters(MODELS[inputs.model]), counted_as(inputs)
    gpu = ACCELERATORS[inputs.gpu]
    peak = gpu.peak["fp16"]
    rate = run.token_rate(parameters, inputs.utilization, peak)
    days = job_run(terms(inputs)).wall
    gpu_time = run.gpu_time(inputs.num_gpus, days)
    cost = run.cost(gpu_time, inputs.price)
    end_low, end, end_high = in_the_end(days)
    times = tuple(
        run.work_time(inputs.tokens, inputs.num_gpus, run.token_rate(parameters, share, peak))
        for share in COLUMN
    )
    return Result(
        total=run.TRAINING * parameters * inputs.tokens,
        rate=rate,
        gpu_time=gpu_time,
        days=days,
        in_the_end=end,
        end_low=end_low,
        end_high=end_high,
        cost=cost,
        per_million=cost / inputs.tokens * 1e6,
        step=compute_time(parameters, inputs.step_tokens, inputs.utilization, peak),
        printed_tokens=tokens_of(COMPUTE, parameters, inputs.utilization, peak),
        per_parameter=inputs.tokens / active,
        parameters=parameters,
        peak=peak,
        cost_column=tuple(
            run.cost(run.gpu_time(inputs.num_gpus, time), inputs.price) for time in times
        ),
    )


def counted_as(inputs: Inputs) -> Parameters:
    """Return the parameters that cost as much by six as a token does by the chosen count."""
    counting = cast(Counting, inputs.counting)
    counted = token_operations(MODELS[inputs.model], inputs.sequence_length, counting)
    return counted / run.TRAINING


def terms(inputs: Inputs) -> JobTerms:
    """Return the job of the page: its MFU is typed, and nothing fails."""
    peak = ACCELERATORS[inputs.gpu].peak["fp16"]
    rate = run.token_rate(counted_as(inputs), inputs.utilization, peak)
    return JobTerms(work=run.work_time(inputs.tokens, inputs.num_gpus, rate))


RUNS = {"days": terms, "gpu_time": terms}


def cost_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the cost over the MFU."""
    return present.curve(
        "Cost over MFU",
        over=Scale("utilization", "MFU", COLUMN[0], COLUMN[-1]),
        shows=Scale("cost", "cost", 0.0, result.cost_column[4]),
        x=COLUMN[4:],
        lines=(Line("cost", "cost", result.cost_column[4:], "compute"),),
        at=min(result.cost, result.cost_column[4]),
        now="{cost}",
        caption="Twice the MFU is half the bill. The number of GPUs changes the date, and not the "
        "bill.",
    )


TITLE = "What a training run costs"
QUESTION = "How many days, GPU-hours and dollars does it take to train a model?"
HEADLINE = "cost"
EQUATIONS = (run.TOKEN_RATE, run.WORK_TIME, run.GPU_HOURS, run.COST, COMPUTE_TIME)
PRESETS = {
    "Llama 2 7B on A100, 2T tokens": {
        "model": "llama-2-7b",
        "tokens": 2e12,
        "gpu": "A100-SXM-80GB",
    },
    "Llama 3 405B on 16,384 H100": {
        "model": "llama-3-405b",
        "tokens": 15.6e12,
        "num_gpus": 16_384,
        "utilization": 0.41,
    },
    "DeepSeek-V3 on 2,048 H800": {
        "model": "deepseek-v3",
        "tokens": 14.8e12,
        "gpu": "H800-SXM",
        "num_gpus": 2048,
        "utilization": 0.35,
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        **present.values("rate", "days"),
        "gpu_time": present.value("gpu_time", symbols={"Tr": "days"}),
        **present.values("in_the_end"),
        **present.values("cost", "per_million", "total", "per_parameter", "step", "printed_tokens"),
        "curve": partial(cost_curve, present, inputs, result),
        "formula": present.formula("The speed of one GPU", run.TOKEN_RATE),
        "challenge": _challenge(inputs, result),
    }


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {
        "model": "llama-3-70b",
        "tokens": 15e12,
        "num_gpus": 512,
        "utilization": 0.4,
    }
    return Challenge(
        title="Challenge: a budget of one million",
        goal="Train Llama 3 70B on at least 20 tokens per parameter within four weeks, for no more "
        "than a million at 2 per GPU-hour and an MFU of 40 %.",
        conditions=(
            Condition(
                text="Llama 3 70B on H100 SXM, MFU at most 40 %, at least 2 per GPU-hour",
                met=(inputs.model, inputs.gpu) == ("llama-3-70b", "H100-SXM")
                and inputs.utilization <= 0.4 + 1e-9
                and inputs.price >= 2 / 3600 * (1 - 1e-9),
            ),
            Condition(text="at least 20 tokens per parameter", met=result.per_parameter >= 20),
            Condition(text="at most 28 days", met=result.days <= 28 * DAY),
            Condition(text="costs at most a million", met=result.cost <= 1e6),
        ),
        hints=(
            "One of the conditions depends on the number of GPUs, and one does not.",
            "The cost is proportional to the tokens. How many does 20 per parameter make?",
        ),
        start=start,
        solution=dict(start) | {"tokens": 1.45e12, "num_gpus": 1024},
    )
