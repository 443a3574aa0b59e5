"""The challenge of the five schedules."""

from collections.abc import Mapping

from engine.core.text import say
from engine.core.units import LINK_SPEED, SHARE, Gbit, as_given
from engine.core.views import Challenge, Condition
from engine.form.overlap.inputs import Inputs
from engine.simulate.overlap.overlap_step import Outcome

START: Mapping[str, float | int | str | bool] = {
    "schedule": "paired",
    "port": 100 * Gbit,
    "prefetch": 0,
}


SOLUTION: Mapping[str, float | int | str | bool] = {**START, "prefetch": 1, "reshard": False}


_TARGET = 0.25


def challenge(inputs: Inputs, one: Outcome) -> Challenge:
    """Return the challenge: a small residue on slow ports."""
    conditions = (
        Condition(
            text="Llama 3 70B on 1,024 H100, split as at the start",
            met=(
                inputs.model,
                inputs.gpu,
                inputs.tensor_parallel,
                inputs.pipeline_parallel,
                inputs.data_parallel,
            )
            == ("llama-3-70b", "h100", "8", "4", 32),
        ),
        Condition(
            text=say("ports of at most {p}", p=(100 * Gbit, LINK_SPEED)),
            met=inputs.port <= 100 * Gbit,
        ),
        Condition(
            text="no more tokens, no more micro-batches, no less contention or jitter",
            met=inputs.tokens <= 16_384
            and inputs.num_microbatches <= 16
            and inputs.slow_down >= 0.19
            and inputs.deviation >= 0.01,
        ),
        Condition(
            text="parameters and gradients sharded (schedules 3 to 5)",
            met=inputs.schedule in ("sharded", "async", "paired"),
        ),
        Condition(
            text=say("a residue below {r} of the step", r=(_TARGET, as_given(SHARE))),
            met=one.residue < _TARGET * one.step,
        ),
    )
    return Challenge(
        title="Challenge: a quarter of the network",
        goal="With ports of 100 Gb/s, get the residue of a sharded schedule below a quarter.",
        conditions=conditions,
        hints=(
            "Without prefetch, every gather is waited for.",
            "Count how often the same parameters cross the network in one step.",
        ),
        start=START,
        solution=SOLUTION,
    )
