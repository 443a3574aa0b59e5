"""Models of a reader's own mixture of layers, with the sizes of a published model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.catalog.mixers.mix import LayerSizes, letters_of, mixed_model
from engine.catalog.models import Model
from engine.core.units import Count, Tokens

ALONE = "-E"  # letters of layers without a mixer
LINEAR = "GKM"
# An indexer as GLM-5 has it, for sizes without one.
_INDEX = {"index_heads": 32, "index_size": 128, "index_tokens": 2048}
# A gated DeltaNet as Qwen3-Next has it: values twice as wide as the model, half as many key heads.
_HEAD: Count = 128
_WIDENING: Count = 2


def layer_letters(model: Model) -> str:
    """Return a letter for each layer."""
    return letters_of(model.mix.sizes, model.num_layers) if model.mix else "*" * model.num_layers


def linear_letter(model: Model) -> str:
    """Return the letter of the model's layers that keep a state; gated DeltaNet if it has none."""
    return next((letter for letter in layer_letters(model) if letter in LINEAR), "G")


def mixer_counts(model: Model) -> Mapping[str, Count]:
    """Return the number of layers with full, windowed, chosen and linear attention."""
    kinds = {"*": "full", "W": "windowed", "S": "chosen"} | dict.fromkeys(LINEAR, "linear")
    counts = dict.fromkeys(("full", "windowed", "chosen", "linear"), 0)
    for letter in layer_letters(model):
        if letter not in ALONE:
            counts[kinds[letter]] += 1
    return counts


def composed_model(model: Model, counts: Mapping[str, Count], window: Tokens) -> Model:
    """Return the model with mixers in these proportions, spread evenly over its layers.

    Feed-forward parts stay where they are. In the proportions of the model itself, its own order
    stays; without any, all attention is full.

    Args:
        model: gives the sizes.
        counts: parts of "full", "windowed", "chosen" and "linear" layers.
        window: tokens of a windowed layer.
    """
    model_counts = mixer_counts(model)
    letters = layer_letters(model)
    if not any(counts.values()):
        counts = {"full": 1, "windowed": 0, "chosen": 0, "linear": 0}
    total, published = sum(counts.values()), sum(model_counts.values())
    if any(counts[kind] * published != model_counts[kind] * total for kind in model_counts):
        mixer_layers = [layer for layer, letter in enumerate(letters) if letter not in ALONE]
        mixers = _spread(counts, len(mixer_layers), linear_letter(model))
        order = list(letters)
        for layer, letter in zip(mixer_layers, mixers, strict=True):
            order[layer] = letter
        letters = "".join(order)
    if set(letters) == {"*"} and not model.mix:
        return model
    return mixed_model(replace(model, mix=None), _sizes(model, letters, window))


def _spread(counts: Mapping[str, Count], length: Count, linear: str) -> str:
    """Return letters in these proportions, each kind as evenly as it goes, full attention last."""
    letters = {"linear": linear, "windowed": "W", "chosen": "S", "full": "*"}
    total = sum(counts.values())
    counts_so_far = dict.fromkeys(letters, 0)
    order = ""
    for layer in range(1, length + 1):
        kind = max(
            letters,
            key=lambda letter: layer * counts[letter] / total - counts_so_far[letter],
        )
        counts_so_far[kind] += 1
        order += letters[kind]
    return order


def _sizes(model: Model, letters: str, window: Tokens) -> LayerSizes:
    """Return what tells the layers apart; what the model does not have is as in a published one."""
    sizes = model.mix.sizes if model.mix else LayerSizes()
    changes: dict[str, Any] = {"order": letters}
    if "W" in letters:
        changes["window"] = window
    if "S" in letters and not sizes.index_tokens:
        changes |= _INDEX
    if "G" in letters and not sizes.key_heads:
        values = _WIDENING * model.hidden_size // _HEAD
        changes |= {"value_heads": values, "key_heads": values // 2}
        changes |= {"key_size": _HEAD, "value_size": _HEAD}
    return replace(sizes, **changes)


def predicting_model(model: Model, passes: Count) -> Model:
    """Return the model with layers that predict further tokens: attention and experts (Nemotron 3).

    A model that has such layers of its own keeps them.
    """
    if not passes or model.num_prediction_layers or not model.mix:
        return model
    sizes = replace(model.mix.sizes, prediction="*E")
    return mixed_model(replace(model, mix=None, num_prediction_layers=passes), sizes)
