"""The challenge of the explorer: another plan on the same slow wire."""

from engine.calculators.whole_runs.stack_explorer.inputs import Inputs
from engine.calculators.whole_runs.stack_explorer.result import START, Result, start
from engine.core.text import say
from engine.core.units import MONEY
from engine.core.views import Challenge, Condition

SOLUTION = {
    **START,
    "tensor_parallel": 8,
    "pipeline_parallel": 8,
    "zero_stage": "1",
    "recompute": "none",
}
_GIVEN = (
    "model",
    "gpu",
    "world_size",
    "global_batch_size",
    "sequence_length",
    "nic_bandwidth",
    "nics_per_node",
    "price",
)


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the goal: a quarter of the cost on the same machine."""
    start_job, price, job = start(), result.start_price, result.job
    return Challenge(
        title="The wire stays",
        goal="A 13B model is sharded over eight nodes that have one port of 100 Gb/s each. Bring "
        "the cost of a token to a quarter without another machine or another batch.",
        conditions=(
            Condition(
                text=say("at most {c} per billion tokens", c=(price / 4, MONEY)),
                met=result.cost_of_tokens <= price / 4,
            ),
            Condition(text="it fits", met=job.found.fit.verdict == "fits"),
            Condition(
                text="the same model, GPUs, ports, batch, sequences and price",
                met=not job.changes
                and all(getattr(inputs, n) == getattr(start_job, n) for n in _GIVEN),
            ),
        ),
        hints=(
            "On the Topology tab, see what crosses the network, and how often in a step.",
            "Which axis sends least, so that it may cross the slow port?",
            "With room in memory, what need not be computed twice?",
        ),
        start=START,
        solution=SOLUTION,
    )
