"""A challenge on the router: even loads without bending what the task wants."""

from collections.abc import Mapping

from engine.calculators.splitting_the_model.router_lab.inputs import Inputs, Result
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import RATIO, SHARE, as_given
from engine.core.views import Challenge, Condition

_EVEN, _KEPT, _DROPPED = 1.15, 0.01, 0.02
START: Mapping[str, Scalar] = {"balance": "loss", "loss_weight": 0.001, "skew": 1.0}
SOLUTION: Mapping[str, Scalar] = {**START, "balance": "bias", "bias_rate": 0.02}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    same = (inputs.num_experts, inputs.experts_per_token, inputs.skew) == (8, 2, START["skew"])
    return Challenge(
        title="Challenge: balance without bending",
        goal="Make the loads even within the steps of the lab, without a large capacity factor and "
        "without moving the preferences that the task wants.",
        conditions=(
            Condition(
                text="eight experts, two per token, a spread of 1, capacity factor 1.25 at most",
                met=same and 0 < inputs.capacity_factor <= 1.25,
            ),
            Condition(
                text=say("the busiest expert at {e} the mean or less", e=(_EVEN, RATIO)),
                met=result.imbalance <= _EVEN,
            ),
            Condition(
                text=say("less than {d} of the choices dropped", d=(_DROPPED, as_given(SHARE))),
                met=result.dropped < _DROPPED,
            ),
            Condition(
                text=say("less than {k} of the preferences given up", k=(_KEPT, as_given(SHARE))),
                met=result.given_up < _KEPT,
            ),
        ),
        hints=(
            "A loss balances by changing the preferences. What changes only the choice?",
            "A rate that is too small does not get there; one that is too large overshoots.",
        ),
        start=START,
        solution=SOLUTION,
    )
