"""The challenge of the bucket lab: the fastest step on a machine with contention."""

from collections.abc import Mapping

from engine.calculators.data_parallelism.bucket_lab.inputs import Inputs
from engine.calculators.data_parallelism.bucket_lab.result import Result
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import MILLI, SECONDS, Gbit, MiB, with_digits
from engine.core.views import Challenge, Condition

START: Mapping[str, Scalar] = {"slow_down": 0.19, "tokens": 1024, "world_size": 512}
SOLUTION: Mapping[str, Scalar] = {**START, "bucket": 400 * MiB}
_TARGET = 160 * MILLI


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    fixed = (inputs.model, inputs.gpu, inputs.dtype, inputs.tokens, inputs.world_size)
    links = (inputs.port, inputs.ports, inputs.slow_down)
    conditions = (
        Condition(
            text="Llama 3.2 3B with gradients in fp32 on 512 H100, 1,024 tokens per GPU",
            met=fixed == ("llama-3.2-3b", "h100", "fp32", 1024, 512),
        ),
        Condition(
            text="eight ports of 400 Gb/s, 19 % contention",
            met=links == (400 * Gbit, 8, 0.19),
        ),
        Condition(
            text=say("a step of at most {t}", t=(_TARGET, with_digits(SECONDS))),
            met=result.step_time <= _TARGET,
        ),
    )
    return Challenge(
        title="Challenge: the right size",
        goal=say(
            "Few tokens on many GPUs, with contention. Bring the step to {t}.",
            t=(_TARGET, with_digits(SECONDS)),
        ),
        conditions=conditions,
        hints=(
            "Each all-reduce has its latency, and while it waits the multiprocessors are taken.",
            "Too large a bucket leaves a long tail. Too many small ones keep the wire busy longer.",
        ),
        start=START,
        solution=SOLUTION,
    )
