"""What keys of a `config.json` that are no size of the model do, each with its reason.

A key stands here only where the reason is known; any other is not known to this importer.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.run.importers.hugging_face_layers import LayerKinds
from engine.run.importers.model_shape import ModelShape
from engine.run.importers.unknown_keys import words_of

_NAME = "a name"
_TOKEN = "the number of a token"
_START = "how weights start"
_NORM = "a constant of norms"
_ROTARY = "positions are worked in by rotation, without a table"
_LOGITS = "scales or bounds values that are computed anyway"
_HEADS = "a norm of the heads, of too few parameters to show"
_ROUTER = "how the router scores; as many experts work"
_STORED = "how the file's weights are stored; training's precision is said elsewhere"
_CODE = "how the code runs generation or returns its outputs"
_STATES = "heads and their sizes say the width; how kernels cut a sequence is their own choice"
_POSITIONS = "where an image stands among the tokens"

_FUSED = "a fused kernel of flash-linear-attention"
_WIDTH = "worked into the inner width where the file does not say that"

_BY_REASON: Mapping[str, str] = {
    _NAME: """_name_or_path architectures transformers_version name_or_path license
        base_model_tp_plan base_config_key""",
    _START: """initializer_range initializer_std init_std init_method_std initializer_factor
        rescale_prenorm_residual embed_init_std use_mup mup_base_width init_method
        mamba_dt_min mamba_dt_max mamba_dt_init_floor time_step_min time_step_max time_step_floor
        time_step_limit""",
    _NORM: """rmsnorm post_layer_norm use_gemma_norm rms_norm_eps layer_norm_eps
        layer_norm_epsilon norm_epsilon norm_eps layernorm_epsilon hc_eps
        hc_sinkhorn_iters elementwise_affine latent_moe_use_norm""",
    _FUSED: "fuse_norm fuse_swiglu fuse_cross_entropy fuse_linear_cross_entropy use_l2warp",
    _WIDTH: "hidden_ratio",
    _ROTARY: """rope_theta rope_scaling rope_parameters rope_ratio rotary_emb_base rotary_pct
        partial_rotary_factor max_position_embeddings rope_local_base_freq rope_interleave
        original_max_position_embeddings no_rope_layers no_rope_layer_interval rope_type
        swa_rope_theta compress_rope_theta global_rope_theta mrope_section mrope_interleaved
        rotary_dim max_sequence_length seq_length model_max_length mla_use_nope rope_traditional
        position_embedding_type original_rope use_dynamic_ntk indexer_rope_interleave
        rope_embedding_base rope_position_scale nope_layer_interval""",
    _LOGITS: """attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar
        attention_multiplier logits_scaling residual_multiplier logit_scale swiglu_limit
        swiglu_alpha attention_value_scale clip_qkv attn_temperature_tuning embedding_multiplier
        scale_embedding scale_depth scale_emb attention_softmax_in_fp32 scale_attn_weights
        apply_query_key_layer_scaling fp32_residual_connection residual_in_fp32
        use_parallel_residual parallel_attn apply_residual_connection_post_layernorm
        layernorm_full_attention_alpha""",
    _HEADS: "use_qk_norm qk_norm qk_layernorm use_qk_layernorm qk_norm_type",
    "the sum of its parts, which have keys of their own": "qk_head_dim",
    _ROUTER: """norm_topk_prob routed_scaling_factor scoring_func topk_method moe_topk_method
        router_aux_loss_coef aux_loss_alpha seq_aux router_jitter_noise jitter_noise
        output_router_logits router_z_loss_coef n_group moe_router_activation_func
        moe_renormalize num_expert_group use_grouped_topk moe_router_enable_expert_bias
        router_bias_update_rate use_routing_bias norm_topk_prob_eps moe_router_score_function
        use_moe routed_scaling score_function moe_router_use_sigmoid input_jitter_noise
        router_dtype moe_router_dtype use_moe_router_bias moe_router_scaling_factor
        moe_router_topk_scaling_factor num_hash_layers""",
    _STORED: """torch_dtype dtype quantization_config expert_dtype compression_config
        mamba_ssm_dtype mamba_ssm_cache_dtype scale_fmt""",
    _CODE: """use_cache output_attentions output_hidden_states return_dict pretraining_tp
        num_logits_to_keep chunk_size_feed_forward is_decoder
        is_encoder_decoder add_cross_attention torchscript problem_type gradient_checkpointing
        attn_implementation _attn_implementation ep_size use_return_dict tie_encoder_decoder
        cache_implementation keys_to_ignore_at_inference num_labels task_specific_params
        tokenizer_class prefix max_length length_penalty num_beams num_beam_groups temperature
        top_k top_p typical_p repetition_penalty num_return_sequences _attn_implementation_autoset
        use_flash_attn bias_dropout_fusion _from_model_config ignore_index""",
    _STATES: """expand mamba_expand chunk_size mamba_chunk_size mamba_hidden_act use_conv_bias
        mamba_conv_bias mamba_proj_bias use_mamba_kernels""",
    _POSITIONS: "mm_tokens_per_image boi_token_index eoi_token_index spatial_merge_size",
}
NO_EFFECT: Mapping[str, str] = {
    key: reason for reason, keys in _BY_REASON.items() for key in keys.split()
}
_DROPOUT = ("dropout", "_pdrop", "_drop")
_TOWERS = words_of(
    """vision_config audio_config vision_tower image_config thinker_config img_processor embd_layer
    projector_config aligner_config gen_vision_config gen_aligner_config gen_head_config"""
)
# First words of the keys of encoders that stand on one level with the others.
_TOWER_KEYS = ("mm_", "vision_feature", "projector_hidden", "vision_soft")


def no_effect(key: str, value: object) -> str:
    """Return the reason for which a key changes neither time nor memory, "" if unknown."""
    name = key.rpartition(".")[2]
    if name in NO_EFFECT:
        return NO_EFFECT[name]
    if any(part in ("auto_map", "id2label", "label2id") for part in key.split(".")):
        return _NAME
    if any(part in ("rope_scaling", "rope_parameters") for part in key.split(".")):
        return _ROTARY
    if any(part in ("quantization_config", "compression_config") for part in key.split(".")):
        return _STORED
    if name.endswith(("_token_id", "_token_index", "_token_ids")):
        return _TOKEN
    if any(word in name for word in _DROPOUT) and value in (0, 0.0, None):
        return "nothing is dropped"
    if value in (None, False, 0, [], {}):
        return "switched off"
    return ""


def tower(key: str) -> str:
    """Return the encoder of images or sound that a key belongs to, or an empty text."""
    first = key.partition(".")[0]
    return first if first in _TOWERS or first.startswith(_TOWER_KEYS) else ""


# Key -> what a model that has it is built of, which is not priced.
_UNPRICED: Mapping[str, str] = {
    "parallel_attn_mlp_res": "a dense feed-forward part beside the experts",
    "n_recurrent_loops": "layers that are run several times",
    "H_cycles": "layers that are run several times",
    "num_loops": "layers that are run several times",
    "cca_time0": "attention in a compressed, convolved space",
    "altup_num_inputs": "alternating updates of several residual streams",
    "kv_source_layers": "layers that share keys and values",
    "num_key_value_heads_per_layer": "another number of heads in each layer",
    "num_attention_heads_per_layer": "another number of heads in each layer",
    "hc_count": "hyper-connections: several residual streams",
    "ngram_size": "tables that tokens look up by the words before them",
    "o_lora_rank": "a low-rank output projection of the attention",
    "hc_mult": "hyper-connections: several residual streams",
    "hidden_size_per_layer_input": "embeddings of every layer",
    "num_kv_shared_layers": "layers that share keys and values",
    "laurel_rank": "low-rank residual connections",
    "cross_attention_layers": "layers that attend to images",
    "use_cla": "layers that share keys and values",
    "sparse_attention_config": "attention to chosen blocks of keys",
    "index_topk_blocks": "attention to chosen blocks of keys",
    "moba_config": "attention to chosen blocks of keys",
    "nsa_config": "attention to chosen blocks of keys",
    "zero_expert_num": "experts that do nothing, so that tokens have different numbers of them",
    "engram_config": "tables that tokens look up by the words before them",
    "num_experts_list": "another number of experts in each layer",
}


# What the first words of a key speak of, beside attention and feed-forward parts.
_MIXERS: Mapping[str, str] = {
    "linear_": "layers of linear attention",
    "kda_": "layers of Kimi Delta Attention",
    "lightning_": "layers of linear attention",
    "mamba_": "layers of a state-space model",
    "ssm_": "layers of a state-space model",
    "swa_num_": "layers with a window, with heads of their own",
    "conv_L_cache": "layers of convolutions",
    "short_conv_kernel": "layers of linear attention",
    "conv_kernel_size": "short convolutions",
    "conv1d_width": "recurrent layers",
    "block_types": "recurrent layers",
    "lru_width": "recurrent layers",
    "layer_group_size": "layers of linear attention",
    "full_attn_alpha": "layers of linear attention",
    "attn_layer_period": "layers of a state-space model",
    "cross_attn": "layers that attend to another model",
}


def unplaced_mixers(
    config: Mapping[str, Any], kinds: LayerKinds, shape: ModelShape
) -> Iterator[str]:
    """Yield the first key of a mixer in a file that does not say which layers have it."""
    if kinds.kinds or kinds.problem:
        return
    for key, value in config.items():
        start = next((start for start in _MIXERS if key.startswith(start)), "")
        if not start or key in shape.used or value in (None, False, 0, [], {}, ""):
            continue
        yield (
            f"{key}: {_MIXERS[start]}, and no key says which layers: not priced; allowed: "
            "layer_types, with the kind of each layer"
        )
        return


def unpriced_keys(config: Mapping[str, Any], known: tuple[str, ...] = ()) -> list[str]:
    """Return a line for each key of a structure that is not priced; `known` ones are."""
    lines = []
    for key, meaning in _UNPRICED.items():
        value = config.get(key)
        if key in known or value in (None, False, 0, [], ""):
            continue
        if key == "hc_mult" and value == 1:
            continue
        if key == "kv_source_layers" and value == [*range(len(value))]:
            continue  # every layer has its own
        lines.append(f"{key}: {str(value)[:40]}: {meaning}: not priced")
    if "q_lora_rank" in known:
        return lines
    if config.get("q_lora_rank") and not config.get("kv_lora_rank"):
        lines.append(
            f"q_lora_rank: {str(config['q_lora_rank'])[:40]}: low-rank queries without a latent of "
            "keys: not priced"
        )
    return lines
