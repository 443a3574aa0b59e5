"""Bytes of a forward pass: weights gathered or activations added up, over the tokens of a pass."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import TOKENS, Bytes, Count, Parameters, Ratio, Tokens
from engine.core.views import Badge, Line, Lines, Published, Rule, Scale
from engine.formulas.inference import (
    EVEN_TOKENS,
    GATHERED_WEIGHTS,
    SUMMED_ACTIVATIONS,
    WEIGHTS_OVER_ACTIVATIONS,
    even_tokens,
    gathered_weights,
    summed_activations,
    weights_over_activations,
)
from engine.formulas.parameters import dense_layer_parameters
from engine.simulate.job.generation import HALF

_MODELS = ("llama-2-7b", "llama-3-8b", "llama-3-70b", "llama-3-405b")
LOW, HIGH = 1, 1 << 20
_TOKENS = Scale(TOKENS, "tokens of the pass", LOW, HIGH, log=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
        Output(
            "Parameters of a layer",
            "P",
            "hidden size {hidden}",
            assumes=("All matrices and norms of one layer; embedding and output are left out.",),
            of="model",
        ),
    ]
    hidden: Annotated[Count, Output(symbol="h", of="model")]
    element: Annotated[Bytes, Output(symbol="e")]
    ratio: Annotated[
        Ratio,
        Output(
            "Weights over activations",
            "r",
            "as many bytes, whatever the number of GPUs",
            "communication",
        ),
    ]
    zero: Annotated[
        Bytes,
        Output(
            "Sent per layer, weights gathered",
            "Z",
            "by each GPU, ZeRO-3, for any number of tokens",
            "parameters",
        ),
    ]
    tensor: Annotated[
        Bytes,
        Output(
            "Sent per layer, activations added",
            "A",
            "by each GPU, tensor parallelism; {token} per token",
            "activations",
        ),
    ]
    token: Bytes
    even: Annotated[
        Tokens, Output("Both send the same at", "T", "tokens of one pass", "communication")
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


TITLE = "Weights or activations: what crosses the wire"
QUESTION = "How many bytes does a forward pass send, by ZeRO-3 and by tensor parallelism?"
HEADLINE = "ratio"
EQUATIONS = (GATHERED_WEIGHTS, SUMMED_ACTIVATIONS, WEIGHTS_OVER_ACTIVATIONS, EVEN_TOKENS)
PRESETS = {
    "One token": {"tokens": 1},
    "A prompt of 4,096": {"tokens": 4096},
    "Llama 2 7B": {"model": "llama-2-7b"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: the ratio, both curves and the verdict."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "bytes_curve": partial(_bytes_curve, present, result),
        "ratio": present.value("ratio", published=_published(inputs)),
        **present.values("zero", "tensor", "even", "parameters"),
        "regime": _regime(present, result),
        "ratio_curve": partial(_ratio_curve, present, result),
        "formula": present.formula("With your numbers", WEIGHTS_OVER_ACTIVATIONS),
    }


def _published(inputs: Inputs) -> Published | None:
    if inputs.tokens > 1:
        return None
    return Published(
        text="about 10,000×",
        reason="Printed for no model and no number of tokens; other places of the same page print "
        "6,400× and 36,864×.",
        source="vizuara_guides",
    )


def _regime(present: Presenter, result: Result) -> Badge:
    if result.ratio > 1:
        return Badge(
            text="Fewer bytes: tensor parallelism",
            sentence=present.say(
                "Gathering a layer's weights sends {ratio} as many bytes as summing its "
                "activations."
            ),
            color="activations",
        )
    return Badge(
        text="Fewer bytes: gathered weights",
        sentence=present.say(
            "For {tokens} tokens, summing activations sends more than gathering the weights."
        ),
        color="parameters",
    )


def _bytes_curve(present: Presenter, result: Result) -> Lines:
    low, high = result.token / 2, 4 * max(result.zero, result.token * HIGH)
    label = say("even at {t}", t=(result.even, TOKENS))
    return present.curve(
        "Bytes that each GPU sends for one layer",
        over=_TOKENS,
        shows=Scale("tensor", "sent per layer", low, high, log=True),
        x=(LOW, HIGH),
        lines=(
            Line("zero", "ZeRO-3: weights", (result.zero, result.zero), "parameters"),
            Line(
                "tensor",
                "TP: activations",
                (result.token * LOW, result.token * HIGH),
                "activations",
            ),
        ),
        handle="tokens",
        rules=(Rule(key="even", label=label, axis="x", at=result.even, color="muted"),),
        caption="One forward pass in 16 bits. The weights are the same for one token and for a "
        "thousand.",
    )


def _ratio_curve(present: Presenter, result: Result) -> Lines:
    xs = [1 << power for power in range(0, 21, 4)]
    ys = [result.even / x for x in xs]
    return present.curve(
        "Bytes of weights over bytes of activations",
        over=_TOKENS,
        shows=Scale("ratio", "ratio", ys[-1] / 2, 4 * ys[0], log=True),
        x=xs,
        lines=(Line("ratio", "weights over activations", ys, "communication"),),
        handle="tokens",
        rules=(Rule(key="one", label="equal bytes", axis="y", at=1.0),),
        caption="Ten times as many tokens, a tenth of the ratio.",
    )
