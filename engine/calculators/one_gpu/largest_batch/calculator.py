"""The largest micro-batch: the memory of a GPU by part, and the changes that free it."""

from functools import partial

from engine.calculators.one_gpu.largest_batch import values
from engine.calculators.one_gpu.largest_batch.advice import advice, challenge
from engine.calculators.one_gpu.largest_batch.charts import (
    largest_by_length,
    memory_bars,
    memory_line,
    search_animation,
    speed_bars,
)
from engine.calculators.one_gpu.largest_batch.inputs import Inputs as Inputs
from engine.calculators.one_gpu.largest_batch.result import Result as Result
from engine.calculators.one_gpu.largest_batch.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.form.run.equations import PEAK
from engine.form.run.verdicts import possible_badge
from engine.formulas.batch import LARGEST_BATCH, MEMORY_LINE, USABLE_MEMORY

TITLE = "The largest batch that fits"
QUESTION = "How many sequences can a GPU work on at once, and what would make room for more?"
EQUATIONS = (LARGEST_BATCH, PEAK, MEMORY_LINE, USABLE_MEMORY)
PRESETS = {
    "Llama 3 8B, 8,192 tokens, 8 H100": {"model": "llama-3-8b", "sequence_length": 8192},
    "The same 7B model, states replicated": {"zero_stage": "0"},
    "The same, adapters only (LoRA)": {"zero_stage": "0", "trained": "lora"},
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


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present, fit = Presenter(result, inputs, equations=EQUATIONS), result.found
    outputs = values.values(present, result)
    return {
        "largest": values.largest(present, result),
        "fits": values.fits(present, result),
        "memory_line": partial(memory_line, inputs, fit),
        "memory_bars": partial(memory_bars, inputs, result),
        **outputs,
        "possible": possible_badge(fit.run, result.doubts, result.changes),
        "search": partial(search_animation, result),
        "advice": partial(advice, inputs, result),
        "formula": present.formula("The closed form, with your numbers", LARGEST_BATCH),
        "speed_bars": partial(speed_bars, result),
        "lengths": partial(largest_by_length, result),
        "challenge": challenge(inputs, fit, result.token_rate),
    }
