"""Overlap schedules: one job under five schedules, what each hides, and what none does."""

from functools import partial

from engine.calculators.whole_runs.overlap_schedules import views as tables
from engine.calculators.whole_runs.overlap_schedules.challenge import challenge
from engine.calculators.whole_runs.overlap_schedules.result import Result as Result
from engine.calculators.whole_runs.overlap_schedules.result import solve as solve
from engine.core.outputs import Teller, Views
from engine.core.units import MiB
from engine.form.overlap.charts import chosen, comparison, residue, stacked
from engine.form.overlap.inputs import Inputs as Inputs

TITLE = "Five schedules"
QUESTION = "How much communication can one job hide, and what is left in the end?"
PRESETS = {
    "8B on 64 GPUs, sharded only": {
        "model": "llama-3-8b",
        "tensor_parallel": "1",
        "pipeline_parallel": "1",
        "data_parallel": 64,
        "num_microbatches": 1,
        "tokens": 8192,
        "bucket": 25 * MiB,
    },
    "405B on 4,096 GPUs": {
        "model": "llama-3-405b",
        "pipeline_parallel": "16",
        "num_microbatches": 32,
    },
    "No contention": {"slow_down": 0.0},
    "Ports of 100 Gb/s": {"port": 12.5e9},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    one = result.outcomes[inputs.schedule]
    return {
        **tables.values(tell, inputs, result),
        "regime": tables.regime(one),
        "stacked": partial(stacked, result.outcomes),
        "comparison": partial(comparison, result.outcomes),
        "residue_bars": partial(residue, result.outcomes),
        "timeline": partial(chosen, inputs.schedule, result.work, one),
        "figures": partial(tables.strip_table, result),
        "traffic": partial(tables.traffic, tell, inputs, result),
        "challenge": partial(challenge, inputs, one),
    }
