"""Token exchange of expert parallelism: bytes, links, nodes and overlap."""

from functools import partial

from engine.calculators.splitting_the_model.expert_exchange import charts
from engine.calculators.splitting_the_model.expert_exchange.challenge import challenge
from engine.calculators.splitting_the_model.expert_exchange.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.expert_exchange.result import Result as Result
from engine.calculators.splitting_the_model.expert_exchange.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.formulas.experts import EXCHANGE_BYTES

TITLE = "Sending tokens to experts, and back"
QUESTION = "What does it cost to send tokens to experts on other GPUs?"
EQUATIONS = (EXCHANGE_BYTES,)
PRESETS = {
    "A plain all-to-all in bf16": {"way": "copies", "nodes_limit": 0, "dispatch": "bf16"},
    "DeepSeek-V3 on H800": {"machine": "h800"},
    "One rack of 72 GPUs": {"machine": "gb200-nvl72"},
    "Mixtral 8x7B in one node": {
        "model": "mixtral-8x7b",
        "expert_parallel": 8,
        "nodes_limit": 0,
        "dispatch": "bf16",
    },
    "One expert four times as hot": {"hot": 4.0},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("time"),
        "sent": present.value("sent", symbols={"T": "num_tokens"}),
        **present.values("token_out", "claimed", "products", "ratio", "load", "step"),
        "regime": charts.regime(present, result),
        "over_ranks": partial(charts.over_ranks, present, result),
        "over_limits": partial(charts.over_limits, result),
        "formula": present.formula("With your numbers", EXCHANGE_BYTES, T="num_tokens"),
        "measured": partial(charts.measured, result),
        "challenge": challenge(inputs, result),
    }
