"""Sizes of layers that differ, from a `config.json`: what `model.layers` of a run file says."""

from collections.abc import Mapping
from typing import Any

from engine.run.importers.hugging_face_layers import (
    CHUNKED,
    COMPRESSED,
    DELTA,
    EXPERTS,
    FULL,
    HEAVILY,
    KIMI_DELTA,
    MAMBA,
    MLP,
    SPARSE,
    WINDOW,
    LayerKinds,
)
from engine.run.importers.model_shape import Config, ModelShape
from engine.run.layer_keys import LAYERS
from engine.run.values import printable_key, read_value

LETTERS: Mapping[str, str] = {
    FULL: "*",
    CHUNKED: "*",
    WINDOW: "W",
    SPARSE: "S",
    DELTA: "G",
    KIMI_DELTA: "K",
    MAMBA: "M",
    COMPRESSED: "C",
    HEAVILY: "H",
    MLP: "-",
    EXPERTS: "E",
}
# Key of `model.layers` -> the names that configurations give it, by the letter that needs it.
_NAMES: dict[str, Mapping[str, tuple[str, ...]]] = {
    "W": {
        "window": ("sliding_window", "sliding_window_size"),
        "window_query_heads": ("swa_num_attention_heads",),
        "window_key_value_heads": ("swa_num_key_value_heads",),
        "window_head_size": ("swa_head_dim",),
        "window_value_head_size": ("swa_v_head_dim",),
    },
    "S": {
        "index_heads": ("index_n_heads",),
        "index_size": ("index_head_dim",),
        "index_tokens": ("index_topk",),
    },
    "G": {
        "key_heads": ("linear_num_key_heads",),
        "value_heads": ("linear_num_value_heads",),
        "key_size": ("linear_key_head_dim",),
        "value_size": ("linear_value_head_dim",),
        "kernel": ("linear_conv_kernel_dim",),
    },
    "M": {
        "state_heads": ("mamba_num_heads", "mamba_n_heads"),
        "state_head_size": ("mamba_head_dim", "mamba_d_head"),
        "state_size": ("ssm_state_size", "mamba_state_dim", "mamba_d_state"),
        "state_groups": ("n_groups", "mamba_n_groups"),
        "kernel": ("conv_kernel", "mamba_d_conv"),
    },
}
_NAMES |= {"C": _NAMES["S"]}
# Of attention to compressed keys, in all layers beside such ones.
_COMPRESSED: Mapping[str, tuple[str, ...]] = {
    "window": ("sliding_window",),
    "query_rank": ("q_lora_rank",),
    "output_rank": ("o_lora_rank",),
    "output_groups": ("o_groups",),
    "streams": ("hc_mult",),
}
_LATENT = ("moe_latent_size", "routed_expert_hidden_size")
# Families whose attention has a gate unless a file says otherwise.
_GATED = ("qwen3_next", "qwen3_5", "afmoe", "beam")
_BLOCKS = {"full_attention": "*", "attention": "*", "moe": "E", "mlp": "-", "mamba": "M"}


def read_mix(config: Config, family: str, kinds: LayerKinds, shape: ModelShape) -> None:
    """Fill in what tells the layers of a model apart, if anything does."""
    letters = "".join(LETTERS[kind] for kind in kinds.kinds)
    sizes = _everywhere(config, family, shape)
    # The window of every second layer has a key of its own in a run file.
    if family in ("gpt_oss", "gemma2") or not (sizes or set(letters) - {"*"}):
        shape.used |= {kinds.key: "attention"} if set(kinds.kinds) == {FULL} else {}
        return
    if letters:
        letters = _shared_indexers(config, letters, shape)
        sizes["order"] = shortest_period(letters)
        shape.used[kinds.key] = "layers.order"
    for letter, names in _NAMES.items():
        if letter in letters:
            _copy_named(config, names, sizes, shape)
    if {"C", "H"} & set(letters):
        _copy_named(config, _COMPRESSED, sizes, shape)
    if "K" in letters:
        _kimi(config, sizes, shape)
    if "W" in letters and config.get("global_head_dim"):
        _global_heads(config, sizes, shape)
    _prediction(config, letters, sizes, shape)
    shape.layers = sizes


def _everywhere(config: Config, family: str, shape: ModelShape) -> dict[str, Any]:
    """Return the sizes that layers of every kind have: the experts' width, the attention's gate."""
    sizes: dict[str, Any] = {}
    for key in _LATENT:
        if config.get(key) and "num_experts" in shape.fields:
            _copy(config, key, "expert_hidden_size", sizes, shape)
    if family.startswith(_GATED) and config.get("attn_output_gate", True) is not False:
        sizes["gated"] = True
        shape.used["attn_output_gate"] = "layers.gated"
    if config.get("mla_use_output_gate") is True:
        sizes["gated"] = True
        shape.used["mla_use_output_gate"] = "layers.gated"
    return sizes


def _copy_named(
    config: Config,
    names: Mapping[str, tuple[str, ...]],
    sizes: dict[str, Any],
    shape: ModelShape,
) -> None:
    """Copy sizes under the first of their names that a configuration has."""
    for key, others in names.items():
        name = next((other for other in others if config.get(other) is not None), None)
        if name is not None:
            _copy(config, name, key, sizes, shape)


def _copy(config: Config, name: str, key: str, sizes: dict[str, Any], shape: ModelShape) -> None:
    """Copy a size, checked like that of a run file."""
    before = len(shape.problems)
    read_value(printable_key(name), config[name], LAYERS[key][0], shape.problems)
    if len(shape.problems) == before:
        sizes[key] = config[name]
        shape.used[name] = f"layers.{key}"


def shortest_period(letters: str) -> str:
    """Return the shortest text that repeated gives the letters."""
    for length in range(1, len(letters)):
        if len(letters) % length == 0 and letters[:length] * (len(letters) // length) == letters:
            return letters[:length]
    return letters


def _shared_indexers(config: Config, letters: str, shape: ModelShape) -> str:
    """Mark the layers that take the keys that an earlier layer's indexer chose (GLM-5.2).

    Of the layers after an offset every n-th has its own, as Transformers' GlmMoeDsaConfig says.
    """
    types, every = config.get("indexer_types"), config.get("index_topk_freq")
    if isinstance(types, list) and len(types) == len(letters):
        shape.used["indexer_types"] = "layers.order"
        shared = [kind == "shared" for kind in types]
    elif isinstance(every, int) and not isinstance(every, bool) and every > 1:
        offset = config.get("index_skip_topk_offset", 2)
        offset = offset if isinstance(offset, int) else 2
        shape.used |= {"index_topk_freq": "layers.order", "index_skip_topk_offset": "layers.order"}
        shared = [bool(max(number - offset + 1, 0) % every) for number in range(len(letters))]
    else:
        return letters
    pairs = zip(letters, shared, strict=True)
    return "".join("s" if letter == "S" and other else letter for letter, other in pairs)


def _kimi(config: Config, sizes: dict[str, Any], shape: ModelShape) -> None:
    """Fill in Kimi Delta Attention: as many heads of keys as of values, all of one size.

    Its output gate has the rank of a head, or is a whole matrix where the file says so. The sizes
    stand in a section of their own, or on one level with others (Transformers 5).
    """
    inner = config.get("linear_attn_config")
    nested = isinstance(inner, Mapping)
    section: Mapping[str, Any] = inner if isinstance(inner, Mapping) else config
    for name, keys in (
        ("num_heads" if nested else "linear_num_heads", ("key_heads", "value_heads")),
        ("head_dim" if nested else "linear_head_dim", ("key_size", "value_size")),
        ("short_conv_kernel_size" if nested else "linear_conv_kernel_dim", ("kernel",)),
    ):
        for key in keys:
            if section.get(name) is not None:
                _copy(section, name, key, sizes, shape)
                if nested:
                    shape.used.pop(name, None)
    if section.get("use_full_rank_gate") is not True and "key_size" in sizes:
        sizes["gate_rank"] = sizes["key_size"]


def _global_heads(config: Config, sizes: dict[str, Any], shape: ModelShape) -> None:
    """Fill in Gemma 4's heads: those of layers with full attention have names of their own."""
    fields = shape.fields
    one = fields["hidden_size"] // fields["num_attention_heads"]
    sizes["window_head_size"] = fields.get("head_size") or one
    sizes["window_key_value_heads"] = fields["num_key_value_heads"]
    before = len(shape.problems)
    size, groups = config["global_head_dim"], config.get("num_global_key_value_heads")
    read_value("global_head_dim", size, LAYERS["window_head_size"][0], shape.problems)
    if groups is not None:
        read_value("num_global_key_value_heads", groups, (1, 1 << 16), shape.problems)
    if len(shape.problems) > before:
        return
    fields["head_size"] = size
    shape.used["global_head_dim"] = "head_size"
    if config.get("attention_k_eq_v") is True:
        sizes["shared"] = True
        shape.used["attention_k_eq_v"] = "layers.shared"
        if groups is not None:
            fields["num_key_value_heads"] = groups
            shape.used["num_global_key_value_heads"] = "num_key_value_heads"


def _prediction(config: Config, letters: str, sizes: dict[str, Any], shape: ModelShape) -> None:
    """Fill in the layers of multi-token prediction where every layer is one part (Nemotron 3)."""
    if not shape.fields.get("num_prediction_layers"):
        return
    if {"C", "H"} & set(letters):
        sizes["prediction"] = "W"  # the last of DeepSeek-V4's ratios is 0
        return
    if not {"-", "E"} & set(letters):
        return
    pattern, listed = config.get("mtp_hybrid_override_pattern"), config.get("mtp_layers_block_type")
    sizes["prediction"] = "*E"
    if isinstance(pattern, str) and pattern:
        sizes["prediction"] = pattern
        shape.used["mtp_hybrid_override_pattern"] = "layers.prediction"
    elif isinstance(listed, list) and all(str(block) in _BLOCKS for block in listed) and listed:
        sizes["prediction"] = "".join(_BLOCKS[str(block)] for block in listed)
        shape.used["mtp_layers_block_type"] = "layers.prediction"
