"""ZeRO saving: memory saved per GPU by sharding the states, and the traffic that it adds."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.data_parallelism.zero_saving.charts import bars, curve, volume
from engine.calculators.data_parallelism.zero_saving.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.zero_saving.result import Result
from engine.calculators.data_parallelism.zero_saving.result import solve as solve
from engine.calculators.data_parallelism.zero_saving.values import published, regime, values
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, GB, with_digits
from engine.core.views import Challenge, Condition
from engine.formulas.states import ZERO_MEMORY
from engine.formulas.volumes import ZERO_BYTES
from engine.formulas.zero_gains import ZERO_SAVING

TITLE = "What ZeRO saves"
QUESTION = "How much of the states does each stage take off a GPU, and what does it send for it?"
EQUATIONS = (ZERO_MEMORY, ZERO_SAVING, ZERO_BYTES)
PRESETS = {
    "The published case: two GPUs": {"ranks": 2, "zero_stage": "1"},
    "Llama 3 70B on 64 GPUs": {"model": "llama-3-70b", "ranks": 64},
    "Megatron: gradients summed in fp32": {"gradient_bytes": 4.0},
    "Everything in fp32": {"parameter_bytes": 4.0, "gradient_bytes": 4.0, "optimizer_bytes": 8.0},
    "Four micro-batches": {"num_microbatches": 4, "zero_stage": "2"},
}
MOST = 60 * GB
START: Mapping[str, int | str] = {
    "model": "llama-2-13b",
    "zero_stage": "2",
    "ranks": 8,
    "num_microbatches": 4,
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    outputs = values(present, inputs, result)
    return {
        "saving": outputs["saving"],
        "bytes_per_parameter": outputs["bytes_per_parameter"],
        "held": outputs["held"],
        "regime": regime(inputs, result),
        "curve": partial(curve, inputs, result),
        "bars": partial(bars, present, inputs, result),
        "sent": outputs["sent"],
        "extra": outputs["extra"],
        "volume": partial(volume, present, inputs, result),
        "published": partial(published, inputs, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    micro = int(START["num_microbatches"])
    types = (inputs.parameter_bytes, inputs.gradient_bytes, inputs.optimizer_bytes)
    return Challenge(
        title="Challenge: lighter, and not a byte more",
        goal=say(
            "Bring the states of Llama 2 13B to {m} or less on each GPU, with {g} micro-batches "
            "per step, and send no more than plain data parallelism does.",
            m=(MOST, with_digits(BYTES)),
            g=(micro, COUNT),
        ),
        conditions=(
            Condition(
                text=say("Llama 2 13B, {g} micro-batches per step or more", g=(micro, COUNT)),
                met=inputs.model == START["model"] and inputs.num_microbatches >= micro,
            ),
            Condition(
                text="2 bytes for parameters and gradients, 12 for the optimizer",
                met=types == (2.0, 2.0, 12.0),
            ),
            Condition(
                text=say("at most {m} of states on each GPU", m=(MOST, with_digits(BYTES))),
                met=result.held <= MOST,
            ),
            Condition(
                text="no more bytes sent than by plain data parallelism",
                met=result.extra <= 1 + 1e-9,
            ),
        ),
        hints=(
            "Stage 2 would fit, but look at what it sends when gradients are accumulated.",
            "Stage 1 leaves four bytes per parameter and a share of twelve. How small must the "
            "share become?",
        ),
        start=START,
        solution={**START, "zero_stage": "1", "ranks": 32},
    )
