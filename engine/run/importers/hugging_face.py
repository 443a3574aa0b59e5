"""The shape of a model from a `config.json` of Hugging Face Transformers.

Names differ by family; the aliases are those of the configuration classes of Transformers 5.24.
Traps: DeepSeek's class sets `head_dim` to the rotary part of a head; a mixture that leaves
`moe_intermediate_size` out means `intermediate_size` by it; multimodal files nest the language
model under `text_config`; what a file leaves out is the default of its class, not of all.
"""

from collections.abc import Mapping
from typing import Any

from engine.catalog.mixers.mix import LayerSizes, mixed_model, size_problems
from engine.catalog.models import Model
from engine.run.document import model_contradictions
from engine.run.importers.hugging_face_effects import unplaced_mixers, unpriced_keys
from engine.run.importers.hugging_face_experts import read_experts
from engine.run.importers.hugging_face_flat import INNER, flatten_config, unsupported_reasons
from engine.run.importers.hugging_face_layers import (
    CHUNKED,
    COMPRESSED,
    HEAVILY,
    LayerKinds,
    layer_kinds,
    unpriced,
)
from engine.run.importers.hugging_face_mixed import LETTERS, read_mix
from engine.run.importers.model_families import (
    FOUR_TIMES,
    TIED_FAMILIES,
    UNGATED_FAMILIES,
    VERSION,
    class_sizes,
    has_biases,
    learned_positions,
)
from engine.run.importers.model_shape import ALIASES, Config, ModelShape
from engine.run.keys import MODEL
from engine.run.values import format_value, printable_key, read_value

PRICED = tuple(LETTERS)
# What only attention to compressed keys has.
_COMPRESSED_KEYS = ("q_lora_rank", "o_lora_rank", "hc_mult")
_OURS = ("num_layers", "hidden_size")
# Keys that no model of a run file has.
_TELLING = {"model_type", "architectures", *INNER}
_TELLING |= {name for key in _OURS for name in ALIASES[key]} - set(_OURS)


def is_hugging_face_config(config: Config) -> bool:
    """Return whether an object is a `config.json` rather than the model of a run file."""
    return not _TELLING.isdisjoint(config)


def read_config_model(config: Config, path: str, problems: list[str]) -> Model | None:
    """Return the model of a configuration; append its problems to `problems`."""
    shape = read_shape(config)
    prefixed = [f"{path}.{problem}" for problem in shape.problems]
    if prefixed:
        problems += prefixed
        return None
    values = dict(shape.fields)
    model = Model(name=model_name(config), **values)
    contradictions = model_contradictions(model)
    if shape.layers and not contradictions:
        sizes = LayerSizes(**shape.layers)
        contradictions = [f"{path}.{problem}" for problem in size_problems(model, sizes)]
        model = model if contradictions else mixed_model(model, sizes)
    problems += contradictions
    return None if contradictions else model


def model_name(config: Config) -> str:
    """Return the name of a configuration's model."""
    return str(config.get("_name_or_path") or config.get("model_type") or "custom")[:80]


def read_shape(raw_config: Config) -> ModelShape:
    """Return the model shape of a configuration, with problems instead of exceptions."""
    shape = ModelShape()
    config = flatten_config(raw_config)
    family = str(config.get("model_type", ""))
    shape.problems += unsupported_reasons(config, family)
    if shape.problems:
        return shape
    shape.windows_off = config.get("use_sliding_window") is False
    if any(isinstance(raw_config.get(key), Mapping) for key in INNER):
        left = class_sizes(config, family)
        config |= left
        for key, size in left.items():
            shape.assumed[key] = f"{size}: the file leaves it to {family}'s class ({VERSION})"
    _fill_sizes(config)
    _copy_renamed(config, shape)
    if shape.problems:
        return shape
    kinds = layer_kinds(config, family, shape.fields["num_layers"])
    known = _COMPRESSED_KEYS if {COMPRESSED, HEAVILY} & set(kinds.kinds) else ()
    shape.problems += unpriced(kinds, PRICED) + unpriced_keys(config, known)
    if shape.problems:
        return shape
    _heads(config, shape)
    _feed_forward(config, family, shape)
    read_experts(config, shape)
    _fill_defaults(config, family, kinds, shape)
    read_mix(config, family, kinds, shape)
    shape.problems += unplaced_mixers(config, kinds, shape)
    return shape


def _fill_sizes(config: dict[str, Any]) -> None:
    """Fill in sizes that others tell: the number of layers, and the size of a head of Mamba-2."""
    wide, heads = config.get("hidden_size"), config.get("mamba_n_heads")
    twice = config.get("mamba_expand", 2)
    auto = config.get("mamba_d_head") in ("auto", None)
    if auto and type(wide) is int and type(twice) is int and type(heads) is int and heads > 0:
        config["mamba_d_head"] = twice * wide // heads
    if config.get("num_hidden_layers") is not None:
        return
    pattern, listed = config.get("hybrid_override_pattern"), config.get("layers_block_type")
    if isinstance(pattern, str):
        config["num_hidden_layers"] = len(pattern.replace("|", ""))
    elif isinstance(listed, list) and listed:
        config["num_hidden_layers"] = len(listed)


def _copy_renamed(config: Config, shape: ModelShape) -> None:
    """Copy the keys that only differ in name; sizes are checked like those of a run file."""
    needed = ("num_layers", "hidden_size", "num_attention_heads", "vocab_size")
    for key, names in ALIASES.items():
        name = next((name for name in names if config.get(name) is not None), None)
        if name is None:
            if key in needed:
                shape.problems.append(f"{names[0]}: missing; allowed: {_allowed_text(key)}")
            continue
        before = len(shape.problems)
        read_value(printable_key(name), config[name], MODEL[key][0], shape.problems)
        if len(shape.problems) == before:
            shape.fields[key] = config[name]
            shape.used[name] = key


def _allowed_text(key: str) -> str:
    kind = MODEL[key][0]
    return f"a whole number from {kind[0]} to {kind[1]}" if isinstance(kind, tuple) else "a value"


def _heads(config: Config, shape: ModelShape) -> None:
    """Fill in the heads: latents where there are any, one key-value head of a multi-query model."""
    fields = shape.fields
    groups = config.get("multi_query_group_num")
    if config.get("multi_query_attention") is True and type(groups) is int and groups > 0:
        fields["num_key_value_heads"] = groups
        shape.used["multi_query_group_num"] = "num_key_value_heads"
    if config.get("multi_query") is True and not config.get("new_decoder_architecture"):
        fields["num_key_value_heads"] = 1
        shape.used["multi_query"] = "num_key_value_heads"
    if "num_key_value_heads" not in fields:
        fields["num_key_value_heads"] = fields["num_attention_heads"]
        shape.derived["num_key_value_heads"] = "as many as query heads, no grouping is named"
    if not fields.get("key_value_latent_size"):
        for key in ("query_latent_size", "rotary_head_size", "key_value_latent_size"):
            fields.pop(key, None)
        return
    fields["attention"] = "mla"
    nope, rotary = config.get("qk_nope_head_dim"), fields.get("rotary_head_size")
    if (
        isinstance(nope, int)
        and isinstance(rotary, int)
        and not isinstance(nope, bool)
        and 0 < nope <= 1 << 20
    ):
        fields["head_size"] = nope + rotary
        shape.used["qk_nope_head_dim"] = "head_size"
        shape.derived["head_size"] = "qk_nope_head_dim + qk_rope_head_dim; head_dim is not it here"
    else:
        shape.problems.append(
            f"qk_nope_head_dim: {format_value(nope)}; allowed: with kv_lora_rank a whole number, "
            "beside qk_rope_head_dim"
        )


def _feed_forward(config: Config, family: str, shape: ModelShape) -> None:
    """Fill in the inner width and whether it is gated."""
    fields = shape.fields
    names = ("hidden_act", "activation_function", "hidden_activation", "mlp_hidden_act")
    key = next((name for name in names if config.get(name)), "")
    act = str(config.get(key, ""))
    shape.used |= {name: "mlp" for name in names if config.get(name)}
    # The squared ReLU has no gate but in BitNet.
    plain = family in UNGATED_FAMILIES or (act in ("relu2", "xielu") and family != "bitnet")
    fields["mlp"] = "gelu" if plain else "swiglu"
    shape.derived["mlp"] = (
        f"two matrices in {family or 'this family'}"
        if fields["mlp"] == "gelu"
        else "three matrices: the activation is gated"
    )
    dense = config.get("intermediate_size_mlp")
    if isinstance(dense, int) and not isinstance(dense, bool) and 0 < dense < 1 << 24:
        # Llama 4: `intermediate_size` is that of an expert.
        fields["expert_ffn_hidden_size"] = fields.get("ffn_hidden_size", dense)
        fields["ffn_hidden_size"] = dense
        shape.used["intermediate_size_mlp"] = "ffn_hidden_size"
    if family == "qwen" and "ffn_hidden_size" in fields:
        fields["ffn_hidden_size"] //= 2
        shape.derived["ffn_hidden_size"] = "half of intermediate_size, which counts the gate too"
    if "ffn_hidden_size" not in fields:
        _default_width(config, family, shape)


def _default_width(config: Config, family: str, shape: ModelShape) -> None:
    """Fill in the inner width of a family whose class derives it; of any other it is a problem."""
    ratio = config.get("expansion_ratio")
    whole = isinstance(ratio, int) and not isinstance(ratio, bool) and 0 < ratio < 64
    each = shape.fields.get("expert_ffn_hidden_size")
    if whole or family in FOUR_TIMES:
        ratio = ratio if whole else 4
        shape.fields["ffn_hidden_size"] = ratio * shape.fields["hidden_size"]
        shape.derived["ffn_hidden_size"] = f"{ratio} x hidden_size, the default of such classes"
    elif each:
        shape.fields["ffn_hidden_size"] = each
        shape.derived["ffn_hidden_size"] = "that of an expert: no other width is named"
    else:
        shape.problems.append(
            f"intermediate_size: missing; allowed: {_allowed_text('ffn_hidden_size')}"
        )


def _fill_defaults(config: Config, family: str, kinds: LayerKinds, shape: ModelShape) -> None:
    """Fill in defaults: tied embeddings, positions, biases, windows."""
    fields = shape.fields
    if "tied_embeddings" not in fields:
        fields["tied_embeddings"] = family in TIED_FAMILIES
        shape.assumed["tied_embeddings"] = (
            f"{'tied' if family in TIED_FAMILIES else 'not tied'}: the default of "
            f"{family or 'Llama'}'s class ({VERSION})"
        )
    for key, becomes, size in learned_positions(config, family):
        fields["learned_positions"] = size
        shape.used[key] = becomes
    if has_biases(config, family):
        fields["biases"] = True
        shape.derived["biases"] = f"linear layers of {family} have biases"
    _windows(config, family, kinds, shape)


def _windows(config: Config, family: str, kinds: LayerKinds, shape: ModelShape) -> None:
    """Fill in the window of every second layer, and say what other windows leave out."""
    window = config.get("sliding_window")
    if family in ("gpt_oss", "gemma2") and isinstance(window, int) and 0 < window < 1 << 30:
        shape.fields["sliding_window"] = window
        shape.used["sliding_window"] = "sliding_window"
        if kinds.key in config:
            shape.used[kinds.key] = "sliding_window"
    elif CHUNKED in kinds.kinds:
        shape.assumed["attention"] = (
            "attention over all tokens in every layer; layers with chunks cost less"
        )
