"""Dialects of configuration files: YAML, TOML, JSON and Python, with their signs.

A reader is imported when a text is of its dialect: the signs of all formats are small, and a page
in a browser fetches the readers one by one.
"""

from engine.run.importers.dialect import (
    Dialect,
    Piece,
    Reader,
    flags,
    nested_yaml_keys,
    words,
    yaml_keys,
)
from engine.run.importers.import_report import RunDraft
from engine.run.importers.json_text import object_settings


def _read_document(piece: Piece, draft: RunDraft) -> None:
    draft.notes["document"] = piece.tree
    for setting in object_settings(piece):
        draft.report(setting, "understood", "a key of a run file")


def _read_run_file() -> Reader:
    return Reader(read=_read_document)


RUN_FILE = Dialect(
    name="run file",
    reader=_read_run_file,
    software="run file",
    keys=frozenset(("parallelism", "training", "cluster")),
)


def _read_config_json() -> Reader:
    from engine.run.importers.hugging_face_keys import READER

    return READER


CONFIG_JSON = Dialect(
    name="Hugging Face config.json",
    reader=_read_config_json,
    keys=words(
        """model_type architectures transformers_version hidden_size n_embd d_model hidden_dim
        num_hidden_layers n_layer n_layers num_layers num_attention_heads n_head n_heads
        num_key_value_heads intermediate_size ffn_hidden_size vocab_size padded_vocab_size
        max_position_embeddings n_positions hidden_act rms_norm_eps tie_word_embeddings
        initializer_range bos_token_id eos_token_id text_config llm_config language_config
        num_experts num_local_experts n_routed_experts is_encoder_decoder block_configs"""
    ),
)


def _read_torchtitan_toml() -> Reader:
    from engine.run.importers.torchtitan_readers import TOML_READER

    return TOML_READER


TORCHTITAN_TOML = Dialect(
    name="torchtitan TOML",
    reader=_read_torchtitan_toml,
    software="torchtitan",
    signs=(
        r"^[ \t]*\[(?:parallelism|training|job|activation_checkpoint|lr_scheduler|metrics|float8|"
        r"mx|quantize\.[\w.]+|activation_checkpoint\.[\w.]+)\]",
        r"^[ \t]*(?:seq_len|local_batch_size|flavor|tensor_parallel_degree|"
        r"pipeline_parallel_degree|data_parallel_shard_degree|data_parallel_replicate_degree|"
        r"context_parallel_degree|expert_parallel_degree|fsdp_reshard_after_forward|"
        r"enable_async_tensor_parallel|selective_ac_option|dump_folder|hf_assets_path|converters|"
        r"pipeline_parallel_schedule|pipeline_parallel_microbatch_size)\s*=(?!=)",
    ),
)


def _read_torchtitan_python() -> Reader:
    from engine.run.importers.torchtitan_readers import PYTHON_READER

    return PYTHON_READER


TORCHTITAN_PYTHON = Dialect(
    name="torchtitan Python",
    reader=_read_torchtitan_python,
    software="torchtitan",
    signs=(
        r"\b(?:ParallelismConfig|TrainingConfig|CompileConfig|ActivationCheckpointConfig|"
        r"Trainer\.Config|parallelism\.Config|LRSchedulersContainer\.Config|"
        r"MetricsProcessor\.Config|CheckpointManager\.Config|OptimizersContainer\.Config)(?=\()",
        r"\.(?:parallelism|training)\.\w+\s*=",
        r"\b(?:SelectiveAC|FullAC|NoAC)\.Config|\bmodel_registry\(",
        r"(?<=[(,\s])(?:local_batch_size|data_parallel_shard_degree|tensor_parallel_degree|"
        r"pipeline_parallel_degree|context_parallel_degree|expert_parallel_degree|"
        r"num_tokens_per_microbatch_per_dp_rank|num_tokens_per_train_step|max_context_length|"
        r"data_parallel_replicate_degree|pipeline_parallel_schedule)=(?!=)",
        r"\bfrom torchtitan\b|\bimport torchtitan\b",
    ),
    contains=frozenset(("torchtitan TOML",)),
)


def _read_torchtitan_flags() -> Reader:
    from engine.run.importers.torchtitan_readers import FLAGS_READER

    return FLAGS_READER


TORCHTITAN_FLAGS = Dialect(
    name="torchtitan flags",
    reader=_read_torchtitan_flags,
    software="torchtitan",
    signs=(
        r"--(?:parallelism|training|activation_checkpoint|activation-checkpoint|job|compile|"
        r"metrics|profiling|checkpoint|optimizer|lr_scheduler|model|float8)\.\w+",
        r"\btorchtitan[./]\w+|--job\.config_file|\brun_train\.sh\b",
    ),
    overrides=True,
)


LLAMA_FACTORY_KEYS = (
    "finetuning_type", "cutoff_len", "lora_target", "stage", "quantization_bit", "dataset_dir",
    "plot_loss", "freeze_trainable_layers", "enable_liger_kernel", "neat_packing",
    "disable_gradient_checkpointing", "flash_attn", "pref_loss", "freeze_vision_tower",
)  # fmt: skip


def _read_llama_factory() -> Reader:
    from engine.run.importers.llama_factory import READER

    return READER


LLAMA_FACTORY = Dialect(
    name="LLaMA-Factory",
    reader=_read_llama_factory,
    software="LLaMA-Factory",
    signs=(yaml_keys(*LLAMA_FACTORY_KEYS, "template", "val_size"), flags(*LLAMA_FACTORY_KEYS)),
    keys=frozenset(LLAMA_FACTORY_KEYS),
    joins=frozenset(("DeepSpeed", "accelerate")),
    contains=frozenset(("Hugging Face TrainingArguments", "Megatron-LM arguments in YAML")),
)


_AXOLOTL_KEYS = (
    "base_model", "sequence_len", "sample_packing", "pad_to_sequence_len", "lora_target_linear",
    "adapter", "datasets", "dataset_prepared_path", "val_set_size", "evals_per_epoch",
    "saves_per_epoch", "eval_sample_packing",
)  # fmt: skip


def _read_axolotl() -> Reader:
    from engine.run.importers.axolotl import READER

    return READER


AXOLOTL = Dialect(
    name="axolotl YAML",
    reader=_read_axolotl,
    software="axolotl",
    signs=(yaml_keys(*_AXOLOTL_KEYS),),
    joins=frozenset(("DeepSpeed", "accelerate")),
    contains=frozenset(
        (
            "accelerate YAML",
            "Hugging Face TrainingArguments",
            "Megatron-LM arguments in YAML",
            "LLaMA-Factory",
        )
    ),
)


_GPT_NEOX_KEYS = (
    "pipe_parallel_size", "model_parallel_size", "pos_emb", "gpt_j_residual", "no_weight_tying",
    "scaled_upper_triang_masked_softmax_fusion", "checkpoint_factor", "output_layer_parallelism",
    "attention_config", "keep_last_n_checkpoints", "synchronize_each_layer", "rotary_pct",
)  # fmt: skip


_GPT_NEOX_PATTERN = "|".join(key.replace("_", "[_-]") for key in _GPT_NEOX_KEYS)


def _read_gpt_neox() -> Reader:
    from engine.run.importers.gpt_neox import READER

    return READER


GPT_NEOX = Dialect(
    name="GPT-NeoX YAML",
    reader=_read_gpt_neox,
    software="GPT-NeoX",
    signs=(rf"^[ \t]*[\"']?(?:{_GPT_NEOX_PATTERN})[\"']?\s*:(?=\s)",),
    keys=frozenset((*_GPT_NEOX_KEYS, *(key.replace("_", "-") for key in _GPT_NEOX_KEYS))),
    contains=frozenset(
        ("DeepSpeed JSON", "Hugging Face config.json", "Megatron-LM arguments in YAML")
    ),
)


def _read_gpt_neox_printed() -> Reader:
    from engine.run.importers.gpt_neox import PRINTED_READER

    return PRINTED_READER


GPT_NEOX_PRINTED = Dialect(
    name="GPT-NeoX printed arguments",
    reader=_read_gpt_neox_printed,
    software="GPT-NeoX",
    signs=(
        r"\b(?:pipe_parallel_size|model_parallel_size|pos_emb|gpt_j_residual|no_weight_tying|"
        r"train_micro_batch_size_per_gpu|attention_config|global_num_gpus|zero_optimization|"
        r"checkpoint_factor|rotary_pct|gradient_accumulation_steps) \.{2,} ",
        r"\.{2,}updated(?=\s*$)",
    ),
    contains=frozenset(("Megatron-LM log",)),
)


def _read_nanotron() -> Reader:
    from engine.run.importers.nanotron import READER

    return READER


NANOTRON = Dialect(
    name="nanotron YAML",
    reader=_read_nanotron,
    software="nanotron",
    signs=(
        nested_yaml_keys(
            "batch_accumulation_per_replica", "tp_linear_async_communication", "tp_mode",
            "pp_engine", "accumulate_grad_in_fp32", "optimizer_factory", "is_llama_config",
            "torch_adam_is_fused", "learning_rate_scheduler", "iteration_step_info_interval",
        ),
        yaml_keys("data_stages", "lighteval"),
    ),
    contains=frozenset(("Megatron-LM arguments in YAML", "NeMo 1 YAML")),
)  # fmt: skip


_MAXTEXT_KEYS = (
    r"(?<![\w.])(?:base_emb_dim|base_mlp_dim|base_num_decoder_layers|base_num_query_heads|"
    r"base_num_kv_heads|per_device_batch_size|max_target_length|remat_policy|use_iota_embed|"
    r"base_output_directory|decoder_block|scan_layers|model_name|(?:ici|dcn)_\w+_parallelism){}"
)


def _read_maxtext_yaml() -> Reader:
    from engine.run.importers.maxtext import YAML_READER

    return YAML_READER


MAXTEXT_YAML = Dialect(
    name="MaxText YAML",
    reader=_read_maxtext_yaml,
    software="MaxText",
    signs=(r"^[ \t]+framework:\s*maxtext\b", _MAXTEXT_KEYS.format(r"\s?:(?=\s|$)")),
    contains=frozenset(("NeMo 1 YAML", "Megatron-LM arguments in YAML")),
)


def _read_maxtext_overrides() -> Reader:
    from engine.run.importers.maxtext import OVERRIDES_READER

    return OVERRIDES_READER


MAXTEXT_OVERRIDES = Dialect(
    name="MaxText overrides",
    reader=_read_maxtext_overrides,
    software="MaxText",
    signs=(r"\bmaxtext(?:\.|/)\w+|\bMaxText(?:/|\.)\w+", _MAXTEXT_KEYS.format("=")),
    overrides=True,
    contains=frozenset(("launch script",)),
)


def _read_automodel() -> Reader:
    from engine.run.importers.automodel import READER

    return READER


AUTOMODEL = Dialect(
    name="NeMo Automodel YAML",
    reader=_read_automodel,
    software="NeMo Automodel",
    signs=(
        yaml_keys("step_scheduler", "packed_sequence", "dist_env", "validation_dataset", "loss_fn"),
        nested_yaml_keys("local_batch_size", "dp_replicate_size", "pp_microbatch_size",
                         "ckpt_every_steps", "val_every_steps"),
        r"\bnemo_automodel\.\w+",
    ),
    contains=frozenset(("Megatron-LM arguments in YAML", "accelerate YAML")),
)  # fmt: skip


def _read_llm_foundry() -> Reader:
    from engine.run.importers.llm_foundry import READER

    return READER


LLM_FOUNDRY = Dialect(
    name="LLM Foundry YAML",
    reader=_read_llm_foundry,
    software="LLM Foundry",
    signs=(
        yaml_keys(
            "global_train_batch_size", "device_train_microbatch_size", "device_eval_batch_size",
            "train_loader", "eval_loader", "icl_tasks", "console_log_interval", "max_duration",
        ),
        nested_yaml_keys("global_train_batch_size", "device_train_microbatch_size",
                         "activation_checkpointing_reentrant", "train_loader"),
    ),
    contains=frozenset(("accelerate YAML", "Megatron-LM arguments in YAML")),
)  # fmt: skip


def _read_nemo_1() -> Reader:
    from engine.run.importers.nemo1 import READER

    return READER


NEMO_1 = Dialect(
    name="NeMo 1 YAML",
    reader=_read_nemo_1,
    software="NeMo 1",
    signs=(
        yaml_keys("exp_manager"),
        nested_yaml_keys(
            "encoder_seq_length", "megatron_amp_O2", "activations_checkpoint_granularity",
            "share_embeddings_and_output_weights", "native_amp_init_scale", "val_check_interval",
            "restore_from_path", "use_distributed_sampler", "replace_sampler_ddp", "peft_scheme",
        ),
        r"(?<![\w.])\+{0,2}(?:trainer\.(?:devices|num_nodes|val_check_interval|precision)|"
        r"exp_manager\.\w+|model\.(?:data|optim|peft|tokenizer)\.[\w.]+|model\.restore_from_path|"
        r"model\.(?:encoder_seq_length|activations_checkpoint_\w+|megatron_amp_O2))(?==)",
    ),
    contains=frozenset(
        ("Megatron-Bridge overrides", "Megatron-LM arguments", "Megatron-LM arguments in YAML")
    ),
)  # fmt: skip


MEGATRON_YAML_KEYS = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size",
    "context_parallel_size", "num_layers", "hidden_size", "num_attention_heads", "seq_length",
    "micro_batch_size", "global_batch_size", "use_distributed_optimizer", "overlap_grad_reduce",
    "overlap_param_gather", "recompute_granularity", "max_position_embeddings", "train_iters",
    "num_query_groups", "ffn_hidden_size", "swiglu", "untie_embeddings_and_output_weights",
)  # fmt: skip


_MEGATRON_YAML_FLAGS = "|".join(name.replace("_", "[_-]") for name in MEGATRON_YAML_KEYS)


def _read_megatron_yaml() -> Reader:
    from engine.run.importers.megatron_yaml import READER

    return READER


MEGATRON_YAML = Dialect(
    name="Megatron-LM arguments in YAML",
    reader=_read_megatron_yaml,
    software="Megatron-LM",
    signs=(
        yaml_keys(*MEGATRON_YAML_KEYS),
        # Of Primus, below modules.NAME.overrides.
        rf"^ {{6}}(?:{'|'.join(MEGATRON_YAML_KEYS)})\s*:(?=\s)",
        rf"^[ \t]*[\"']?--(?:{_MEGATRON_YAML_FLAGS})[\"']?\s*:(?=\s)",
    ),
    contains=frozenset(("Megatron-LM arguments",)),
)


def _read_deepspeed_json() -> Reader:
    from engine.run.importers.deepspeed import READER

    return READER


DEEPSPEED_JSON = Dialect(
    name="DeepSpeed JSON",
    reader=_read_deepspeed_json,
    software="DeepSpeed",
    keys=words(
        """zero_optimization zero_optimization.stage train_micro_batch_size_per_gpu
        train_batch_size gradient_accumulation_steps gradient_clipping steps_per_print bf16.enabled
        bfloat16.enabled fp16.enabled wall_clock_breakdown zero_allow_untested_optimizer
        activation_checkpointing optimizer.type scheduler.type tensor_parallel.autotp_size
        expert_parallel.autoep_size data_types flops_profiler comms_logger prescale_gradients
        zero_force_ds_cpu_optimizer fp16.loss_scale"""
    ),
    joins=frozenset(("accelerate", "Megatron-LM")),
)


def _read_accelerate_yaml() -> Reader:
    from engine.run.importers.accelerate import READER

    return READER


ACCELERATE_YAML = Dialect(
    name="accelerate YAML",
    reader=_read_accelerate_yaml,
    software="accelerate",
    signs=(
        yaml_keys(
            "compute_environment", "distributed_type", "downcast_bf16", "machine_rank",
            "main_process_port", "main_process_ip", "main_training_function", "num_machines",
            "num_processes", "rdzv_backend", "same_network", "parallelism_config", "dynamo_config",
            "enable_cpu_affinity", "tpu_use_cluster", "tpu_use_sudo", "tpu_env", "use_cpu",
            "megatron_lm_config",
        ),
        nested_yaml_keys(r"parallelism_config_\w+", r"dynamo_backend", r"deepspeed_config_file",
                         r"zero3_init_flag", r"megatron_lm_\w+"),
        # Axolotl and LLM Foundry have sections of this name as well: one sign, and no more.
        r"^fsdp_config\s*:[ \t]*\n[ \t]+fsdp_(?=\w)",
        yaml_keys("fp8_config") + r"(?=\s*\n[ \t]+backend)",
    ),
    joins=frozenset(("DeepSpeed",)),
)  # fmt: skip
