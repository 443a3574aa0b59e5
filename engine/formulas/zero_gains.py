"""What ZeRO's sharding saves, and which model fits because of it."""

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Parameters, Share
from engine.formulas import states
from engine.formulas.states import StateBytes, sharded_states

ZERO_SAVING = Equation(
    name="zero_saving",
    tex=(
        r"\v{s} = 1 - \frac{\v{p}/\v{a} + \v{g}/\v{b} + \v{o}/\v{c}}"
        r"{\v{p} + \v{g} + \v{o}}"
    ),
    symbols={"s": ("s", "share of the states that is saved")}
    | {key: states.ZERO_MEMORY.symbols[key] for key in ("p", "a", "g", "b", "o", "c")},
    sources=("rajbhandari2020",),
    title="Share of the states that ZeRO saves",
)


def zero_saving(types: StateBytes, zero_stage: Count, ranks: Count) -> Share:
    """Return the share of the states that sharding takes off a rank: 37.5 % on two ranks, stage 1.

    Nothing kept is nothing saved.
    """
    whole = types.parameter + types.gradient + types.optimizer
    if not whole:
        return 0.0
    left = sharded_states(1.0, types, zero_stage, ranks)
    return 1 - (left.parameters + left.gradients + left.optimizer) / whole


def largest_model(memory: Bytes, types: StateBytes, zero_stage: Count, ranks: Count) -> Parameters:
    """Return how many parameters fit if the states fill the memory: table 2 of the ZeRO paper."""
    states = sharded_states(1.0, types, zero_stage, ranks)
    return memory / (states.parameters + states.gradients + states.optimizer)
