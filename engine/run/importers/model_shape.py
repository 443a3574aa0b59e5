"""The shape of a model under construction, and the names that configurations give its sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Config = Mapping[str, Any]

# Key of a run file -> the names that configurations give it.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "num_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "num_attention_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "num_key_value_heads": (
        "num_key_value_heads",
        "num_kv_heads",
        "n_head_kv",
        "kv_n_heads",
        "num_attention_groups",
    ),
    "ffn_hidden_size": (
        "intermediate_size",
        "n_inner",
        "ffn_dim",
        "ffn_hidden_size",
        "ff_intermediate_size",
    ),
    "vocab_size": ("vocab_size", "padded_vocab_size"),
    "tied_embeddings": ("tie_word_embeddings",),
    "head_size": ("head_dim", "kv_channels", "attention_head_dim"),
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
        "experts_per_token",
        "top_k_experts",
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
    "num_prediction_layers": (
        "num_nextn_predict_layers",
        "mtp_num_hidden_layers",
        "num_mtp_layers",
    ),
}


@dataclass(slots=True, kw_only=True)
class ModelShape:
    """The model shape read from a configuration.

    Attributes:
        fields: of a run file's model.
        layers: of its `layers`, where layers differ.
        used: key of the configuration -> what it became.
        derived: key of the run file -> from what.
        assumed: key of the run file -> why this value.
        problems: one line each.
        windows_off: the file says that its window is not used.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    layers: dict[str, Any] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    derived: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    windows_off: bool = False
