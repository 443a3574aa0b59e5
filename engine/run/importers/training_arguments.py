"""Importer of Hugging Face's TrainingArguments: flags, JSON or YAML, keywords in Python.

Read at transformers commit 00349ae8 (5.x, `src/transformers/training_args.py`) and TRL 1.9
(commit f2cd5771). Defaults: per_device_train_batch_size 8, gradient_accumulation_steps 1, bf16 and
gradient_checkpointing False, optim adamw_torch_fused, fsdp and deepspeed None. TRL's classes set
gradient_checkpointing True and bf16 where fp16 is not (`trl/trainer/base_config.py:60`), SFTConfig
max_length 1024 (`trl/trainer/sft_config.py:205`), DPOConfig 1024.

What it cannot say: how many GPUs there are, how long sequences are where the script sets it, what
a script of one's own does beside the Trainer.
"""

from typing import Literal

from engine.run.importers.accelerate import read_command_flag
from engine.run.importers.adapters import read_targets, settle_targets
from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    shorten,
    whole_number,
)
from engine.run.importers.key_table import (
    WORKED,
    KeyTable,
    is_absent,
    is_off,
    is_on,
    note_text,
    plain_name,
    read_key,
    read_launch,
    refuse_value,
    remark,
    switch,
)
from engine.run.importers.objectives import GENERATES, derive_objective, read_class
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
    read_model_type,
    read_optimizer,
    read_precision,
    read_rank,
    read_work,
)

TRANSFORMERS, TRL = "transformers 5 (00349ae8)", "TRL 1.9"
TRAINER = TrainerDefaults(
    software=TRANSFORMERS, micro=8, steps=1, recompute="none", length=0, precision=""
)
_TRL = TrainerDefaults(
    software=TRL, micro=8, steps=1, recompute="full", length=1024, precision="bf16"
)
FULL_LENGTH = "sequences are taken to be as long as allowed; shorter ones take less"

# Keys that change no step of training, by reason: those of TrainingArguments.
WITHOUT_EFFECT = {
    "logging": (
        "logging_*", "log_level*", "log_on_each_node", "report_to", "run_name", "project",
        "trackio_*", "disable_tqdm", "include_num_input_tokens_seen", "include_tokens_per_second",
        "wandb_*", "skip_memory_metrics", "debug", "swanlab_*", "use_swanlab", "plot_loss",
        "use_tensorboard", "log_completions",
    ),
    "evaluation lies between steps of training": (
        "eval_*", "evaluation_strategy", "per_device_eval_batch_size", "do_eval",
        "prediction_loss_only", "metric_for_best_model", "greater_is_better",
        "load_best_model_at_end", "batch_eval_metrics", "include_for_metrics", "bf16_full_eval",
        "fp16_full_eval", "predict_with_generate", "generation_*", "val_size", "validation_*",
        "max_eval_samples", "include_inputs_for_metrics", "per_gpu_eval_batch_size",
        "test_size", "compute_accuracy", "early_stopping_*",
    ),
    "saving lies between steps of training": (
        "save_*", "output_dir", "overwrite_output_dir", "push_to_hub*", "hub_*",
        "resume_from_checkpoint", "ignore_data_skip", "restore_callback_states_from_checkpoint",
        "enable_jit_checkpoint", "checkpointing_steps", "cache_dir", "final_checkpoint_*",
    ),
    "a number of the optimizer or of its schedule": (
        "learning_rate", "weight_decay", "adam_beta*", "adam_epsilon", "warmup_*",
        "lr_scheduler_*", "lr_scheduler", "max_grad_norm", "label_smoothing_factor", "optim_args",
        "neftune_noise_alpha", "loraplus_*", "router_aux_loss_coef", "embedding_lr*",
    ),
    "how many steps there are": ("num_train_epochs", "max_steps", "max_train_samples"),
    "randomness": ("seed", "data_seed", "full_determinism"),
    "how data are loaded": (
        "dataset*", "train_file", "data_path", "eval_data_path", "dataloader_*", "streaming",
        "remove_unused_columns", "label_names", "preprocessing_*", "train_sampling_strategy",
        "length_column_name", "max_samples", "lazy_preprocess", "image_folder", "overwrite_cache",
        "conv_template", "chat_template*", "tokenizer_*", "use_fast_tokenizer", "template", "split",
        "truncation*", "completion_only_loss", "assistant_only_loss", "padding_side", "eos_token",
        "pad_token", "shuffle_dataset", "accelerator_config*", "group_by_length", "interleave_*",
        "line_by_line", "keep_linebreaks", "pad_to_multiple_of", "packing_strategy", "num_proc",
    ),
    "how the weights are loaded": (
        "trust_remote_code", "model_revision", "use_auth_token", "token", "low_cpu_mem_usage",
        "config_name", "hf_hub_token", "ms_hub_token", "version",
        "use_cache",
        "new_special_tokens", "resize_vocab",
    ),
    "rewards, prompts and samples of generation": (
        "reward_weights", "system_prompt", "temperature", "top_p", "top_k", "vllm_*", "epsilon*",
        "scale_rewards", "mask_truncated_completions", "code_*", "num_completions_to_print",
        "callbacks", "benchmarks", "sync_ref_model", "ref_model_*", "cosine_*", "repetition_*",
    ),
    "how images are cut": ("image_*", "mm_vision_*", "mm_use_im_patch_token", "mm_patch_*",
                           "group_by_modality_length", "mm_projector_lr"),
    "how losses of ranks are averaged": ("average_tokens_across_devices",),
    "how processes find each other": ("ddp_timeout", "ddp_backend", "local_rank"),
    "products are taken in 16 bits": ("tf32",),
    "both ways of gradient checkpointing keep the same": (
        "gradient_checkpointing_kwargs*", "use_reentrant",
    ),
    "adapters of any strength take the same": (
        "lora_alpha", "lora_dropout", "lora_bias", "use_rslora", "lora_task_type", "lora_path",
        "init_lora_weights", "lora_weight_path",
    ),
}  # fmt: skip
NOT_MODELED = {
    "use_liger_kernel": "its fused kernels take less time, and its loss less memory",
    "liger_kernel_config": "its fused kernels take less time, and its loss less memory",
    "auto_find_batch_size": "the batch is halved until it fits",
    "torch_empty_cache_steps": "emptying the cache slows steps",
    "ddp_find_unused_parameters": "DDP searches the graph in every step",
    "ddp_bucket_cap_mb": "buckets of DDP have the size of its default",
    "activation_offloading": "kept activations lie in the host's memory",
    "use_dora": "DoRA keeps and computes more than LoRA",
    "parallelism_config": "a mesh that is set beside the text",
    "padding_free": FULL_LENGTH,
    **dict.fromkeys(
        ("modules_to_save", "lora_modules_to_save", "trainable_params", "additional_target"),
        "further weights are trained in full beside the adapters; they are shown as frozen",
    ),
    "mem_budget": "a budget of memory for compiled recomputation",
    **dict.fromkeys(
        (
            "vision_tower",
            "mm_projector_type",
            "pretrain_mm_mlp_adapter",
            "mm_use_im_start_end",
            "vision_path",
            "mlp_path",
            "freeze_backbone",
            "freeze_llm",
        ),
        "images: the language model alone is shown",
    ),
    "gradient_checkpointing_policy": "every layer is shown as recomputed",
}


def read_length(setting: Setting, draft: RunDraft) -> None:
    """Read the length of sequences; null leaves it to the tokenizer."""
    number = whole_number(setting.value)
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    elif number is None:
        refuse_value(setting, "a length in tokens is needed", draft)
    else:
        draft.set_value(setting, "sequence_length", number)


def read_packing(setting: Setting, draft: RunDraft) -> None:
    """Read whether short samples are packed into whole sequences; whole ones are shown."""
    if is_off(setting.value):
        draft.report_not_modeled(setting, FULL_LENGTH)
    else:
        draft.report(setting, "understood", "sequences are full")


def _uses_adapters(setting: Setting, draft: RunDraft) -> None:
    draft.notes["adapters"] = False
    if is_on(setting, draft):
        draft.notes["adapters"] = True
        draft.report(setting, "understood", WORKED)


def _uses_adapters_of_llava(setting: Setting, draft: RunDraft) -> None:
    draft.notes["adapters of LLaVA"] = True  # find_all_linear_names of llava/train/train.py:169
    _uses_adapters(setting, draft)


def _without_reference(setting: Setting, draft: RunDraft) -> None:
    """Read a key of SimPO: preferences without a reference model."""
    draft.notes["no reference"] = draft.notes["preferences"] = True
    draft.report(setting, "understood", WORKED)


def _preferences(setting: Setting, draft: RunDraft) -> None:
    """Read a key that trainers of preferences have; those of reinforcement learning too."""
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    else:
        draft.notes["preferences"] = True
        draft.report(setting, "understood", WORKED)


def _reinforcement(setting: Setting, draft: RunDraft) -> None:
    if is_off(setting.value):
        draft.report(setting, "understood", "off")
    else:
        draft.notes["reinforcement"] = True
        draft.report_not_modeled(setting, GENERATES)


def _projector(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        refuse_value(setting, "training of a projector alone is not predicted", draft)


def _tuned(setting: Setting, draft: RunDraft) -> None:
    """Read which parts LLaVA-NeXT trains: without the language model there is none to predict."""
    if "language_model" in str(setting.value):
        draft.report(setting, "understood", "the language model is trained")
    else:
        refuse_value(setting, "training of a projector alone is not predicted", draft)


def _weight_bits(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value) == "16":
        draft.report(setting, "understood", "weights are not quantized")
    else:
        reason = f"frozen weights are kept in {shorten(setting.value)} bits; 16 are shown"
        draft.report_not_modeled(setting, reason)


def _quantized(setting: Setting, draft: RunDraft) -> None:
    read_bits("4" if "4" in setting.key else "8")(setting, draft)


def _other_name(setting: Setting, draft: RunDraft) -> None:
    """Note a model under a less common key, unless `model_name_or_path` says it."""
    if "model name" in draft.notes:
        draft.report(setting, "understood", "the model, which another key says")
    else:
        note_model(setting, draft)


def _stage(setting: Setting, draft: RunDraft) -> None:
    """Read the stage of ZeRO that a script of one's own hands to DeepSpeed (DeepSpeed-Chat)."""
    number = whole_number(setting.value)
    if number is None or not 0 <= number <= 3:
        refuse_value(setting, "a stage from 0 to 3 is needed", draft)
    else:
        draft.notes.setdefault("deepspeed", "")
        draft.set_value(setting, "parallelism.zero_stage", number)


def _actor_and_critic(setting: Setting, draft: RunDraft) -> None:
    """Refuse DeepSpeed-Chat's third step, whose actor and critic have settings of their own."""
    draft.report(setting, "not known", "an actor and a critic of DeepSpeed-Chat")
    if not draft.notes.get("actor and critic"):
        draft.notes["actor and critic"] = True
        draft.contradictions.append(
            f"line {setting.line}: {shorten(setting.key)}: a step with an actor and a critic is "
            "not predicted"
        )


def _offload(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        draft.report_not_modeled(setting, OFFLOADED)


def _lora_dim(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value) == "0":
        draft.report(setting, "understood", "all weights are trained")
    else:
        read_rank(setting, draft)


TABLE = KeyTable(
    noted={
        "per_device_train_batch_size": MICRO,
        "per_gpu_train_batch_size": MICRO,
        "gradient_accumulation_steps": STEPS,
        "max_prompt_length": "prompt length",
        "max_completion_length": "completion length",
    },
    handlers={
        "model_name_or_path": note_model,
        **dict.fromkeys(
            ("model_name", "base_model", "pretrained_model_name_or_path", "model_id"), _other_name
        ),
        "zero_stage": _stage,
        **dict.fromkeys(
            ("actor_zero_stage", "critic_zero_stage", "critic_model_name_or_path"),
            _actor_and_critic,
        ),
        "offload": _offload,
        "lora_dim": _lora_dim,
        "trainable": read_targets,  # of Chinese-LLaMA's scripts
        "lora_trainable": read_targets,
        "gamma_beta_ratio": _without_reference,
        "simpo_gamma": _without_reference,
        **dict.fromkeys(
            ("beta", "rpo_alpha", "loss_type", "precompute_ref_log_probs", "ref_model"),
            _preferences,
        ),
        **dict.fromkeys(
            ("reward_funcs", "reward_model", "use_vllm", "num_generations", "vllm_mode"),
            _reinforcement,
        ),
        "do_train": read_work,
        "do_predict": read_work,
        "tune_mm_mlp_adapter": _projector,
        "mm_tunable_parts": _tuned,
        "lora_enable": _uses_adapters_of_llava,
        "bits": _weight_bits,
        "flash_attn": switch("training.flash_attention", True),
        "use_flash_attention_2": switch("training.flash_attention", True),
        "deepspeed": read_deepspeed_file,
        "fsdp": read_fsdp_words,
        "fsdp_config": note_text("fsdp file"),
        "fsdp_transformer_layer_cls_to_wrap": fsdp_config_handlers("")[
            "transformer_layer_cls_to_wrap"
        ],
        "bf16": read_precision("bf16"),
        "fp16": read_precision("fp16"),
        "gradient_checkpointing": read_checkpointing,
        "torch_compile": switch("training.compiled", True, False),
        "torch_compile_backend": lambda setting, draft: _compiled(setting, draft),
        "torch_compile_mode": lambda setting, draft: _compiled(setting, draft),
        "optim": read_optimizer,
        "attn_implementation": read_attention,
        "torch_dtype": read_model_type,
        "dtype": read_model_type,
        "max_seq_length": read_length,
        "max_seq_len": read_length,
        "max_length": read_length,
        "model_max_length": read_length,
        "block_size": read_length,
        "max_source_length": read_length,
        "packing": read_packing,
        "use_peft": _uses_adapters,
        "use_lora": _uses_adapters,
        "lora_r": read_rank,
        "lora_rank": read_rank,
        "lora_target_modules": read_targets,
        "load_in_4bit": _quantized,
        "load_in_8bit": _quantized,
        "q_lora": read_bits("4"),
        "use_qlora": read_bits("4"),
        **fsdp_config_handlers(),
    },
    not_modeled=NOT_MODELED,
    without_effect=WITHOUT_EFFECT,
)


def _compiled(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    else:
        draft.set_value(setting, "training.compiled", True)


def import_training_arguments(settings: list[Setting], draft: RunDraft) -> None:
    """Import settings of TrainingArguments, of TRL's classes and of their scripts."""
    for setting in settings:
        if plain_name(setting.key) == "class":
            read_class(setting, draft)
        elif not read_command_flag(setting, draft) and not read_launch(setting, draft):
            read_key(setting, TABLE, draft)


def finish_training_arguments(draft: RunDraft) -> None:
    """Derive the run of the Trainer."""
    notes = draft.notes
    derive_objective(draft)
    name = str(notes.get("arguments class", ""))
    ours = name.endswith("Config")
    if "completion length" in notes:
        length = notes["completion length"] + notes.get("prompt length", 0)
        if "sequence_length" not in draft.values:
            draft.derive("sequence_length", length, "prompt and completion at their longest")
    if "lora rank" in notes and "adapters" not in notes:
        remark(draft, "lora_r", notes["lora rank"], "adapters are taken to be trained")
    if notes.get("adapters", "lora rank" in notes):
        # LoraConfig and TRL's ModelConfig have the ranks 8 and 16.
        rank = notes.get("lora rank", 16 if ours else 8)
        draft.derive("training.lora_rank", rank, "adapters are trained")
        if "lora rank" not in notes:
            remark(draft, "lora_r", rank, "no text says the rank of the adapters")
    default: Literal["all", "PEFT"] = "all" if "adapters of LLaVA" in notes else "PEFT"
    settle_targets(draft, default, "TRL" if ours else "LLaVA" if default == "all" else "Trainer")
    finish_trainer(draft, _TRL if ours else TRAINER)
