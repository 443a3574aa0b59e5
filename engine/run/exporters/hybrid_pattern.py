"""The order of a model's layers as Megatron-LM's `--hybrid-layer-pattern`.

Letters and separators are those of `hybrid_layer_allocation.py` on the main branch of August 2026
(d98e8a64): a mixer or a feed-forward part is a layer, `|` separates the stages of a pipeline, and
attention over latents is `+`, and neither it nor D, DeepSeek's sparse attention, can stand beside
`*`.
"""

from collections.abc import Sequence

from engine.catalog.mixers.compose import ALONE, layer_letters
from engine.catalog.models import Model, num_sparse_in
from engine.core.units import Count

_LETTERS = {"*": "*", "+": "+", "G": "G", "M": "M", "S": "D", "-": "-", "E": "E"}
_MISSING = {
    "W": "attention in a window beside other attention",
    "s": "attention to the keys that another layer chose",
    "K": "Kimi Delta Attention",
    "C": "compressed attention",
    "H": "compressed attention",
}


def hybrid_pattern(model: Model, stage_layers: Sequence[Count]) -> str:
    """Return the pattern; raise `ValueError` that names a kind of layer which it cannot say."""
    letters = layer_letters(model)
    for letter in letters:
        if letter not in _LETTERS:
            raise ValueError(_MISSING[letter])
    if model.attention == "mla":
        letters = letters.replace("*", "+")
    if {"*", "S"} <= set(letters):
        raise ValueError("full attention beside attention to chosen keys")
    alone = any(letter in ALONE for letter in letters)
    stages, first = [], 0
    for count in stage_layers:
        stages.append(
            "".join(_layer(model, letters, n, alone=alone) for n in range(first, first + count))
        )
        first += count
    return "|".join(stages)


def _layer(model: Model, letters: str, layer: Count, *, alone: bool) -> str:
    letter = _LETTERS[letters[layer]]
    if alone:
        return letter
    return letter + ("E" if num_sparse_in(model, range(layer, layer + 1)) else "-")
