"""A challenge on the exchange: make it fit behind the products of the experts."""

from collections.abc import Mapping

from engine.calculators.splitting_the_model.expert_exchange.inputs import Inputs
from engine.calculators.splitting_the_model.expert_exchange.result import Result
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import COUNT, MILLI, SECONDS, with_digits
from engine.core.views import Challenge, Condition

_MOST, _RANKS = 6 * MILLI, 32
START: Mapping[str, Scalar] = {
    "model": "deepseek-v3",
    "machine": "dgx-h100",
    "num_tokens": 4096,
    "expert_parallel": 64,
    "nodes_limit": 0,
    "way": "copies",
    "dispatch": "bf16",
    "combine": "bf16",
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "nodes_limit": 3,
    "way": "nodes",
    "dispatch": "fp8",
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    same = (inputs.model, inputs.machine, inputs.num_tokens) == tuple(
        START[name] for name in ("model", "machine", "num_tokens")
    )
    return Challenge(
        title="Challenge: out and back in six milliseconds",
        goal="DeepSeek-V3 on H100 in nodes of eight: bring the exchange of a layer down, with the "
        "experts over at least 32 GPUs and results still in bf16.",
        conditions=(
            Condition(
                text="DeepSeek-V3 on DGX H100, 4,096 tokens per GPU, no hot expert",
                met=same and inputs.hot == 1,
            ),
            Condition(text="experts over 32 GPUs or more", met=result.ranks >= _RANKS),
            Condition(
                text=say("a token may reach {n} nodes or more", n=(2, COUNT)),
                met=inputs.nodes_limit != 1,
            ),
            Condition(text="results come back in bf16", met=inputs.combine == "bf16"),
            Condition(
                text=say("out and back in {t} or less", t=(_MOST, with_digits(SECONDS))),
                met=result.time <= _MOST,
            ),
        ),
        hints=(
            "Eight copies of a token that go to the same node need to cross the network once.",
            "Fewer nodes per token mean fewer copies; the way out may be in fp8.",
        ),
        start=START,
        solution=SOLUTION,
    )
