"""Memory tiers: placement of a step's tensors in memories, and the cost of moving them."""

from functools import partial

from engine.calculators.reference.memory_tiers import figures, tables, values
from engine.calculators.reference.memory_tiers.inputs import Inputs as Inputs
from engine.calculators.reference.memory_tiers.values import EQUATIONS as EQUATIONS
from engine.calculators.reference.memory_tiers.values import Result
from engine.calculators.reference.memory_tiers.values import solve as solve
from engine.core.outputs import Presenter, Views

TITLE = "Memory tiers"
QUESTION = "Which tensor can live in a slower memory, and what does a step pay for it?"
_OFFLOAD = {"gradients_in": "host", "master_in": "host", "moments_in": "host"}
PRESETS = {
    "Everything in HBM, 8 GPUs": {"ranks": 8},
    "ZeRO-Offload, 13B on one GPU": {"model": "llama-2-13b", "sequence_length": 4096, **_OFFLOAD},
    "The same, 64 micro-batches": {
        "model": "llama-2-13b",
        "sequence_length": 4096,
        "num_microbatches": 64,
        **_OFFLOAD,
    },
    "ZeRO-Infinity, 405B on one node": {
        "model": "llama-3-405b",
        "ranks": 8,
        "micro_batch_size": 4,
        "parameters_in": "nvme",
        "gradients_in": "nvme",
        "master_in": "nvme",
        "moments_in": "nvme",
        "checkpoints_in": "host",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present, placed = Presenter(inputs, result, equations=EQUATIONS), result.placed
    return {
        "step": present.value("step"),
        "fits": figures.fits_badge(placed),
        "shelves": partial(figures.shelves, result),
        **values.compute_values(present, result),
        "host_update": values.host_update_value(present, result),
        "bound": figures.limit_badge(placed),
        "times": tables.time_bars(placed),
        "tensors": tables.tensor_table(result),
        "memories": tables.memory_table(result),
        "copies": tables.copy_table(),
    }
