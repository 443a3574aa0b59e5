"""What no model can be: sizes of one that contradict each other, by the path of the key."""

from engine.catalog.models import Model, head_size


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
        return [
            f'model.{key}: {size}; allowed: 0, or attention "mla"'
            for key, size in sizes.items()
            if size and key != "value_head_size"
        ]
    found = [
        f"model.{key}: 0; allowed: 1 or more with attention mla"
        for key, size in sizes.items()
        if not size and key != "query_latent_size"
    ]
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
        "experts_per_token": model.experts_per_token,
        "dense_layer_every": model.dense_layer_every,
        "nodes_per_token": model.nodes_per_token,
    }
    return [
        f"model.{key}: {size}; allowed: 0 where num_experts is 0"
        for key, size in sizes.items()
        if size and key != "experts_per_token"
    ]
