"""A challenge: a third of the memory at hardly any waiting."""

from collections.abc import Mapping

from engine.calculators.data_parallelism.zero_3_knobs.inputs import Inputs
from engine.calculators.data_parallelism.zero_3_knobs.result import Result
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import BYTES, GB, SECONDS, Bytes, Seconds, as_given
from engine.core.views import Challenge, Condition

_MOST: Bytes = 1.5 * GB
_WAIT: Seconds = 17e-3
START: Mapping[str, Scalar] = {"model": "llama-3-8b", "ranks": 64, "tokens": 4096}
SOLUTION: Mapping[str, Scalar] = {**START, "live": 1e8, "bucket": 5e7}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    return Challenge(
        title="Challenge: give the memory back",
        goal=say(
            "Llama 3 8B on 64 H100: bring the buffers below {m}, and expose less than {t}.",
            m=(_MOST, as_given(BYTES)),
            t=(_WAIT, as_given(SECONDS)),
        ),
        conditions=(
            Condition(
                text="Llama 3 8B on 64 H100, 4,096 tokens, ports of at most 400 Gb/s",
                met=inputs.model == "llama-3-8b"
                and (inputs.ranks, inputs.tokens) == (64, 4096)
                and inputs.gpu == "h100"
                and inputs.port <= 50e9,
            ),
            Condition(
                text=say("buffers of at most {m}", m=(_MOST, as_given(BYTES))),
                met=result.buffers <= _MOST,
            ),
            Condition(
                text=say("less than {t} exposed", t=(_WAIT, as_given(SECONDS))),
                met=result.exposed < _WAIT,
            ),
        ),
        hints=(
            "The largest buffers are the gathered parameters and the bucket of gradients.",
            "A smaller bucket also leaves less to reduce after the backward pass.",
        ),
        start=START,
        solution=SOLUTION,
    )
