"""Flattening of a nested `config.json`, and checks for unsupported architectures.

Multimodal files nest the language model; DBRX and MPT nest attention and feed-forward part. A size
that is the same in all layers may stand there as a list, one entry a layer.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.run.importers.unknown_keys import words_of
from engine.run.values import format_value

# Where a file nests the language model; what stands there goes before what stands outside.
INNER = ("text_config", "llm_config", "language_config")
# Where it nests a part of the language model; what stands outside goes first.
PARTS = ("attn_config", "ffn_config")
# Families with state-space layers whose patterns are not read.
_STATE_SPACE = ("mamba", "jamba", "zamba", "rwkv", "falcon_h1", "xlstm")
# Families whose attention has convolutions that no key tells.
_FILTERED = ("yuan",)
# Families of flash-linear-attention (fla/models) whose layers have no attention over all tokens.
_LINEAR = words_of(
    """abc comba delta_net deltaformer gated_deltanet gated_deltaproduct gla gsa hgrn hgrn2 kda
    lightnet linear_attn log_linear_mamba2 mesa_net moba mom nsa parallax path_attn
    precond_gated_deltanet precond_kda raven retnet rodimus samba yoco sba"""
)
# Its families of attention, and the defaults of their classes (configuration_transformer.py).
_FLA = ("transformer", "forgetting_transformer", "wall_transformer")
_ENCODERS = ("bert", "electra", "t5", "bart", "whisper", "marian", "pegasus")


def flatten_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of the language model on one level."""
    merged = dict(config)
    for key in INNER:
        inner = config.get(key)
        if isinstance(inner, Mapping):
            merged |= inner
    for key in PARTS:
        part = merged.get(key)
        if isinstance(part, Mapping):
            merged = {**part, **merged}
    if merged.get("model_type") in _FLA:
        merged = _with_fla_defaults(merged)
    places = ("kv_source_layers",)  # numbers of layers, not sizes
    return {key: value if key in places else _uniform_value(value) for key, value in merged.items()}


def _with_fla_defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration of flash-linear-attention with what its classes take unasked."""
    stated = {key: value for key, value in config.items() if value is not None}
    full = {"vocab_size": 32000, "hidden_ratio": 4, "tie_word_embeddings": False, **stated}
    width, ratio = full.get("hidden_size"), full["hidden_ratio"]
    if "intermediate_size" not in full and type(width) is int and type(ratio) is int:
        # fla/modules/mlp.py: two thirds, up to a multiple of 256.
        full["intermediate_size"] = -(-int(width * ratio * 2 / 3) // 256) * 256
    return full


def _uniform_value(value: object) -> object:
    """Return the common size of a per-layer list; any other value unchanged."""
    if not isinstance(value, list) or len(value) < 2 or type(value[0]) is not int:
        return value
    return value[0] if all(type(size) is int and size == value[0] for size in value) else value


def unsupported_reasons(config: Mapping[str, Any], family: str) -> Iterator[str]:
    """Yield the reasons why an architecture is not supported, one line each."""
    if any(word in family for word in _STATE_SPACE) or family in _LINEAR:
        yield (
            f"model_type: {format_value(family)}; allowed: a family whose layers all have attention"
        )
    elif family in _FILTERED:
        yield f"model_type: {format_value(family)}; allowed: attention without convolutions before"
    elif config.get("is_encoder_decoder") is True or any(word in family for word in _ENCODERS):
        yield f"model_type: {format_value(family)}; allowed: a family of decoders alone"
    elif config.get("block_configs"):
        yield "block_configs: one for each layer; allowed: none, the layers of a model are alike"


def unknown_experts_key(config: Mapping[str, Any]) -> str:
    """Return the key of an expert count without an alias, or an empty text."""
    for key, value in config.items():
        counts = key.endswith("experts") and not any(word in key for word in ("shared", "per_tok"))
        if counts and type(value) is int and value > 1:
            return key
    return ""
