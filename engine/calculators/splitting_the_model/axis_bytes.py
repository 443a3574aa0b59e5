"""Axis bytes: what one GPU sends for one layer and one micro-batch, axis by axis, by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.basis.equation import Equation
from engine.basis.inputs import Number
from engine.basis.text import say
from engine.basis.units import BYTES, COUNT, TOKENS, Bytes, Quantity
from engine.basis.views import Receipt, Table, Value, View
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
    """What the reader can change."""

    tokens: Annotated[
        int,
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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    n, rows = inputs.ranks, float(inputs.tokens * inputs.hidden_size) * HALF
    passes = tensor_passes()
    tensor, sequence = (
        tensor_layer_bytes(inputs.tokens, inputs.hidden_size, n, times)
        for times in (passes, tensor_passes(sequence_parallel=True))
    )
    pipeline = stage_message(inputs.tokens, inputs.hidden_size)
    gradients = HALF * inputs.parameters
    data = zero_bytes_sent(gradients, gradients, 1, n)
    block = 2 * HALF * inputs.tokens / n * inputs.key_value_size
    context = context_ring_bytes_sent(block, 1, n)
    known: dict[str, tuple[float, Quantity]] = {
        "n": (float(n), COUNT),
        "t": (float(inputs.tokens), TOKENS),
        "h": (float(inputs.hidden_size), COUNT),
        "e": (HALF, BYTES),
    }
    return {
        "tensor": _value(
            "Tensor parallelism",
            tensor,
            TENSOR_LAYER_BYTES,
            known | {"V": (tensor, BYTES), "k": (float(passes), COUNT)},
        ),
        "pipeline": _value(
            "Pipeline, each way", pipeline, STAGE_MESSAGE, known | {"S": (pipeline, BYTES)}
        ),
        "data": _value(
            "Data parallelism, once a step",
            data,
            ZERO_BYTES,
            {
                "V": (data, BYTES),
                "n": (float(n), COUNT),
                "r": (1.0, COUNT),
                "G": (gradients, BYTES),
                "a": (1.0, COUNT),
                "P": (gradients, BYTES),
            },
        ),
        "context": Value(
            label="Context parallelism",
            value=context,
            quantity=BYTES,
            receipt=Receipt(
                assumptions=(
                    "A ring: every rank passes keys and values on n − 1 times forward, and again "
                    "backward with their gradients.",
                ),
                sources=("liu2023",),
            ),
            color="context",
        ),
        "ledger": Table(
            title="Sent by one GPU",
            columns=("Axis, and what moves", "By hand", "Bytes"),
            rows=(
                (
                    "tensor (TP): 4 all-reduces of the hidden state",
                    say("4 · 2({n}−1)/{n} · {r}", n=(n, COUNT), r=(rows, BYTES)),
                    say("{b}", b=(tensor, BYTES)),
                ),
                (
                    "with sequence (SP): each in two halves, and two gathers more",
                    say("10 · ({n}−1)/{n} · {r}", n=(n, COUNT), r=(rows, BYTES)),
                    say("{b}", b=(sequence, BYTES)),
                ),
                (
                    "pipeline (PP): one hidden state, where a stage ends",
                    say("{t} · {h} · 2", t=(inputs.tokens, COUNT), h=(inputs.hidden_size, COUNT)),
                    say("{b} each way", b=(pipeline, BYTES)),
                ),
                (
                    "context (CP): keys and values of a rank, around the ring",
                    say("3 · ({n}−1) · {k}", n=(n, COUNT), k=(block, BYTES)),
                    say("{b}", b=(context, BYTES)),
                ),
                (
                    "data (DP): gradients out, parameters back, once a step",
                    say("({n}−1)/{n} · 2 · {g}", n=(n, COUNT), g=(gradients, BYTES)),
                    say("{b}", b=(data, BYTES)),
                ),
            ),
            caption="Two bytes for every element. Context parallelism cuts the tokens first.",
        ),
    }


def _value(
    label: str, value: Bytes, equation: Equation, known: Mapping[str, tuple[float, Quantity]]
) -> Value:
    links = {"n": "ranks", "t": "tokens", "h": "hidden_size"}
    return Value(
        label=label,
        value=value,
        quantity=BYTES,
        receipt=Receipt(
            equation=equation,
            symbols={key: known[key] for key in equation.symbols},
            inputs={key: name for key, name in links.items() if key in equation.symbols},
            assumptions=("Two bytes for every element.",),
        ),
        color="communication",
    )
