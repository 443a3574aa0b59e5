"""The shape of a model from a `config.json` of Hugging Face Transformers.

Names differ by family; the aliases are those of the configuration classes of Transformers 4.57.
Traps: DeepSeek's class sets `head_dim` to the rotary part of a head; a mixture that leaves
`moe_intermediate_size` out means `intermediate_size` by it; multimodal files nest the language
model under `text_config`; what a file leaves out is the default of its class, not of all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.catalog.models import Model
from engine.run.importers.hugging_face_flat import (
    INNER,
    attention_assumption,
    flatten_config,
    unknown_experts_key,
    unsupported_reasons,
)
from engine.run.importers.model_families import (
    GELU_FAMILIES,
    TIED_FAMILIES,
    VERSION,
    has_biases,
    learned_positions,
)
from engine.run.impossible_model import model_contradictions
from engine.run.keys import MODEL
from engine.run.values import format_value, printable_key, read_value

Config = Mapping[str, Any]

# Key of a run file -> the names that configurations give it.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "num_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "num_key_value_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads"),
    "ffn_hidden_size": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    "vocab_size": ("vocab_size",),
    "tied_embeddings": ("tie_word_embeddings",),
    "head_size": ("head_dim", "kv_channels"),
    "num_experts": (
        "n_routed_experts",
        "num_experts",
        "num_local_experts",
        "moe_num_experts",
        "num_total_experts",
    ),
    "experts_per_token": (
        "num_experts_per_tok",
        "num_experts_per_token",
        "num_selected_experts",
        "moe_topk",
        "moe_top_k",
        "moe_k",
    ),
    "num_shared_experts": (
        "n_shared_experts",
        "num_shared_experts",
        "num_shared_expert",
        "moe_num_shared_experts",
    ),
    "expert_ffn_hidden_size": ("moe_intermediate_size", "expert_ffn_hidden_size"),
    "num_dense_layers": ("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"),
    "query_latent_size": ("q_lora_rank",),
    "key_value_latent_size": ("kv_lora_rank",),
    "rotary_head_size": ("qk_rope_head_dim",),
    "value_head_size": ("v_head_dim",),
    "num_prediction_layers": ("num_nextn_predict_layers", "mtp_num_hidden_layers"),
}


@dataclass(slots=True, kw_only=True)
class ModelShape:
    """The model shape read from a configuration.

    Attributes:
        fields: of a run file's model.
        used: key of the configuration -> what it became.
        derived: key of the run file -> from what.
        assumed: key of the run file -> why this value.
        problems: one line each.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    derived: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


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
    _copy_renamed(config, shape)
    if shape.problems:
        return shape
    _heads(config, shape)
    _feed_forward(config, family, shape)
    _experts(config, shape)
    _fill_defaults(config, family, shape)
    return shape


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
    act = str(config.get("hidden_act") or config.get("activation_function") or "")
    fields["mlp"] = "gelu" if family in GELU_FAMILIES or act == "relu2" else "swiglu"
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
    if "ffn_hidden_size" not in fields:
        ratio = config.get("expansion_ratio", 4)
        whole = isinstance(ratio, int) and not isinstance(ratio, bool)
        ratio = ratio if whole and 0 < ratio < 64 else 4
        fields["ffn_hidden_size"] = ratio * fields["hidden_size"]
        shape.derived["ffn_hidden_size"] = f"{ratio} x hidden_size, the default of such classes"


def _experts(config: Config, shape: ModelShape) -> None:
    """Fill in the experts; drop expert-only keys of a dense model."""
    fields = shape.fields
    if "num_experts" not in fields and (key := unknown_experts_key(config)):
        shape.problems.append(
            f"{key}: {config[key]}; allowed: a number of experts under one of the names "
            f"{', '.join(ALIASES['num_experts'])}"
        )
    if fields.get("num_experts", 0) <= 1:
        for key in [key for key in fields if "expert" in key or key == "num_dense_layers"]:
            fields.pop(key)
        return
    if not fields.get("expert_ffn_hidden_size"):
        fields["expert_ffn_hidden_size"] = fields["ffn_hidden_size"]
        shape.derived["expert_ffn_hidden_size"] = "intermediate_size: no width of experts is named"
    if "experts_per_token" not in fields:
        shape.problems.append("num_experts_per_tok: missing; allowed: 1 to the number of experts")
    _shared_experts(config, shape)
    for key, becomes, size in _layers_with_experts(config, shape):
        shape.used[key] = becomes
        fields[becomes] = size
    groups = config.get("topk_group")
    if isinstance(groups, int) and isinstance(config.get("n_group"), int) and groups > 0:
        shape.used["topk_group"] = "nodes_per_token"
        fields["nodes_per_token"] = groups if config["n_group"] > 1 else 0


def _shared_experts(config: Config, shape: ModelShape) -> None:
    """Fill in the shared experts, from their number or their width."""
    width = config.get("shared_expert_intermediate_size", config.get("shared_intermediate_size"))
    each = shape.fields["expert_ffn_hidden_size"]
    if isinstance(width, int) and width > 0 and "num_shared_experts" not in shape.fields:
        shape.fields["num_shared_experts"] = max(1, round(width / each))
        shape.derived["num_shared_experts"] = f"a width of {width} over {each} of one expert"
    if config.get("model_type") in ("llama4_text", "llama4"):
        shape.fields["num_shared_experts"] = 1
        shape.assumed["num_shared_experts"] = f"1: Llama 4's class always has one ({VERSION})"


def _layers_with_experts(config: Config, shape: ModelShape) -> Iterator[tuple[str, str, int]]:
    """Yield the placement of dense layers: (configuration key, run-file key, value)."""
    layers = shape.fields["num_layers"]
    for key in ("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"):
        step = config.get(key)
        if not isinstance(step, int) or isinstance(step, bool) or step < 1:
            continue
        if step <= 2:
            yield key, "dense_layer_every", 2 if step == 2 else 0
        else:
            shape.problems.append(
                f"{key}: {step}; allowed: 1 or 2, every layer or every other one has experts"
            )
    only = config.get("mlp_only_layers")
    if isinstance(only, list) and only:
        first = len(only)
        if sorted(map(str, only)) == sorted(map(str, range(first))) and first <= layers:
            yield "mlp_only_layers", "num_dense_layers", first
        else:
            shape.problems.append(
                f"mlp_only_layers: {format_value(only)}; allowed: none, or the first layers of "
                "the model"
            )


def _fill_defaults(config: Config, family: str, shape: ModelShape) -> None:
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
    window = config.get("sliding_window")
    if family in ("gpt_oss", "gemma2") and isinstance(window, int) and 0 < window < 1 << 30:
        # Only here every second layer has it; elsewhere all have, or none.
        fields["sliding_window"] = window
        shape.used["sliding_window"] = "sliding_window"
    elif said := attention_assumption(config):
        shape.assumed["attention"] = said
