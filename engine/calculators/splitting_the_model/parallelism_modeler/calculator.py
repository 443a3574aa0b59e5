"""Parallelism modeler: which axis of a plan needs which wire, and what a step waits for."""

from functools import partial

from engine.basis.told import Teller, Views
from engine.calculators.splitting_the_model.parallelism_modeler import (
    charts,
    values,
    verdicts,
)
from engine.calculators.splitting_the_model.parallelism_modeler.advice import advice, challenge
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.published import table
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.calculators.splitting_the_model.parallelism_modeler.result import solve as solve

TITLE = "Bandwidth and efficiency of a parallel plan"
QUESTION = "Which axis needs which wire, and what of it does a step wait for?"
EQUATIONS = values.EQUATIONS
PRESETS = {
    "A published calculator's inputs": {
        "tensor_parallel": 1,
        "data_parallel": 1,
        "published": True,
    },
    "Llama 3 405B on 16,384 H100": {
        "model": "llama-3-405b",
        "sequence_length": 8192,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "data_parallel": 128,
        "num_microbatches": 16,
        "schedule": "interleaved",
        "virtual_pipeline": 8,
    },
    "Llama 3 8B, 131,072 tokens": {
        "model": "llama-3-8b",
        "sequence_length": 131_072,
        "tensor_parallel": 8,
        "pipeline_parallel": 1,
        "context_parallel": 4,
        "data_parallel": 2,
    },
    "DeepSeek-V3 on 2,048 H800": {
        "model": "deepseek-v3",
        "gpu": "H800-SXM",
        "tensor_parallel": 1,
        "pipeline_parallel": 16,
        "expert_parallel": 64,
        "data_parallel": 128,
        "num_microbatches": 120,
        "precision": "fp8",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, result.asked, equations=values.EQUATIONS)
    plan = result.plan
    of_step, of_memory = values.of_step(tell, result), values.of_memory(tell, result)
    return {
        "ratio": values.ratio(tell, result),
        "goal": verdicts.goal(inputs, result),
        "regime": verdicts.regime(plan),
        "possible": verdicts.possible(inputs, result),
        "bandwidths": charts.bandwidths(plan),
        "axes": charts.axes(plan),
        **of_step,
        **values.of_pipeline(tell, inputs, result),
        "tensor_alone": values.tensor_alone(tell),
        **of_memory,
        "breakdown": charts.breakdown(plan),
        "strip": partial(charts.strip, inputs, result),
        "stage_memory": charts.stage_memory_bars(plan),
        "utilization_curve": partial(charts.utilization_curve, result),
        "advice": partial(advice, inputs, plan),
        "formula": values.bubble_formula(tell),
        "same_batch": partial(charts.same_batch, inputs, result),
        "published_digits": table(tell, inputs, result),
        "challenge": challenge(inputs, result),
    }
