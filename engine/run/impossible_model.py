"""Contradictory sizes of a model, by the path of the key."""

from collections.abc import Mapping

from engine.catalog.models import Model, head_size
from engine.core.units import Count


def model_contradictions(model: Model) -> list[str]:
    """Return the contradictions between a model's sizes, one line each."""
    return _latent_problems(model) + _expert_problems(model)


def _latent_problems(model: Model) -> list[str]:
    sizes = {
        "query_latent_size": model.query_latent_size,
        "key_value_latent_size": model.key_value_latent_size,
        "rotary_head_size": model.rotary_head_size,
        "value_head_size": model.value_head_size,
    }
    if model.attention != "mla":
        # The size of values has a meaning without latents, too.
        unexpected = {key: size for key, size in sizes.items() if size and key != "value_head_size"}
        return [_combined_problem(unexpected, '0, or attention "mla"')] if unexpected else []
    # Queries may be projected directly.
    missing = {key: size for key, size in sizes.items() if not size and key != "query_latent_size"}
    problems = [_combined_problem(missing, "1 or more with attention mla")] if missing else []
    if not problems and head_size(model) <= model.rotary_head_size:
        problems.append(
            f"model.head_size: {head_size(model)}; allowed: with attention mla more than "
            f"rotary_head_size = {model.rotary_head_size}, which is a part of it"
        )
    return problems


def _expert_problems(model: Model) -> list[str]:
    if model.num_experts:
        if model.dense_layer_every == 1:
            return ["model.dense_layer_every: 1; allowed: 0, or 2 or more, there are experts"]
        return []
    sizes = {
        "dense_layer_every": model.dense_layer_every,
        "nodes_per_token": model.nodes_per_token,
    }
    unexpected = {key: size for key, size in sizes.items() if size}
    return [_combined_problem(unexpected, "0 where num_experts is 0")] if unexpected else []


def _combined_problem(sizes: Mapping[str, Count], allowed: str) -> str:
    """Return one line for sizes that are wrong for the same reason; the first has the path."""
    (key, size), *others = sizes.items()
    also = "".join(f", {other}: {its}" for other, its in others)
    return f"model.{key}: {size}{also}; allowed: {allowed}"
