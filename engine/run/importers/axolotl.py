"""Importer of axolotl's YAML.

Read at commit 067b021c (0.18, `src/axolotl/utils/schemas/`). Defaults: sequence_len 512
(config.py:665), micro_batch_size and gradient_accumulation_steps 1 (training.py:71, :77), optimizer
adamw_torch_fused (:122), gradient_checkpointing False (config.py:600); the whole batch is
micro_batch_size x steps x GPUs / context_parallel_size / tensor_parallel_size
(utils/config/__init__.py:224); a model is loaded in 16 bits where bf16 is on (:191).

What it cannot say: how many GPUs there are, and what DeepSpeed's file holds.
"""

from engine.run.importers.adapters import read_targets, settle_targets
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, Setting, positive_number
from engine.run.importers.json_text import object_settings
from engine.run.importers.key_table import (
    WORKED,
    KeyTable,
    is_absent,
    is_on,
    read_key,
    refuse_value,
    remark,
    switch,
)
from engine.run.importers.repositories import note_model
from engine.run.importers.trainer import (
    MICRO,
    STEPS,
    TrainerDefaults,
    finish_trainer,
    fsdp_config_handlers,
    read_attention,
    read_bits,
    read_checkpointing,
    read_deepspeed_file,
    read_fsdp_words,
    read_optimizer,
    read_precision,
    read_rank,
)
from engine.run.importers.training_arguments import (
    FULL_LENGTH,
    WITHOUT_EFFECT,
    read_packing,
)
from engine.run.importers.training_arguments import NOT_MODELED as TRAINER_NOT_MODELED
from engine.run.importers.yaml_text import read_yaml

SOFTWARE = "axolotl 0.18"
DEFAULTS = TrainerDefaults(
    software=SOFTWARE, micro=1, steps=1, recompute="none", length=512, precision="bf16"
)


def _adapter(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if is_absent(setting.value):
        draft.report(setting, "understood", "all weights are trained")
    elif word in ("lora", "qlora"):
        draft.notes["adapters"] = word
        draft.report(setting, "understood", WORKED)
    else:
        draft.notes["adapters"] = word
        draft.report_not_modeled(setting, "other adapters; LoRA is shown")


def _all_linear(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        draft.set_value(setting, "training.lora_layers", "all")


def _preferences(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if is_absent(setting.value):
        draft.report(setting, "understood", "off")
    elif word in ("dpo", "ipo", "orpo", "simpo", "kto"):
        draft.notes["sequences of a sample"] = 2
        reason = "the pass and the weights of a reference model; a sample is two sequences"
        draft.report_not_modeled(setting, reason)
    else:
        refuse_value(setting, "reinforcement learning is not predicted", draft)


def _whole_batch(setting: Setting, draft: RunDraft) -> None:
    """Note `batch_size`, of one GPU and all passes: steps = batch_size // micro_batch_size."""
    number = positive_number(setting.value)
    if number:
        draft.notes["samples of a GPU"] = number
        draft.report(setting, "understood", WORKED)
    elif is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    else:
        refuse_value(setting, "a whole number is needed", draft)


def _frozen(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    else:
        draft.report_not_modeled(setting, "only some weights are trained; all are shown")


_FEW_LOGITS = "a loss that keeps no logits, or not all at once: less memory than shown"


def _plugins(setting: Setting, draft: RunDraft) -> None:
    """Read what a plugin does as soon as it is named: the others have switches."""
    if "cutcrossentropy" in str(setting.value).lower():
        draft.report_not_modeled(setting, _FEW_LOGITS)
    else:
        draft.report(setting, "without effect", "what plugins do has keys of its own")


TABLE = KeyTable(
    counts={
        "sequence_len": "sequence_length",
        "context_parallel_size": "parallelism.context_parallel",
        "sequence_parallel_degree": "parallelism.context_parallel",
        "tensor_parallel_size": "parallelism.tensor_parallel",
        "expert_parallel_size": "parallelism.expert_parallel",
    },
    noted={
        "micro_batch_size": MICRO,
        "gradient_accumulation_steps": STEPS,
        "dp_shard_size": "dp_shard_size",
        "dp_replicate_size": "dp_replicate_size",
    },
    handlers={
        "plugins": _plugins,
        "base_model": note_model,
        "deepspeed": read_deepspeed_file,
        "fsdp": read_fsdp_words,
        "bf16": read_precision("bf16"),
        "bfloat16": read_precision("bf16"),
        "fp16": read_precision("fp16"),
        "float16": read_precision("fp16"),
        "gradient_checkpointing": read_checkpointing,
        "optimizer": read_optimizer,
        "adapter": _adapter,
        "lora_r": read_rank,
        "lora_target_linear": _all_linear,
        "lora_target_modules": read_targets,
        "load_in_4bit": read_bits("4"),
        "load_in_8bit": read_bits("8"),
        "rl": _preferences,
        "batch_size": _whole_batch,
        "sample_packing": read_packing,
        "unfrozen_parameters": _frozen,
        "attn_implementation": read_attention,
        "flash_attention": switch("training.flash_attention", True),
        "sdp_attention": switch("training.flash_attention", True),
        "xformers_attention": switch("training.flash_attention", True),
        "flex_attention": switch("training.flash_attention", True),
        "eager_attention": switch("training.flash_attention", False),
        "torch_compile": switch("training.compiled", True, False),
        **fsdp_config_handlers(),
    },
    not_modeled={
        **TRAINER_NOT_MODELED,
        **dict.fromkeys(
            ("liger_rope", "liger_rms_norm", "liger_rms_norm_gated", "liger_layer_norm",
             "liger_swiglu", "liger_glu_activation", "lora_mlp_kernel", "lora_qkv_kernel",
             "lora_o_kernel", "lora_embedding_kernel", "flash_attn_fuse_mlp", "use_kernels",
             "flash_attn_rms_norm", "fused_attn_kernel", "unsloth_lora_mlp", "unsloth_lora_qkv",
             "unsloth_lora_o", "use_scattermoe", "use_sonicmoe", "expert_backend",
             "moe_grouped_backend", "use_glm_dsa_kernels"),
            "fused kernels, which take less time and memory",
        ),
        **dict.fromkeys(
            ("liger_cross_entropy", "liger_fused_linear_cross_entropy", "cut_cross_entropy",
             "flash_attn_cross_entropy", "unsloth_cross_entropy_loss", "chunked_cross_entropy",
             "chunked_cross_entropy_num_chunks"),
            _FEW_LOGITS,
        ),
        "reward_model": "another head; a sample is two sequences",
        "process_reward_model": "another head",
        "quantize_moe_experts": "frozen experts are kept in 4 or 8 bits; 16 are shown",
        "model_quantization_config": "frozen weights are kept in fewer bits; 16 are shown",
        "gptq": "frozen weights are kept in 4 bits; 16 are shown",
        "qat": "products that imitate fewer bits",
        "quantization": "weights in fewer bits after training",
        "fp8": "products in fp8 by torchao; 16 bits are shown",
        "fp8_enable_fsdp_float8_all_gather": "gathers in fp8",
        "activation_offloading": "kept activations lie in the host's memory",
        "layer_offloading": "frozen layers lie in the host's memory",
        "selective_checkpointing": "part of a layer is kept",
        "tiled_mlp": "feed-forward layers run in pieces, which keeps less",
        "experts_implementation": "how the experts' products are computed",
        "processor_type": "images; the language model alone is shown",
        "lora_modules_to_save": "further layers are trained in full",
        "lora_target_parameters": "adapters at further weights",
        "peft_use_dora": "DoRA keeps and computes more than LoRA",
        "relora": "adapters are merged in between",
        "lisa_n_layers": "only a few layers are trained at a time",
        "deepcompile": "DeepSpeed's compiler",
        "resize_token_embeddings_to_32x": "the vocabulary is padded",
        "overrides_of_model_config": "the shape of the model is changed; its name's is shown",
        "num_labels": "another head",
        "llama4_linearized_experts": "experts one by one",
        "use_ray": "Ray starts the processes",
        "ray_num_workers": "how many workers Ray starts",
        "s2_attention": "attention in groups",
        "use_pose": "positions that skip",
        "batch_flattening": FULL_LENGTH,
        "curriculum_sampling": FULL_LENGTH,
        "fp32_norms": "norms in 32 bits",
        "ebft": "generation is not in the step that is shown",
        "trl": "generation is not in the step that is shown",
        "vllm": "generation is not in the step that is shown",
        "diffusion": "noise and masks beside the plain loss",
        "llmcompressor": "weights are pruned",
        "use_eaft": "another loss",
        "freeze_mm_modules": "images; the language model alone is shown",
        "use_dsv4_kernels": "fused kernels, which take less time and memory",
        "dsv4_fp4_grouped_mode": "products in fp4",
        "expert_parallel_token_capacity": "how many tokens the exchange holds",
        "flash_optimum": "another attention",
        "max_packed_sequence_len": "an older length of packs; sequence_len is shown",
    },
    without_effect={
        **WITHOUT_EFFECT,
        "how data are loaded": (
            *WITHOUT_EFFECT["how data are loaded"], "test_datasets", "pretraining_dataset",
            "special_tokens", "tokens", "added_tokens_overrides", "type", "shuffle_merged_datasets",
            "shuffle_before_merging_datasets", "skip_prepare_dataset", "sample_packing_*",
            "excess_length_strategy", "min_sample_len", "max_prompt_len", "eot_tokens",
            "default_system_message", "processor_*", "train_on_inputs", "roles_to_train", "image_*",
            "val_set_size", "push_dataset_to_hub", "hf_use_auth_token", "role_boundaries",
            "pretrain_multipack_*", "pretraining_sample_concatenation", "streaming_*",
            "fix_untrained_tokens", "data_seed", "total_num_tokens", "is_preprocess",
            "eval_sequence_len", "dataset_shard_*", "num_dataset_shards_to_save",
        ),
        "padding to full sequences, which are shown": ("pad_to_sequence_len",),
        "how the weights are loaded": (
            *WITHOUT_EFFECT["how the weights are loaded"], "base_model_*", "model_type",
            "type_of_model", "is_llama_derived_model",
            "is_mistral_derived_model", "is_falcon_derived_model", "is_qwen_derived_model",
            "model_config", "lora_model_dir", "strict", "revision_of_model",
            "embeddings_skip_upcast",
            "mean_resizing_embeddings", "shrink_embeddings", "bnb_config_kwargs", "gptq_*",
            "model_quantization_config_kwargs", "reinit_weights", "lora_on_cpu",
            "qlora_sharded_model_loading", "experimental_skip_move_to_device", "device_map",
            "max_memory", "gpu_memory_limit", "cls_model_config", "processor_config",
        ),
        "which kernels attention takes in pieces": (
            "heads_k_stride", "ring_attn_func", "flex_attn_compile_kwargs", "torch_compile_options",
        ),
        "which part of the run is asked for": ("trainer_cls", "merge_*", "debug*"),
        "adapters of any strength take the same": (
            *WITHOUT_EFFECT["adapters of any strength take the same"], "lora_fan_in_fan_out",
            "peft_*", "peft", "loftq_*", "torchdistx_path", "lora_alpha_pattern",
        ),
        "a number of the optimizer or of its schedule": (
            *WITHOUT_EFFECT["a number of the optimizer or of its schedule"], "cosine_*",
            "lr_div_factor", "lr_groups", "lr_quadratic_warmup", "adam_*", "dpo_*", "rl_beta",
            "orpo_alpha", "simpo_gamma", "cpo_alpha", "kto_*", "dion_*", "eta_min", "jagged_*",
        ),
        "how many steps there are": (
            *WITHOUT_EFFECT["how many steps there are"], "num_epochs", "saves_per_epoch",
            "evals_per_epoch",
        ),
        "logging": (
            *WITHOUT_EFFECT["logging"], "use_wandb", "use_mlflow", "mlflow_*", "comet_*",
            "use_comet", "loss_watchdog_*", "profiler_steps*", "include_tkps", "gradio_*",
            "use_trackio", "use_otel_metrics", "otel_*", "hf_mlflow_*", "do_bench_eval", "bench_*",
            "generate_samples", "num_generation_samples", "do_causal_lm_eval",
        ),
        "collecting garbage between steps": ("gc_steps", "gc_collect_steps"),
        "saving lies between steps of training": (
            *WITHOUT_EFFECT["saving lies between steps of training"],
            "auto_resume_from_checkpoints", "fsdp_final_state_dict_type", "dynamic_checkpoint",
        ),
        "both versions of FSDP are predicted alike": ("fsdp_version",),
    },
)  # fmt: skip


def import_axolotl(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of an axolotl YAML into a draft."""
    for setting in settings:
        if setting.key.startswith("deepspeed."):
            draft.notes.setdefault("deepspeed", "")
            draft.report_not_modeled(
                setting, "a configuration of DeepSpeed inside; paste it as JSON"
            )
        elif (head := setting.key.partition(".")[0]) in TABLE.not_modeled and head != setting.key:
            read_key(Setting(key=head, value=setting.value, line=setting.line), TABLE, draft)
        elif setting.key == "fsdp_config":
            draft.report(setting, "understood", "empty")
        else:
            read_key(setting, TABLE, draft)


def finish_axolotl(draft: RunDraft) -> None:
    """Derive the run by the Trainer's rules."""
    notes = draft.notes
    if "adapters" in notes:
        rank = notes.get("lora rank")
        if rank is None:
            draft.contradictions.append("an adapter without lora_r; its rank is needed")
        else:
            draft.derive("training.lora_rank", rank, f"adapter: {notes['adapters']}")
        settle_targets(draft, "PEFT", SOFTWARE)
    elif "deepspeed" not in notes and not ({"fsdp", "dp_shard_size"} & set(notes)):
        notes["loaded in 16 bits"] = 0
    if "samples of a GPU" in notes and not notes.get(STEPS):
        notes[STEPS] = max(1, notes["samples of a GPU"] // (notes.get(MICRO) or 1))
    _mesh(draft)
    finish_trainer(draft, DEFAULTS)


def _mesh(draft: RunDraft) -> None:
    """Derive GPUs and shards from the sizes of the mesh, whose product is all GPUs."""
    notes, get = draft.notes, draft.get
    shard, copies = notes.get("dp_shard_size"), notes.get("dp_replicate_size") or 1
    experts, context = get("parallelism.expert_parallel"), get("parallelism.context_parallel")
    if not shard:
        if copies > 1:
            remark(draft, "dp_replicate_size", copies, "without dp_shard_size no shards are known")
        return
    total = shard * copies * experts * context * get("parallelism.tensor_parallel")
    if "parallelism.world_size" not in draft.values and "per_node" not in notes:
        draft.derive("parallelism.world_size", total, "the product of the sizes of the mesh")
    if copies > 1 or experts > 1:
        draft.derive(
            "parallelism.shard_group", shard * context, "dp_shard_size: others keep copies"
        )


def _read(piece: Piece, draft: RunDraft) -> None:
    is_object = piece.tree is not None
    import_axolotl(
        object_settings(piece) if is_object else read_yaml(piece.text, piece.line), draft
    )


READER = Reader(read=_read, finish=finish_axolotl)
