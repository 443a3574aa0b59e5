"""Parallelism modeler: which axis of a plan needs which wire, and what a step waits for."""

from engine.basis.views import View
from engine.calculators.splitting_the_model.parallelism_modeler import (
    charts,
    pipeline,
    values,
    verdicts,
)
from engine.calculators.splitting_the_model.parallelism_modeler.advice import advice, challenge
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.model import modeled
from engine.calculators.splitting_the_model.parallelism_modeler.published import table

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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    found = modeled(inputs)
    return {
        "ratio": values.ratio(inputs, found),
        "goal": verdicts.goal(inputs, found),
        "regime": verdicts.regime(found),
        "possible": verdicts.possible(inputs, found),
        "bandwidths": charts.bandwidths(found),
        "axes": charts.axes(found),
        "step": values.step(found),
        "token_time": values.token_time(found),
        "computation": values.computation(inputs, found),
        "utilization_after": pipeline.utilization(inputs, found),
        "bubble": pipeline.bubble(inputs, found),
        "operations": pipeline.operations(inputs, found),
        "boundary": pipeline.boundary(inputs, found),
        "transfer": pipeline.transfer(inputs, found),
        "transfer_total": pipeline.transfer_total(inputs, found),
        "needed_pipeline": values.needed_pipeline(inputs, found),
        "tensor_alone": values.tensor_alone(inputs, found),
        "activation": values.activation(inputs, found),
        "peak_memory": values.peak_memory(found),
        "breakdown": charts.breakdown(found),
        "strip": charts.strip(inputs, found),
        "stage_memory": charts.stage_memory_bars(found),
        "utilization_curve": charts.utilization_curve(inputs, found),
        "advice": advice(inputs, found),
        "formula": pipeline.bubble_formula(inputs, found),
        "same_batch": charts.same_batch(inputs, found),
        "published_digits": table(inputs, found),
        "challenge": challenge(inputs, found),
    }
