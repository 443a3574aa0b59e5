"""State ladder: what every GPU keeps for the parameters, stage by stage of ZeRO."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import BILLIONS, Choice, Number
from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, PARAMETERS, Bytes, Count
from engine.basis.views import Axis, Bar, Bars, Receipt, Rule, Segment, Value, View
from engine.catalog.accelerators import ACCELERATORS
from engine.formulas.states import MIXED_PRECISION, ZERO_MEMORY, States, sharded_states

TITLE = "States on the ladder of ZeRO"
QUESTION = "What does a GPU hold before the first token arrives?"
EQUATIONS = (ZERO_MEMORY,)
_WORDS = {
    0: "replicated",
    1: "ZeRO-1: optimizer sharded",
    2: "ZeRO-2: and gradients",
    3: "ZeRO-3: and parameters",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e8, high=2e12, scale="log", symbol="P"),
    ] = 7e9
    world_size: Annotated[
        int, Number(label="GPUs", low=1, high=16_384, scale="log2", whole=True, symbol="N")
    ] = 8
    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    rungs = {
        stage: sharded_states(inputs.parameters, MIXED_PRECISION, stage, inputs.world_size)
        for stage in range(4)
    }
    return {
        "sharded": _value(inputs, 3, rungs[3]),
        "replicated": _value(inputs, 0, rungs[0]),
        "zero1": _value(inputs, 1, rungs[1]),
        "ladder": _ladder(inputs, rungs),
    }


def _total(states: States) -> Bytes:
    return states.parameters + states.gradients + states.optimizer


def _value(inputs: Inputs, stage: Count, states: States) -> Value:
    ranks = float(inputs.world_size)
    return Value(
        label=f"States per GPU, {_WORDS[stage].partition(':')[0]}",
        value=_total(states),
        quantity=BYTES,
        receipt=Receipt(
            equation=ZERO_MEMORY,
            symbols={
                "M": (_total(states), BYTES),
                "P": (inputs.parameters, PARAMETERS),
                "p": (MIXED_PRECISION.parameter, BYTES),
                "g": (MIXED_PRECISION.gradient, BYTES),
                "o": (MIXED_PRECISION.optimizer, BYTES),
                "a": (ranks if stage == 3 else 1.0, COUNT),
                "b": (ranks if stage >= 2 else 1.0, COUNT),
                "c": (ranks if stage else 1.0, COUNT),
            },
            inputs={"P": "parameters"} | ({"c": "world_size"} if stage else {}),
            assumptions=(
                "Mixed precision with Adam: 2 bytes for a parameter, 2 for its gradient, 12 for a "
                "full copy and two moments.",
            ),
        ),
        color="optimizer",
    )


def _ladder(inputs: Inputs, rungs: dict[int, States]) -> Bars:
    capacity = ACCELERATORS[inputs.gpu].memory
    most = max(capacity, _total(rungs[0]))
    return Bars(
        title="States per GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=f"zero{stage}",
                label=_WORDS[stage],
                segments=tuple(
                    Segment(key=key, label=key, value=getattr(states, key), color=key)
                    for key in ("parameters", "gradients", "optimizer")
                ),
            )
            for stage, states in rungs.items()
        ),
        rules=(Rule(key="capacity", label=say("{m}", m=(capacity, BYTES)), axis="x", at=capacity),),
        caption="The line is the memory of the GPU; activations come on top.",
    )
