"""Run cost: from tokens and parameters to days, GPU-hours and money."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.one_gpu.run_cost import charts
from engine.calculators.one_gpu.run_cost.inputs import Inputs as Inputs
from engine.calculators.one_gpu.run_cost.inputs import Result as Result
from engine.calculators.one_gpu.run_cost.inputs import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.units import DAY
from engine.core.views import Challenge, Condition
from engine.formulas import run
from engine.formulas.overlap import COMPUTE_TIME

TITLE = "What a training run costs"
QUESTION = "How many days, GPU-hours and dollars does it take to train a model?"
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
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {
        **tell.values("rate", "days"),
        "gpu_time": tell.value("gpu_time", symbols={"Tr": "days"}),
        **tell.values("cost", "per_million", "total", "per_parameter", "step", "printed_tokens"),
        "curve": partial(charts.curve, tell, inputs, result),
        "published": partial(charts.published, tell, result),
        "formula": tell.formula("The speed of one GPU", run.TOKEN_RATE),
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
