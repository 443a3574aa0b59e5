"""Importer of NeMo 1: its YAML, and overrides of it.

Read at NeMo 2.4 (commit 8cfedd72, `examples/nlp/language_modeling/conf/megatron_gpt_config.yaml`).
Defaults: 1 node of 1 device, micro_batch_size 4 and global_batch_size 8, 512 tokens, learned
positions, biases, GELU, shared embeddings, sequence_parallel False, no recomputation, fused_adam
without a distributed optimizer, transformer_engine False; `distributed_fused_adam` is ZeRO-1.

What it cannot say: the vocabulary, which is the tokenizer's.
"""

import re

from engine.run.importers.adapters import read_targets
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    is_true,
    positive_number,
    shorten,
)
from engine.run.importers.key_table import (
    WORKED,
    Handler,
    KeyTable,
    is_absent,
    is_off,
    is_on,
    note_number,
    read_key,
    read_launch,
    refuse_value,
)
from engine.run.importers.megatron_family import read_megatron_key
from engine.run.importers.megatron_readers import finish as finish_megatron_run
from engine.run.importers.repositories import derive_named_model, note_model
from engine.run.importers.shell import resolve_variables, script_flags
from engine.run.importers.yaml_text import parse_scalar, read_yaml

SOFTWARE = "NeMo 1"
_OVERRIDE = re.compile(
    r"(?:^|(?<=[\s\"'(]))\+{0,2}((?:trainer|model|exp_manager|cluster_type|run)(?:\.[A-Za-z_]\w*)+)="
    r"(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\[[^\]\n]{0,300}\]|[^\s\\\"']{0,300})"
)


def _precision(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word.startswith("bf16"):
        draft.set_value(setting, "training.precision", "bf16")
    elif word.startswith("16"):
        draft.set_value(setting, "training.precision", "fp16")
    else:
        draft.report_not_modeled(setting, "training in 32 bits is not predicted; 16 are shown")


def _activation(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    gated = ("swiglu", "geglu", "reglu", "fast-swiglu", "fast-geglu", "fast-reglu")
    draft.set_value(setting, "model.mlp", "swiglu" if word in gated else "gelu")


def _shared(setting: Setting, draft: RunDraft) -> None:
    draft.set_value(setting, "model.tied_embeddings", is_true(setting.value))


def _bias(setting: Setting, draft: RunDraft) -> None:
    if is_off(setting.value):
        draft.notes["disable-bias-linear"] = True
    draft.report(setting, "understood", "biases of linear layers")


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("distributed_fused_adam", "mcore_distributed_optim", "megatron_fused_adam"):
        draft.set_value(setting, "parallelism.zero_stage", 1)
    elif "adam" in word:
        draft.set_value(setting, "training.optimizer", "adam")
    else:
        draft.values.setdefault("training.optimizer", "adam")
        draft.report_not_modeled(setting, "another optimizer; Adam's states and time are shown")


def _adapters(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if is_absent(setting.value):
        draft.report(setting, "understood", "all weights are trained")
    elif word == "lora":
        draft.notes["adapters"] = True
        draft.report(setting, "understood", "adapters are trained")
    else:
        refuse_value(setting, "LoRA alone is predicted", draft)


def _fp8(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        draft.set_value(setting, "training.precision", "fp8")


def _accumulation(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value) == "1":
        draft.report(setting, "understood", "passes follow from the two batch sizes")
    else:
        refuse_value(setting, "passes follow from the two batch sizes; 1 is needed here", draft)


def _as(name: str) -> Handler:
    return lambda setting, draft: read_megatron_key(setting, name, draft)


_M = "model."
_RENAMED = {
    "encoder_seq_length": "seq_length",
    "activations_checkpoint_granularity": "recompute_granularity",
    "activations_checkpoint_method": "recompute_method",
    "activations_checkpoint_num_layers": "recompute_num_layers",
    "ub_tp_comm_overlap": "tp_comm_overlap",
    "num_moe_experts": "num_experts",
    "use_flash_attention": "use_flash_attn",
    "override_vocab_size": "padded_vocab_size",
    "qkv_bias": "add_qkv_bias",
    "enable_cuda_graph": "enable_cuda_graph",
    "overlap_grad_sync": "overlap_grad_reduce",
}
_PLAIN = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
    "virtual_pipeline_model_parallel_size", "expert_model_parallel_size", "micro_batch_size",
    "global_batch_size", "num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads",
    "num_query_groups", "kv_channels", "max_position_embeddings", "position_embedding_type",
    "make_vocab_size_divisible_by", "sequence_parallel", "moe_router_topk", "moe_ffn_hidden_size",
    "moe_grouped_gemm", "moe_token_dispatcher_type", "moe_layer_freq", "vocab_size",
)  # fmt: skip
_TRAINER = (
    "accelerator", "logger", "enable_checkpointing", "use_distributed_sampler", "max_epochs",
    "replace_sampler_ddp", "max_steps", "max_time", "log_every_n_steps", "val_check_interval",
    "limit_val_batches", "limit_test_batches", "gradient_clip_val", "benchmark",
    "enable_model_summary", "num_sanity_val_steps", "enable_progress_bar",
    "check_val_every_n_epoch",
)  # fmt: skip
_OPTIMIZER = (
    "lr", "weight_decay", "betas", "eps", "sched", "bucket_cap_mb", "contiguous_grad_buffer",
    "contiguous_param_buffer", "amsgrad",
)  # fmt: skip


def _tuned_length(setting: Setting, draft: RunDraft) -> None:
    """Read the length of samples for fine-tuning, which goes before the model's."""
    number = positive_number(setting.value)
    if number is None:
        draft.report(setting, "understood", "refers to another key")
    else:
        draft.lines.pop("sequence_length", None)
        draft.set_value(setting, "sequence_length", number)


def _tokenizer(setting: Setting, draft: RunDraft) -> None:
    """Note a tokenizer: the class of Megatron's, a repository, or a file."""
    word = str(setting.value)
    if not is_absent(setting.value):
        file = "/" in word or setting.key.endswith(".model")
        draft.notes["tokenizer-model" if file else "tokenizer-type"] = word
    draft.report(setting, "understood", WORKED)


TABLE = KeyTable(
    handlers={
        f"{_M}data.train_ds.max_seq_length": _tuned_length,
        f"{_M}tokenizer.type": _tokenizer,
        f"{_M}tokenizer.model": _tokenizer,
        "trainer.devices": note_number("per_node", meaning="how many processes are launched"),
        "trainer.num_nodes": note_number("nodes", meaning="how many processes are launched"),
        "trainer.precision": _precision,
        "trainer.accumulate_grad_batches": _accumulation,
        f"{_M}precision": _precision,
        f"{_M}activation": _activation,
        f"{_M}share_embeddings_and_output_weights": _shared,
        f"{_M}bias": _bias,
        f"{_M}optim.name": _optimizer,
        f"{_M}peft.peft_scheme": _adapters,
        f"{_M}peft.lora_tuning.adapter_dim": _as("lora rank"),
        f"{_M}peft.lora_tuning.target_modules": read_targets,
        f"{_M}restore_from_path": note_model,
        f"{_M}fp8": _fp8,
        f"{_M}optim.overlap_grad_sync": _as("overlap_grad_reduce"),
        **{f"{_M}{name}": _as(name) for name in _PLAIN},
        **{f"{_M}{name}": _as(becomes) for name, becomes in _RENAMED.items()},
    },
    not_modeled={
        f"{_M}fsdp": "PyTorch's FSDP under NeMo",
        f"{_M}cpu_offloading": OFFLOADED,
        f"{_M}num_micro_batches_with_partial_activation_checkpoints": "fewer layers are recomputed",
        f"{_M}activations_checkpoint_layers_per_pipeline": "fewer layers are recomputed",
        f"{_M}rampup_batch_size": "the batch grows; its last size is shown",
        f"{_M}window_size": "attention in a window; all positions are shown",
        f"{_M}drop_layers": "layers are left out",
        f"{_M}fp32_residual_connection": "residuals in 32 bits",
        f"{_M}use_fp8_params": "weights in fp8",
        f"{_M}data.packed_sequence": "sequences are taken to be full",
        f"{_M}moe_extended_tp": "experts over tensor-parallel ranks",
        f"{_M}optim.grad_sync_dtype": "gradients travel in another precision",
        f"{_M}mcore_customization_config": "another kind of layer",
        f"{_M}hybrid_override_pattern": "Mamba's layers; attention is shown",
    },
    without_effect={
        "how long, how it is logged and where it is saved": (
            *(f"trainer.{key}" for key in _TRAINER), "exp_manager", "name", "run",
            "cluster_type", "s3_checkpointing", "hydra",
            f"{_M}nsys_profile", f"{_M}enable_megatron_timers", f"{_M}megatron_timer_kwargs",
            f"{_M}memory_profile", f"{_M}answer_only_loss", f"{_M}save_nemo_on_validation_end",
            "inference", "batch_by_size", "launcher_scripts_path", "defaults",
        ),
        "data, which are taken to come in time": (f"{_M}data", f"{_M}tokenizer"),
        "a number of the optimizer": (
            *(f"{_M}optim.{key}" for key in _OPTIMIZER), f"{_M}grad_clip", f"{_M}reset_lr*",
            f"{_M}grad_div_ar_fusion", f"{_M}grad_allreduce_chunk_*", f"{_M}bucket_cap_mb",
        ),
        "how the weights begin and are loaded": (
            f"{_M}init_method_std", f"{_M}use_scaled_init_method", f"{_M}seed", f"{_M}restore_*",
            f"{_M}resume_*", f"{_M}use_cpu_initialization", f"{_M}megatron_legacy",
            f"{_M}dist_ckpt_*",
            f"{_M}mcore_gpt", f"{_M}skip_train", f"{_M}hparams_file", f"{_M}model_type",
        ),
        "dropout, whose masks are small beside the rest": (
            f"{_M}hidden_dropout", f"{_M}attention_dropout", f"{_M}ffn_dropout",
        ),
        "norms and positions keep their size": (
            f"{_M}normalization", f"{_M}layernorm_epsilon", f"{_M}do_layer_norm_weight_decay",
            f"{_M}rotary_*", f"{_M}seq_len_interpolation_factor", f"{_M}scale_positional_*",
            f"{_M}headscale", f"{_M}transformer_block_type", f"{_M}openai_gelu",
            f"{_M}normalize_attention_scores", f"{_M}attention_type", f"{_M}pre_process",
            f"{_M}post_process", f"{_M}apply_query_key_layer_scaling", f"{_M}qk_layernorm",
            f"{_M}moe_aux_loss_coeff", f"{_M}rotary_percentage",
        ),
        "fused kernels are taken": (
            f"{_M}persist_layer_norm", f"{_M}gradient_accumulation_fusion", f"{_M}bias_*",
            f"{_M}masked_softmax_fusion", f"{_M}get_attention_mask_from_fusion",
            f"{_M}apply_rope_fusion", f"{_M}cross_entropy_loss_fusion", f"{_M}transformer_engine",
            f"{_M}fp16_lm_cross_entropy", f"{_M}use_te_rng_tracker", f"{_M}use_emha",
        ),
        "how mixed precision scales": (
            f"{_M}native_amp_*", f"{_M}hysteresis", f"{_M}megatron_amp_O2", f"{_M}fp8_*",
            f"{_M}reduce_amax",
        ),
        "the gather of weights is hidden in any case": (f"{_M}optim.overlap_param_sync",),
        "how messages are sent": (
            f"{_M}overlap_p2p_comm", f"{_M}batch_p2p_comm", f"{_M}sync_batch_comm",
            f"{_M}nccl_communicator_config_path", f"{_M}ub_tp_comm_*", f"{_M}sharp",
            f"{_M}gradient_as_bucket_view", f"{_M}async_grad_allreduce",
            f"{_M}validation_param_sync_overlap",
        ),
        "counts where another switch is on": (
            f"{_M}cpu_offloading_*", f"{_M}fsdp_*", f"{_M}peft",
        ),
        "checks and logs": (f"{_M}onnx_safe", f"{_M}apex_transformer_log_level", f"{_M}gc_interval",
                            f"{_M}deterministic_mode"),
    },
)  # fmt: skip


_ENCODERS = tuple(
    f"{_M}{key}"
    for key in (
        "encoder.",
        "decoder.",
        "bert_",
        "unet_config.",
        "unet.",
        "vision.",
        "vision_",
        "text.",
        "nerf.",
        "retro.",
    )
)


def import_nemo1(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of NeMo 1 into a draft."""
    draft.values.setdefault("training.framework", "megatron")
    for setting in settings:
        if setting.key.startswith(_ENCODERS):
            draft.notes.setdefault("encoder", setting)
            draft.report(setting, "not modeled", "models with an encoder are not predicted")
        elif setting.key.startswith(f"{_M}mm_cfg."):
            draft.report_not_modeled(setting, "images: the language model alone is shown")
        elif str(setting.value).startswith("${"):
            draft.report(setting, "understood", "refers to another key")
        elif setting.key == f"{_M}peft.lora_tuning.adapter_dim":
            draft.notes["lora rank"] = positive_number(setting.value) or 32
            draft.report(setting, "understood", "the rank of adapters")
        else:
            read_key(setting, TABLE, draft)


def finish_nemo1(draft: RunDraft) -> None:
    """Derive the run by Megatron's rules with NeMo's defaults."""
    notes = draft.notes
    if encoder := notes.get("encoder"):
        draft.contradictions.append(
            f"line {encoder.line}: {shorten(encoder.key)}: models with an encoder are not predicted"
        )
        return
    derive_named_model(draft)
    notes.setdefault("per_node", 1)
    draft.assume("sequence_length", 512, f"encoder_seq_length ({SOFTWARE})")
    notes.setdefault("position-embedding-type", "learned_absolute")
    notes.setdefault("max-position-embeddings", draft.values["sequence_length"])
    draft.assume("training.micro_batch_size", 4, f"micro_batch_size ({SOFTWARE})")
    draft.assume("training.global_batch_size", 8, f"global_batch_size ({SOFTWARE})")
    draft.assume("training.precision", "bf16", f"precision ({SOFTWARE})")
    if notes.get("adapters"):
        rank = notes.get("lora rank", 32)
        draft.derive("training.lora_rank", rank, f"peft_scheme lora, adapter_dim ({SOFTWARE})")
        reason = "target_modules: attention_qkv; all of the attention is shown"
        draft.assume("training.lora_layers", "attention", f"{reason} ({SOFTWARE})")
    finish_megatron_run(draft)


def _read(piece: Piece, draft: RunDraft) -> None:
    text = piece.text
    if re.search(r"^[ \t]*model\s*:\s*$|^[ \t]*model\s*:\s*#", text, re.MULTILINE):
        import_nemo1(read_yaml(text, piece.line), draft)
        return
    settings = []
    for number, line in enumerate(resolve_variables(text).splitlines(), piece.line):
        code = re.sub(r"(^|\s)#.*$", " ", line[:40_000])
        for match in _OVERRIDE.finditer(code):
            value = parse_scalar(match[2].strip("\"'"))
            settings.append(Setting(key=match[1], value=value, line=number))
    import_nemo1(settings, draft)
    for setting in script_flags(text, piece.line):
        if "trainer.devices" not in {read.key for read in settings}:
            read_launch(setting, draft)


READER = Reader(read=_read, finish=finish_nemo1)
