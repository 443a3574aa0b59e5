"""State ladder: bytes of parameters, gradients and optimizer per GPU, by ZeRO stage."""

from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.core.inputs import BILLIONS, Choice, Number
from engine.core.outputs import Figure, Output, Presenter, Views
from engine.core.units import BYTES, COUNT, Bytes, Count
from engine.core.views import Bar, Bars, Rule, Segment, Value
from engine.formulas.states import MIXED_PRECISION, ZERO_MEMORY, States, sharded_states
from engine.run.parallelism import Training
from engine.simulate.memory.allocator import usable_bytes

TITLE = "States on the ladder of ZeRO"
_TRAINING = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
QUESTION = "What does a GPU hold before the first token arrives?"
HEADLINE = "sharded"
EQUATIONS = (ZERO_MEMORY,)
_STAGE_LABELS = (
    "replicated",
    "ZeRO-1: optimizer sharded",
    "ZeRO-2: and gradients",
    "ZeRO-3: and parameters",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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


def _states_output(stage: Count) -> Output:
    return Output(
        f"States per GPU, {_STAGE_LABELS[stage].partition(':')[0]}",
        "M",
        color="optimizer",
        assumes=(
            "Mixed precision with Adam: 2 bytes for a parameter, 2 for its gradient, 12 for a "
            "full copy and two moments.",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """States per GPU by ZeRO stage, their parts, and the memory of the GPU."""

    rungs: tuple[States, ...]
    sharded: Annotated[Bytes, _states_output(3)]
    replicated: Annotated[Bytes, _states_output(0)]
    zero1: Annotated[Bytes, _states_output(1)]
    gpus: Annotated[
        Count,
        Output(
            "GPUs that the states alone would fill",
            assumes=(
                "Replicated states over the memory that a process may fill, rounded up: what "
                "programs can allocate on the GPU, less a twentieth that is kept free.",
            ),
        ),
    ]
    weights: Annotated[
        Bytes, Output("Parameters in 16 bits", assumes=("Two bytes for each of them.",))
    ]
    capacity: Bytes


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    rungs = tuple(
        sharded_states(inputs.parameters, MIXED_PRECISION, stage, inputs.world_size)
        for stage in range(len(_STAGE_LABELS))
    )
    return Result(
        rungs=rungs,
        sharded=rungs[3].total,
        replicated=rungs[0].total,
        zero1=rungs[1].total,
        gpus=ceil(rungs[0].total / usable_bytes(ACCELERATORS[inputs.gpu].memory)),
        weights=rungs[0].parameters,
        capacity=ACCELERATORS[inputs.gpu].memory,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        "sharded": _states(present, "sharded", 3),
        "replicated": _states(present, "replicated", 0),
        "zero1": _states(present, "zero1", 1),
        **present.values("gpus", "weights"),
        "ladder": partial(_ladder, present, result),
    }


def _states(present: Presenter, name: str, stage: Count) -> Value:
    def ranks(first: Count) -> Figure | str:
        return "world_size" if stage >= first else (1, COUNT)

    each = {
        "p": (MIXED_PRECISION.parameter, BYTES),
        "g": (MIXED_PRECISION.gradient, BYTES),
        "o": (MIXED_PRECISION.optimizer, BYTES),
    }
    return present.value(name, symbols=each | {"a": ranks(3), "b": ranks(2), "c": ranks(1)})


def _ladder(present: Presenter, result: Result) -> Bars:
    most = max(result.capacity, result.replicated)
    return Bars(
        title="States per GPU",
        axis=present.axis("capacity", "memory", low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=f"zero{stage}",
                label=_STAGE_LABELS[stage],
                segments=tuple(
                    Segment(key=key, label=key, value=getattr(states, key), color=key)
                    for key in ("parameters", "gradients", "optimizer")
                ),
            )
            for stage, states in enumerate(result.rungs)
        ),
        rules=(
            Rule(key="capacity", label=present.say("{capacity}"), axis="x", at=result.capacity),
        ),
        caption="The line is what programs can allocate on the GPU; activations come on top, and "
        "the CUDA context takes its part.",
    )
