"""A challenge for the step composer: the one best order for room for two layers."""

from collections.abc import Mapping
from dataclasses import fields

from engine.calculators.whole_runs.step_composer.inputs import Inputs
from engine.calculators.whole_runs.step_composer.result import Result
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import COUNT, MILLI, SECONDS, as_given
from engine.core.views import Challenge, Condition

_ROOM, _TARGET = 2, 30 * MILLI
_FIXED = ("clipped", "gather", "reduction", "forward", "backward", "optimizer")
START: Mapping[str, Scalar] = {
    field.name: field.default for field in fields(Inputs) if isinstance(field.default, Scalar)
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "communication": "AG1-AG2-AG3-AG2b-AG1b-RS3-RS2-RS1",
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    conditions = (
        Condition(
            text="the times and the optimizer as at the start",
            met=all(getattr(inputs, name) == START[name] for name in _FIXED),
        ),
        Condition(
            text=say("never more than {n} gathered layers", n=(_ROOM, COUNT)),
            met=result.peak <= _ROOM,
        ),
        Condition(
            text=say("a step of at most {t}", t=(_TARGET, as_given(SECONDS))),
            met=result.step_time <= _TARGET * (1 + 1e-9),
        ),
    )
    return Challenge(
        title="Challenge: one order in 148",
        goal=say(
            "With room for two layers, 148 orders of the communication stream can run. One of "
            "them takes {t}. Find it.",
            t=(_TARGET, as_given(SECONDS)),
        ),
        conditions=conditions,
        hints=(
            "Look for a reduction that a gather stands behind on the chain with thick borders.",
            "Computation waits for gathers. Only the optimizer waits for reductions.",
        ),
        start=START,
        solution=SOLUTION,
    )
