"""The largest micro-batch: what fills the memory of a GPU, and what makes room."""

from engine.basis.views import View
from engine.calculators.one_gpu.largest_batch import values
from engine.calculators.one_gpu.largest_batch.advice import advice, challenge
from engine.calculators.one_gpu.largest_batch.charts import (
    lengths,
    memory_bars,
    memory_line,
    played_search,
    speed_bars,
)
from engine.calculators.one_gpu.largest_batch.inputs import Inputs as Inputs
from engine.calculators.one_gpu.largest_batch.model import fit

TITLE = "The largest batch that fits"
QUESTION = "How many sequences can a GPU work on at once, and what would make room for more?"
EQUATIONS = values.EQUATIONS
PRESETS = {
    "Llama 3 8B, 8,192 tokens, 8 H100": {"model": "llama-3-8b", "sequence_length": 8192},
    "The same 7B model, states replicated": {"zero_stage": "0"},
    "Llama 3 70B on 64 H100": {
        "model": "llama-3-70b",
        "sequence_length": 8192,
        "world_size": 64,
        "tensor_parallel": 8,
        "micro_batch_size": 1,
        "zero_stage": "1",
        "pipeline_parallel": 4,
        "framework": "megatron",
    },
    "GPT-3 175B on 1,024 A100, as in 2021": {
        "model": "gpt-3-175b",
        "gpu": "A100-SXM-80GB",
        "sequence_length": 2048,
        "world_size": 1024,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "zero_stage": "0",
        "recompute": "full",
        "framework": "megatron",
        "flash_attention": False,
        "micro_batch_size": 1,
    },
}


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    found = fit(inputs)
    return {
        "largest": values.largest(inputs, found),
        "fits": values.fits(inputs, found),
        "memory_line": memory_line(inputs, found),
        "memory_bars": memory_bars(inputs, found),
        "total": values.total(inputs, found),
        "fixed": values.fixed(found),
        "per_sequence": values.per_sequence(found),
        "usable": values.usable(inputs, found),
        "token_rate": values.token_rate(inputs, found),
        "possible": values.possible(found),
        "search": played_search(found),
        "advice": advice(inputs, found),
        "formula": values.formula(inputs, found),
        "speed_bars": speed_bars(inputs, found),
        "lengths": lengths(inputs),
        "challenge": challenge(inputs, found),
    }
