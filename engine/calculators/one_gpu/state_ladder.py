"""State ladder: what every GPU keeps for the parameters, stage by stage of ZeRO."""

from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.core.inputs import BILLIONS, Choice, Number
from engine.core.outputs import Figure, Teller, Told, Views
from engine.core.units import BYTES, COUNT, Bytes, Count
from engine.core.views import Bar, Bars, Rule, Segment, Value
from engine.formulas.states import MIXED_PRECISION, ZERO_MEMORY, States, sharded_states
from engine.run.parallelism import Training
from engine.simulate.memory.allocator import usable

TITLE = "States on the ladder of ZeRO"
_ANY = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
QUESTION = "What does a GPU hold before the first token arrives?"
EQUATIONS = (ZERO_MEMORY,)
_WORDS = (
    "replicated",
    "ZeRO-1: optimizer sharded",
    "ZeRO-2: and gradients",
    "ZeRO-3: and parameters",
)


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


def _told(stage: Count) -> Told:
    return Told(
        f"States per GPU, {_WORDS[stage].partition(':')[0]}",
        "M",
        color="optimizer",
        assumes=(
            "Mixed precision with Adam: 2 bytes for a parameter, 2 for its gradient, 12 for a "
            "full copy and two moments.",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The rungs of the ladder, what they add up to, and the memory that they must fit."""

    rungs: tuple[States, ...]
    sharded: Annotated[Bytes, _told(3)]
    replicated: Annotated[Bytes, _told(0)]
    zero1: Annotated[Bytes, _told(1)]
    gpus: Annotated[
        Count,
        Told(
            "GPUs that the states alone would fill",
            assumes=(
                "Replicated states over the memory that a program can fill, rounded up: what is "
                "sold, less what CUDA and NCCL take.",
            ),
        ),
    ]
    weights: Annotated[
        Bytes, Told("Parameters in 16 bits", assumes=("Two bytes for each of them.",))
    ]
    capacity: Bytes


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    rungs = tuple(
        sharded_states(inputs.parameters, MIXED_PRECISION, stage, inputs.world_size)
        for stage in range(len(_WORDS))
    )
    return Result(
        rungs=rungs,
        sharded=rungs[3].total,
        replicated=rungs[0].total,
        zero1=rungs[1].total,
        gpus=ceil(rungs[0].total / usable(ACCELERATORS[inputs.gpu].memory, _ANY)),
        weights=rungs[0].parameters,
        capacity=ACCELERATORS[inputs.gpu].memory,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {
        "sharded": _states(tell, "sharded", 3),
        "replicated": _states(tell, "replicated", 0),
        "zero1": _states(tell, "zero1", 1),
        **tell.values("gpus", "weights"),
        "ladder": partial(_ladder, tell, result),
    }


def _states(tell: Teller, name: str, stage: Count) -> Value:
    def ranks(first: Count) -> Figure | str:
        return "world_size" if stage >= first else (1, COUNT)

    each = {
        "p": (MIXED_PRECISION.parameter, BYTES),
        "g": (MIXED_PRECISION.gradient, BYTES),
        "o": (MIXED_PRECISION.optimizer, BYTES),
    }
    return tell.value(name, symbols=each | {"a": ranks(3), "b": ranks(2), "c": ranks(1)})


def _ladder(tell: Teller, result: Result) -> Bars:
    most = max(result.capacity, result.replicated)
    return Bars(
        title="States per GPU",
        axis=tell.axis("capacity", "memory", low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=f"zero{stage}",
                label=_WORDS[stage],
                segments=tuple(
                    Segment(key=key, label=key, value=getattr(states, key), color=key)
                    for key in ("parameters", "gradients", "optimizer")
                ),
            )
            for stage, states in enumerate(result.rungs)
        ),
        rules=(Rule(key="capacity", label=tell.say("{capacity}"), axis="x", at=result.capacity),),
        caption="The line is the memory of the GPU as sold; activations come on top, and the CUDA "
        "context takes its part.",
    )
