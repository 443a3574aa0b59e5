"""What no model can be: sizes of one that contradict each other, by the path of the key."""

from collections.abc import Mapping

from engine.catalog.models import Model, head_size
from engine.core.units import Count


def impossible_model(model: Model) -> list[str]:
    """Return what contradicts itself in a model, one line each."""
    return _latents(model) + _expert_sizes(model)


def _latents(model: Model) -> list[str]:
    sizes = {
        "query_latent_size": model.query_latent_size,
        "key_value_latent_size": model.key_value_latent_size,
        "rotary_head_size": model.rotary_head_size,
        "value_head_size": model.value_head_size,
    }
    if model.attention != "mla":
        # The size of values has a meaning without latents, too.
        given = {key: size for key, size in sizes.items() if size and key != "value_head_size"}
        return [_together(given, '0, or attention "mla"')] if given else []
    # Queries may be projected directly.
    missing = {key: size for key, size in sizes.items() if not size and key != "query_latent_size"}
    found = [_together(missing, "1 or more with attention mla")] if missing else []
    if not found and head_size(model) <= model.rotary_head_size:
        found.append(
            f"model.head_size: {head_size(model)}; allowed: with attention mla more than "
            f"rotary_head_size = {model.rotary_head_size}, which is a part of it"
        )
    return found


def _expert_sizes(model: Model) -> list[str]:
    if model.num_experts:
        if model.dense_layer_every == 1:
            return ["model.dense_layer_every: 1; allowed: 0, or 2 or more, there are experts"]
        return []
    sizes = {
        "dense_layer_every": model.dense_layer_every,
        "nodes_per_token": model.nodes_per_token,
    }
    given = {key: size for key, size in sizes.items() if size}
    return [_together(given, "0 where num_experts is 0")] if given else []


def _together(sizes: Mapping[str, Count], allowed: str) -> str:
    """Return one line for sizes that are wrong for one reason: the first has the path."""
    (key, size), *others = sizes.items()
    also = "".join(f", {other}: {its}" for other, its in others)
    return f"model.{key}: {size}{also}; allowed: {allowed}"
