"""The memory ledger: what fills a GPU, over a step, and as the tools show it."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.one_gpu.memory_ledger import charts
from engine.calculators.one_gpu.memory_ledger.inputs import Inputs as Inputs
from engine.calculators.one_gpu.memory_ledger.result import Result as Result
from engine.calculators.one_gpu.memory_ledger.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.views import Badge, Challenge, Condition

TITLE = "Where the memory goes"
QUESTION = "What fills the memory of a GPU in a training step, and when?"
EQUATIONS = ()
PRESETS = {
    "8B over 8 GPUs": {"ranks": 8},
    "8B, LoRA on one GPU": {"trained": "lora", "recompute": "full"},
    "70B, QLoRA on one GPU": {
        "model": "llama-3-70b",
        "trained": "qlora",
        "recompute": "full",
        "sequence_length": 2048,
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        **tell.values("total"),
        "fits": _fits(tell, result),
        "ledger": partial(charts.ledger, tell, result),
        **tell.values(
            "reserved", "process", "parameters", "states", "activations", "logits", "usable"
        ),
        "step": partial(charts.step, tell, result),
        "three": partial(charts.three, tell, result),
        "trained_bars": partial(charts.trained_bars, tell, result),
        "challenge": _challenge(inputs, result),
    }


def _fits(tell: Teller, result: Result) -> Badge:
    if result.process <= result.capacity:
        return Badge(
            text="Fits", sentence=tell.say("{process} of {capacity}."), color="activations"
        )
    if result.states > result.usable:
        return Badge(
            text="The states alone do not fit",
            sentence=tell.say("{states} before one activation, and {usable} are usable."),
            color="buffers",
        )
    return Badge(
        text="Does not fit",
        sentence=tell.say("{process} at the peak, and the GPU has {capacity}."),
        color="buffers",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: Mapping[str, Scalar] = {"model": "llama-3-70b", "sequence_length": 4096, "ranks": 1}
    return Challenge(
        title="Challenge: tune 70B on one GPU",
        goal="Make Llama 3 70B train on a single H100 with 80 GB, on sequences of at least 1,024 "
        "tokens.",
        conditions=(
            Condition(
                text="Llama 3 70B on one H100 SXM",
                met=(inputs.model, inputs.gpu, inputs.ranks) == ("llama-3-70b", "H100-SXM", 1),
            ),
            Condition(
                text="sequences of at least 1,024 tokens", met=inputs.sequence_length >= 1024
            ),
            Condition(
                text="nvidia-smi shows less than there is", met=result.process <= result.capacity
            ),
        ),
        hints=(
            "Sixteen bytes per parameter are out of the question. What if most are frozen?",
            "Frozen weights need no gradients, and 4 bits are enough to read them.",
            "Then activations and what one layer works with are left.",
        ),
        start=start,
        solution={
            "model": "llama-3-70b",
            "ranks": 1,
            "trained": "qlora",
            "recompute": "full",
            "sequence_length": 1024,
        },
    )
