"""What the reader can change about the model, and the bytes of its next token."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Parameters, Ratio, Tokens
from engine.formulas.inference import (
    even_tokens,
    gathered_weights,
    summed_activations,
    weights_over_activations,
)
from engine.formulas.parameters import dense_layer_parameters
from engine.simulate.job.generation import HALF

_MODELS = ("llama-2-7b", "llama-3-8b", "llama-3-70b", "llama-3-405b")
LOW, HIGH = 1, 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    tokens: Annotated[
        int,
        Number(
            label="Tokens of the pass",
            low=LOW,
            high=HIGH,
            scale="log2",
            whole=True,
            symbol="t",
            help="Of all sequences together; one per sequence while text is generated.",
        ),
    ] = 32
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-70b"
    ranks: Annotated[
        int, Number(label="GPUs", low=2, high=64, scale="log2", whole=True, symbol="n")
    ] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The bytes of a layer."""

    parameters: Annotated[
        Parameters,
        Told(
            "Parameters of a layer",
            "P",
            "hidden size {hidden}",
            assumes=("All matrices and norms of one layer; embedding and output are left out.",),
            of="model",
        ),
    ]
    hidden: Annotated[Count, Told(symbol="h", of="model")]
    element: Annotated[Bytes, Told(symbol="e")]
    ratio: Annotated[
        Ratio,
        Told(
            "Weights over activations",
            "r",
            "as many bytes, whatever the number of GPUs",
            "communication",
        ),
    ]
    zero: Annotated[
        Bytes,
        Told(
            "Sent per layer, weights gathered",
            "Z",
            "by each GPU, ZeRO-3, for any number of tokens",
            "parameters",
        ),
    ]
    tensor: Annotated[
        Bytes,
        Told(
            "Sent per layer, activations added",
            "A",
            "by each GPU, tensor parallelism; {token} per token",
            "activations",
        ),
    ]
    token: Bytes
    even: Annotated[
        Tokens, Told("Both send the same at", "T", "tokens of one pass", "communication")
    ]


def solve(inputs: Inputs) -> Result:
    """Return the bytes of a layer."""
    model = MODELS[inputs.model]
    layer, hidden = dense_layer_parameters(model).total, model.hidden_size
    return Result(
        parameters=layer,
        hidden=hidden,
        element=HALF,
        ratio=weights_over_activations(layer, inputs.tokens, hidden),
        zero=gathered_weights(layer, inputs.ranks, HALF),
        tensor=summed_activations(inputs.tokens, hidden, inputs.ranks, HALF),
        token=summed_activations(1, hidden, inputs.ranks, HALF),
        even=even_tokens(layer, hidden),
    )
