"""Shape of a dense model of any number of parameters, between those of Llamas."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from engine.catalog.models import MODELS, Model
from engine.core.units import Count, Parameters, Ratio
from engine.formulas.parameters import total_parameters

_LLAMAS: Sequence[str] = ("llama-2-7b", "llama-2-13b", "llama-3-8b", "llama-3-70b", "llama-3-405b")
_HEAD: Count = 128
# A model nearer than this to a Llama is as wide; any other is wider or narrower in proportion.
_AS_WIDE: Ratio = 2.0
# Embedding and output layer are a quarter of a small model at most.
_ENDS: Ratio = 1 / 4


@lru_cache(maxsize=256)
def dense_shape(parameters: Parameters) -> Model:
    """Return the shape of a dense model: that of the nearest Llama, stretched.

    Layers make up for most of the difference, the width of the MLP for the rest, which leaves less
    than half a column of it in each layer. Farther than a factor of two from any Llama, the width
    changes too, as the cube root of the parameters.
    """
    nearest = min((MODELS[key] for key in _LLAMAS), key=lambda model: _distance(model, parameters))
    base = nearest
    if _distance(nearest, parameters) > math.log(_AS_WIDE):
        base = _as_wide_as(nearest, parameters)
    ends = total_parameters(replace(base, num_layers=0))
    each = total_parameters(base) - total_parameters(replace(base, num_layers=base.num_layers - 1))
    layers = max(1, round((parameters - ends) / each))
    shape = replace(base, num_layers=layers)
    column = 3 * shape.hidden_size * layers
    wider = round((parameters - total_parameters(shape)) / column)
    if shape == nearest and abs(wider) <= 1:
        return nearest
    return replace(
        shape,
        name=f"dense model like {nearest.name}",
        ffn_hidden_size=max(1, shape.ffn_hidden_size + wider),
    )


def _distance(model: Model, parameters: Parameters) -> float:
    return abs(math.log(parameters / total_parameters(model)))


def _as_wide_as(model: Model, parameters: Parameters) -> Model:
    """Return a model whose width and depth follow the cube root of its parameters."""
    ratio = (parameters / total_parameters(model)) ** (1 / 3)
    heads = max(1, round(ratio * model.hidden_size / _HEAD))
    hidden = heads * _HEAD
    shared = model.num_key_value_heads
    return replace(
        model,
        num_layers=max(1, round(ratio * model.num_layers)),
        hidden_size=hidden,
        num_attention_heads=heads,
        num_key_value_heads=shared if heads % shared == 0 else heads,
        ffn_hidden_size=max(1, round(ratio * model.ffn_hidden_size)),
        vocab_size=max(1, min(model.vocab_size, int(_ENDS * parameters / (2 * hidden)))),
    )
