"""The model of a MaxText configuration: by its name, or from its sizes.

Sizes of `base.yml` are multiplied by `global_parameter_scale`, a power of two: in turn heads and
inner width, hidden size, layers are doubled (`get_individual_scales` of configs/types.py).
"""

from typing import Any

from engine.run.importers.import_report import RunDraft, Setting, whole_number
from engine.run.importers.key_table import WORKED, is_absent, refuse_value
from engine.run.importers.repositories import find_repository

_BASE: dict[str, int] = {
    "base_emb_dim": 2048,
    "base_num_query_heads": 16,
    "base_num_kv_heads": 16,
    "base_mlp_dim": 7168,
    "base_num_decoder_layers": 16,
    "head_dim": 128,
    "vocab_size": 32000,
    "num_experts": 1,
    "num_experts_per_tok": 1,
    "base_moe_mlp_dim": -1,
    "shared_experts": 0,
    "first_num_dense_layers": 0,
    "q_lora_rank": 0,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "global_parameter_scale": 1,
    "trainable_position_size": -1,
    "sliding_window_size": 0,
}
_WORDS = ("model_name", "decoder_block", "attention_type", "mlp_activations",
          "logits_via_embedding", "override_model_config", "use_indexer")  # fmt: skip
# Names of its files that are not those of the catalog, nor of a repository.
_NAMES = {
    "deepseek2-16b": "deepseek-v2-lite",
    "deepseek-v2-16b": "deepseek-v2-lite",
    "deepseek2-236b": "deepseek-v2",
    "deepseek3-671b": "deepseek-v3",
    "deepseek3-671b-2dfsdp": "deepseek-v3",
    "deepseek3-671b-batchsplit": "deepseek-v3",
    "deepseek3.2-671b": "deepseek-v3.2",
    "deepseek4-284b": "deepseek-v4-flash",
    "gemma4-26b": "gemma-4-26b-a4b",
    "kimi-k2-1t": "kimi-k2",
    "llama4-17b-16e": "llama-4-scout",
    "llama4-17b-128e": "llama-4-maverick",
    "qwen3-480b-a35b": "qwen3-coder-480b-a35b",
}
MODEL_KEYS = (*_BASE, *_WORDS)
# Decoder blocks whose layers are alike, dense or with experts.
_PLAIN = ("default", "llama2", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gemma", "gpt3",
          "deepseek")  # fmt: skip


def note_model_key(setting: Setting, draft: RunDraft) -> None:
    """Note a key of the model."""
    if setting.key in _BASE:
        number = whole_number(setting.value)
        if number is None:
            refuse_value(setting, "a whole number is needed", draft)
            return
        draft.notes.setdefault("sizes", {})[setting.key] = number
    elif not is_absent(setting.value):
        draft.notes.setdefault("words", {})[setting.key] = setting.value
    draft.report(setting, "understood", WORKED)


def derive_maxtext_model(draft: RunDraft) -> None:
    """Derive the model: that of its name goes before sizes, as in MaxText."""
    words: dict[str, Any] = draft.notes.get("words", {})
    sizes: dict[str, int] = draft.notes.get("sizes", {})
    name = str(words.get("model_name", "default"))
    if "model" in draft.values or "model.num_layers" in draft.values:
        return
    if name not in ("default", "") and str(words.get("override_model_config")) != "True":
        key = _NAMES.get(name.lower()) or find_repository(name)
        key = key or find_repository(name.replace("llama", "llama-", 1))
        if key:
            draft.derive("model", key, f"model_name {name[:60]}")
            return
        if "base_num_decoder_layers" not in sizes:
            draft.contradictions.append(
                f"model_name {name[:60]}: not in the catalog; paste its file too, "
                f"src/maxtext/configs/models/{name[:60]}.yml"
            )
            return
    if not {"base_num_decoder_layers", "base_emb_dim", "global_parameter_scale"} & set(sizes):
        draft.contradictions.append("no text says which model: add model_name, or base_emb_dim and "
                                    "the other sizes")  # fmt: skip
        return
    block = str(words.get("decoder_block", "llama2"))
    indexed = str(words.get("use_indexer", False)).lower() == "true"
    if block not in _PLAIN or indexed or sizes.get("sliding_window_size"):
        draft.contradictions.append(
            f"decoder_block {block[:40]}: its layers differ, which these keys do not tell; name a "
            "model of the catalog or paste its config.json"
        )
        return
    _derive_sizes(draft, {**_BASE, **sizes}, words, block)


def _derive_sizes(
    draft: RunDraft, sizes: dict[str, int], words: dict[str, Any], block: str
) -> None:
    scale = sizes["global_parameter_scale"]
    if scale < 1 or scale & (scale - 1):
        draft.contradictions.append("global_parameter_scale: allowed: a power of two")
        return
    rounds, rest = divmod(scale.bit_length() - 1, 3)
    wide, hidden = 1 << (rounds + (rest > 0)), 1 << (rounds + (rest > 1))
    found: dict[str, Any] = {
        "num_layers": sizes["base_num_decoder_layers"] << rounds,
        "hidden_size": sizes["base_emb_dim"] * hidden,
        "num_attention_heads": sizes["base_num_query_heads"] * wide,
        "num_key_value_heads": sizes["base_num_kv_heads"] * wide,
        "ffn_hidden_size": sizes["base_mlp_dim"] * wide,
        "vocab_size": sizes["vocab_size"],
        "head_size": sizes["head_dim"],
        "mlp": "swiglu"
        if len(_listed(words.get("mlp_activations", "silu, linear"))) > 1
        else "gelu",
        "tied_embeddings": str(words.get("logits_via_embedding", False)).lower() == "true",
    }
    if sizes["num_experts"] > 1:
        width = sizes["base_moe_mlp_dim"]
        found |= {
            "num_experts": sizes["num_experts"],
            "experts_per_token": sizes["num_experts_per_tok"],
            "expert_ffn_hidden_size": width * wide if width > 0 else found["ffn_hidden_size"],
            "num_shared_experts": sizes["shared_experts"],
            "num_dense_layers": sizes["first_num_dense_layers"],
        }
    if str(words.get("attention_type", "global")) == "mla":
        found |= {
            "attention": "mla",
            "head_size": sizes["qk_nope_head_dim"] + sizes["qk_rope_head_dim"],
            "query_latent_size": sizes["q_lora_rank"],
            "key_value_latent_size": sizes["kv_lora_rank"],
            "rotary_head_size": sizes["qk_rope_head_dim"],
            "value_head_size": sizes["v_head_dim"],
        }
    if block == "gpt3":
        found["biases"] = True
        if sizes["trainable_position_size"] > 0:
            found["learned_positions"] = sizes["trainable_position_size"]
    for key, value in found.items():
        draft.derive(f"model.{key}", value, "the sizes of base.yml and of this text")


def _listed(value: Any) -> list[str]:  # noqa: ANN401
    words = value if isinstance(value, list) else str(value).strip("[]").split(",")
    return [str(word).strip(" \"'") for word in words if str(word).strip(" \"'")]
