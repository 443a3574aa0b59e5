"""Bytes that a GPU sends per layer and micro-batch along each parallel axis."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Figure, Output, Presenter, Symbol, Views
from engine.core.units import COUNT, TOKENS, Bytes, Count
from engine.core.views import Table
from engine.formulas.axes import (
    HALF,
    STAGE_MESSAGE,
    TENSOR_LAYER_BYTES,
    stage_message,
    tensor_layer_bytes,
)
from engine.formulas.volumes import (
    ZERO_BYTES,
    context_ring_bytes_sent,
    tensor_passes,
    zero_bytes_sent,
)

TITLE = "The bytes of every axis"
QUESTION = "What does one GPU send for one layer and one micro-batch?"
HEADLINE = "tensor"
EQUATIONS = (TENSOR_LAYER_BYTES, STAGE_MESSAGE, ZERO_BYTES)
PRESETS = {
    "A layer of Llama 3 70B": {
        "tokens": 4096,
        "hidden_size": 8192,
        "key_value_size": 1024,
        "parameters": 855_638_016,
        "ranks": 8,
    }
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tokens: Annotated[
        int,
        TOKENS,
        Number(
            label="Tokens of a micro-batch",
            low=1,
            high=1 << 20,
            scale="log2",
            whole=True,
            symbol="t",
        ),
    ] = 4
    hidden_size: Annotated[
        int, Number(label="Hidden size", low=1, high=32_768, scale="log2", whole=True, symbol="h")
    ] = 8
    key_value_size: Annotated[
        int,
        Number(
            label="Size of a token's keys",
            low=1,
            high=32_768,
            scale="log2",
            whole=True,
            help="Key-value heads times their size; values have as much.",
        ),
    ] = 4
    parameters: Annotated[
        int,
        Number(label="Parameters of the layer", low=1, high=10**11, scale="log", whole=True),
    ] = 872
    ranks: Annotated[
        int, Number(label="Ranks of an axis", low=2, high=64, scale="log2", whole=True, symbol="n")
    ] = 2


_TWO_BYTES = ("Two bytes for every element.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Bytes that a GPU sends along each axis, and the tensors behind them."""

    tensor: Annotated[
        Bytes,
        Output("Tensor parallelism", "V", color="communication", assumes=_TWO_BYTES),
    ]
    pipeline: Annotated[
        Bytes, Output("Pipeline, each way", "S", color="communication", assumes=_TWO_BYTES)
    ]
    data: Annotated[
        Bytes,
        Output("Data parallelism, once a step", color="communication", assumes=_TWO_BYTES),
    ]
    context: Annotated[
        Bytes,
        Output(
            "Context parallelism",
            color="context",
            assumes=(
                "A ring: every rank passes keys and values on n − 1 times forward, and again "
                "backward with their gradients.",
            ),
            sources=("liu2023",),
        ),
    ]
    sequence: Bytes
    passes: Annotated[Count, Symbol("k")]
    hidden_state: Bytes
    gradients: Bytes
    keys_and_values: Bytes
    element: Annotated[Bytes, Symbol("e")] = HALF


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    t, h, n = inputs.tokens, inputs.hidden_size, inputs.ranks
    gradients = HALF * inputs.parameters
    block = 2 * HALF * t / n * inputs.key_value_size
    return Result(
        tensor=tensor_layer_bytes(t, h, n, tensor_passes()),
        pipeline=stage_message(t, h),
        data=zero_bytes_sent(gradients, gradients, 1, n),
        context=context_ring_bytes_sent(block, 1, n),
        sequence=tensor_layer_bytes(t, h, n, tensor_passes(sequence_parallel=True)),
        passes=tensor_passes(),
        hidden_state=stage_message(t, h),
        gradients=gradients,
        keys_and_values=block,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=(TENSOR_LAYER_BYTES, STAGE_MESSAGE))
    once: dict[str, Figure | str] = {
        "V": "data",
        "r": (1.0, COUNT),
        "a": (1.0, COUNT),
        "G": "gradients",
        "P": "gradients",
    }
    return {
        **present.values("tensor", "pipeline"),
        "data": present.value("data", equation=ZERO_BYTES, symbols=once),
        "context": present.value("context"),
        "ledger": _ledger(present, inputs),
    }


def _ledger(present: Presenter, inputs: Inputs) -> Table:
    return Table(
        title="Sent by one GPU",
        columns=("Axis, and what moves", "By hand", "Bytes"),
        rows=(
            (
                "tensor (TP): 4 all-reduces of the hidden state",
                present.say("4 · 2({ranks}−1)/{ranks} · {hidden_state}"),
                present.say("{tensor}"),
            ),
            (
                "with sequence (SP): each in two halves, and two more gathers",
                present.say("10 · ({ranks}−1)/{ranks} · {hidden_state}"),
                present.say("{sequence}"),
            ),
            (
                "pipeline (PP): one hidden state, where a stage ends",
                present.say("{tokens} · {hidden_size} · 2", tokens=(inputs.tokens, COUNT)),
                present.say("{pipeline} each way"),
            ),
            (
                "context (CP): keys and values of a rank, around the ring",
                present.say("3 · ({ranks}−1) · {keys_and_values}"),
                present.say("{context}"),
            ),
            (
                "data (DP): gradients out, parameters back, once a step",
                present.say("({ranks}−1)/{ranks} · 2 · {gradients}"),
                present.say("{data}"),
            ),
        ),
        caption="Two bytes for every element. Context parallelism cuts the tokens first.",
    )
