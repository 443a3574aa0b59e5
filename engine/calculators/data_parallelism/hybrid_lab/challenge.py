"""The challenge of the lab: a model that one node cannot hold."""

from collections.abc import Mapping

from engine.calculators.data_parallelism.hybrid_lab.inputs import Inputs, Result
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import BYTES, SECONDS, SHARE, Bytes, Gbit, Share, as_given
from engine.core.views import Challenge, Condition

_MOST: Share = 0.2
_ROOM: Bytes = 35e9
START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "ranks": "128",
    "shard": 8,
    "second": False,
    "micro_batches": 1,
    "tokens": 4096,
    "port": 50 * Gbit,
}
SOLUTION: Mapping[str, Scalar] = {**START, "shard": 128, "second": True, "tokens": 8192}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge, with what is met."""
    share = result.exposed / result.step_time
    return Challenge(
        title="Challenge: 70B on a slower network",
        goal=say(
            "Train Llama 3 70B on 128 H100 with ports of 50 Gb/s, at most 8,192 tokens in a "
            "micro-batch and {m} of states and buffers, and expose less than {s} of the step.",
            s=(_MOST, as_given(SHARE)),
            m=(_ROOM, as_given(BYTES)),
        ),
        conditions=(
            Condition(
                text="Llama 3 70B on 128 H100, ports of at most 50 Gb/s",
                met=inputs.model == "llama-3-70b"
                and inputs.ranks == "128"
                and inputs.gpu == "h100"
                and inputs.port <= 50 * Gbit,
            ),
            Condition(
                text="at most 8,192 tokens in a micro-batch, one micro-batch",
                met=inputs.tokens <= 8192 and inputs.micro_batches == 1,
            ),
            Condition(
                text=say("at most {m} for states and buffers", m=(_ROOM, as_given(BYTES))),
                met=result.peak <= _ROOM,
            ),
            Condition(
                text=say("less than {s} of {t} exposed", s=(_MOST, as_given(SHARE)),
                         t=(result.step_time, SECONDS)),
                met=share < _MOST,
            ),
        ),
        hints=(
            "A node of eight cannot hold these states in so little room.",
            "What crosses between nodes twice can cross once.",
            "Twice the tokens compute twice as long, and are gathered for no longer.",
        ),
        start=START,
        solution=SOLUTION,
    )  # fmt: skip
