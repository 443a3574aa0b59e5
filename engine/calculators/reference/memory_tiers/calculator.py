"""Memory tiers: which tensor of a step lives where, and what the move to another memory costs."""

from engine.basis.views import View
from engine.calculators.reference.memory_tiers import tables, values, views
from engine.calculators.reference.memory_tiers.inputs import Inputs as Inputs
from engine.calculators.reference.memory_tiers.model import place

TITLE = "Memory tiers"
QUESTION = "Which tensor can live in a slower memory, and what does a step pay for it?"
EQUATIONS = values.EQUATIONS
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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    found = place(inputs)
    return {
        "step": values.step(found),
        "fits": views.fits(found),
        "shelves": views.shelves(inputs, found),
        "compute": values.compute(inputs, found),
        "moving": values.moving(found),
        "efficiency": values.efficiency(found),
        "best": values.best(found),
        "host_update": values.host_update(found),
        "bound": views.bound(found),
        "times": tables.times(found),
        "tensors": tables.tensors(inputs, found),
        "memories": tables.memories(found),
    }
