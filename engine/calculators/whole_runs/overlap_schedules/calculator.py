"""Overlap schedules: one job under five schedules, what each hides, and what none does."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from engine.basis.units import MiB
from engine.basis.views import View
from engine.calculators.whole_runs.overlap_schedules.challenge import challenge
from engine.calculators.whole_runs.overlap_schedules.views import (
    regime,
    strip_table,
    traffic,
    values,
)
from engine.form.overlap.charts import chosen, comparison, residue, stacked
from engine.form.overlap.inputs import Inputs as Inputs
from engine.form.overlap.model import Job, Outcome, job, outcomes

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


# To look at another schedule of the same job takes no new simulation.
@lru_cache(maxsize=4)
def _simulated(inputs: Inputs) -> tuple[Job, Mapping[str, Outcome]]:
    work = job(inputs)
    return work, outcomes(inputs, work)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    work, found = _simulated(replace(inputs, schedule="blocking"))
    one = found[inputs.schedule]
    return {
        **values(inputs, work, found),
        "regime": regime(one),
        "stacked": stacked(inputs, found),
        "comparison": comparison(found),
        "residue_bars": residue(found),
        "timeline": chosen(inputs, work, one),
        "figures": strip_table(inputs, work, found),
        "traffic": traffic(inputs, work, found),
        "challenge": challenge(inputs, one),
    }
