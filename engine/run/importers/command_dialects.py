"""Dialects of commands: scripts, flags, overrides and what they print, with their signs.

A reader is imported when a text is of its dialect, as in `file_dialects.py`.
"""

from engine.run.importers.dialect import (
    LAUNCH_VARIABLES,
    Dialect,
    Reader,
    assignments,
    flags,
    yaml_keys,
)

SWIFT_ARGUMENTS = (
    "tuner_type", "train_type", "split_dataset_ratio", "load_from_cache_file", "attn_impl",
    "rlhf_type", "freeze_vit", "freeze_aligner", "model_author", "save_safetensors",
)  # fmt: skip


def _read_swift() -> Reader:
    from engine.run.importers.swift import READER

    return READER


SWIFT = Dialect(
    name="ms-swift arguments",
    reader=_read_swift,
    software="ms-swift",
    signs=(
        r"(?<![\w./-])(?:swift|megatron)\s+(?:sft|pt|rlhf)\b",
        r"(?<![\w./-])(?:swift|megatron)\s+(?:sft|pt|rlhf)[\s\\]+--\w+",
        r"swift/cli/(?:_megatron/)?(?:sft|pt|rlhf)\.py",
        flags(*SWIFT_ARGUMENTS),
        yaml_keys(*SWIFT_ARGUMENTS),
    ),
    joins=frozenset(("DeepSpeed", "accelerate")),
    contains=frozenset(
        (
            "Megatron-LM arguments",
            "Megatron-LM arguments in YAML",
            "Hugging Face TrainingArguments",
        )
    ),
)  # fmt: skip


def _read_verl() -> Reader:
    from engine.run.importers.verl import READER

    return READER


VERL = Dialect(
    name="verl overrides",
    reader=_read_verl,
    software="verl",
    signs=(
        r"(?<![\w.])actor_rollout_ref\.\w+\.\w+(?==)",
        r"(?<![\w.])data\.(?:max_prompt_length|max_response_length|micro_batch_size_per_gpu|"
        r"prompt_dict_keys|response_dict_keys|train_files)(?==)",
        r"(?<![\w.])algorithm\.adv_estimator(?==)",
        r"(?<![\w.])trainer\.(?:n_gpus_per_node|nnodes|test_freq|default_local_dir)(?==)",
        r"\bverl\.trainer\.\w+",
        r"(?<![\w.])model\.partial_pretrain(?==)",
    ),
    contains=frozenset(
        ("Megatron-Bridge overrides", "Megatron-LM arguments", "Hugging Face TrainingArguments")
    ),
)


def _read_openrlhf() -> Reader:
    from engine.run.importers.openrlhf import READER

    return READER


OPENRLHF = Dialect(
    name="OpenRLHF flags",
    reader=_read_openrlhf,
    software="OpenRLHF",
    signs=(
        r"openrlhf[./]cli[./]train_\w+",
        flags(
            "micro_train_batch_size", "train_batch_size", "micro_rollout_batch_size",
            "rollout_batch_size", "generate_max_len", "prompt_max_len", "pretrain", "zero_stage",
            "actor_num_gpus_per_node", "vllm_num_engines", "packing_samples", "adam_offload",
            "train.micro_batch_size", "train.batch_size", "ds.zero_stage", "data.max_len",
            "ds.packing_samples", "actor.num_gpus_per_node", "rollout.batch_size",
            "vllm.num_engines", "model.model_name_or_path", "actor.model_name_or_path",
        ),
    ),
    contains=frozenset(
        ("Hugging Face TrainingArguments", "Megatron-LM arguments", "torchtitan flags")
    ),
)  # fmt: skip


TRAINING_ARGUMENT_KEYS = (
    "per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps",
    "num_train_epochs", "lr_scheduler_type", "save_total_limit", "save_strategy", "eval_strategy",
    "evaluation_strategy", "logging_strategy", "model_name_or_path", "gradient_checkpointing",
    "warmup_ratio", "report_to", "ddp_timeout", "model_max_length", "dataloader_num_workers",
    "fsdp_transformer_layer_cls_to_wrap", "torch_compile", "remove_unused_columns", "push_to_hub",
)  # fmt: skip


def _read_training_arguments() -> Reader:
    from engine.run.importers.training_arguments_readers import READER

    return READER


TRAINING_ARGUMENTS = Dialect(
    name="Hugging Face TrainingArguments",
    reader=_read_training_arguments,
    software="Hugging Face Trainer",
    signs=(flags(*TRAINING_ARGUMENT_KEYS), yaml_keys(*TRAINING_ARGUMENT_KEYS)),
    keys=frozenset(TRAINING_ARGUMENT_KEYS),
    joins=frozenset(("DeepSpeed", "accelerate")),
)


def _read_trainer_python() -> Reader:
    from engine.run.importers.training_arguments_readers import PYTHON_READER

    return PYTHON_READER


TRAINER_PYTHON = Dialect(
    name="Hugging Face Trainer in Python",
    reader=_read_trainer_python,
    software="Hugging Face Trainer",
    signs=(
        r"\b(?:Seq2SeqTrainingArguments|TrainingArguments|SFTConfig|DPOConfig|GRPOConfig|KTOConfig|"
        r"RewardConfig)\s*\(",
        r"\b\w*(?:SFT|DPO|GRPO|KTO|Seq2Seq|Reward)?Trainer\s*\(",
        rf"(?<![\w.-])(?:{'|'.join(TRAINING_ARGUMENT_KEYS)})\s*=(?!=)(?=[^\n,]{{0,200}},|[^\n()]{{0,200}}\))",
        r"^[ \t]*(?:from|import)\s+(?:transformers|trl|peft)\b",
    ),
    joins=frozenset(("DeepSpeed", "accelerate")),
)


def _read_nemo_2() -> Reader:
    from engine.run.importers.nemo2 import READER

    return READER


NEMO_2 = Dialect(
    name="NeMo 2 recipe",
    reader=_read_nemo_2,
    software="NeMo 2",
    signs=(
        r"\bnemo\s+llm\s+(?:pretrain|finetune)\b",
        r"\bllm\s+(?:pretrain|finetune)\s[^\n]{0,200}?--factory(?=[ =])",
        r"\b(?:pretrain|finetune)_recipe\b",
        r"^[ \t]*(?:from|import)\s+(?:nemo|nemo_run)\b",
        r"\b(?:nl|llm)\.(?:MegatronStrategy|Trainer|MegatronMixedPrecision|train|pretrain|finetune|"
        r"MockDataModule|PreTrainingDataModule|MegatronOptimizerModule|\w+Config\w*)\b",
        r"(?<![\w])(?:\w+\.)?trainer\.strategy\.\w+\s?=(?!=)",
        r"(?<![\w])(?:\w+\.)?trainer\.(?:devices|num_nodes|max_steps|val_check_interval)\s?=(?!=)",
    ),
    contains=frozenset(("NeMo 1 YAML", "Megatron-Bridge overrides")),
)


def _read_bridge_overrides() -> Reader:
    from engine.run.importers.bridge import READER

    return READER


BRIDGE_OVERRIDES = Dialect(
    name="Megatron-Bridge overrides",
    reader=_read_bridge_overrides,
    software="Megatron-Bridge",
    signs=(
        r"(?<![\w.])\+{0,2}(?:cfg\.)?model\.(?:tensor_model_parallel_size|"
        r"pipeline_model_parallel_size|virtual_pipeline_model_parallel_size|context_parallel_size|"
        r"expert_model_parallel_size|expert_tensor_parallel_size|sequence_parallel|seq_length|"
        r"num_layers|hidden_size|recompute_\w+|moe_\w+|cuda_graph_\w+|"
        r"pipeline_model_parallel_layout|cp_comm_type)\s?=",
        r"(?<![\w.])\+{0,2}(?:cfg\.)?(?:train\.(?:micro_batch_size|global_batch_size|train_iters)|"
        r"dataset\.(?:seq_length|sequence_length)|"
        r"(?:ddp|comm_overlap|mixed_precision|optimizer)(?:\.\w+)?)\s?=",
        r"\b\w{1,80}_(?:pretrain|sft|finetune)_\w*config\b",
        r"--model_(?:family|recipe)_name(?=[ =])|\s-mr\s|(?:\b|_)setup_experiment\.py\b",
        r"\brun_recipe\.py\b|\bConfigContainer\b|\bmegatron\.bridge\b|--recipe(?=[ =])",
    ),
    contains=frozenset(("Megatron-LM arguments",)),
)


def _read_slime() -> Reader:
    from engine.run.importers.slime import READER

    return READER


SLIME = Dialect(
    name="slime arguments",
    reader=_read_slime,
    software="slime",
    signs=(
        r"--actor-num-nodes(?=[\s=])|--actor-num-gpus-per-node(?=[\s=])",
        r"--rollout-(?:num-gpus|batch-size|max-response-len|num-gpus-per-engine)(?=[\s=])",
        flags("num-rollout", "n-samples-per-prompt", "megatron-to-hf-mode", "hf-checkpoint",
              "rollout-function-path", "sglang-mem-fraction-static"),
    ),
    joins=frozenset(("Megatron-LM",)),
    contains=frozenset(("Megatron-LM arguments",)),
)  # fmt: skip


_MEGATRON_ARGUMENTS = (
    "tensor-model-parallel-size", "pipeline-model-parallel-size", "context-parallel-size",
    "expert-model-parallel-size", "expert-tensor-parallel-size", "num-layers", "hidden-size",
    "ffn-hidden-size", "num-attention-heads", "num-query-groups", "group-query-attention",
    "kv-channels", "seq-length", "max-position-embeddings", "position-embedding-type", "swiglu",
    "untie-embeddings-and-output-weights", "disable-bias-linear", "use-distributed-optimizer",
    "overlap-grad-reduce", "overlap-param-gather", "sequence-parallel", "micro-batch-size",
    "global-batch-size", "recompute-granularity", "recompute-method", "recompute-num-layers",
    "recompute-modules", "recompute-activations", "transformer-impl", "use-mcore-models",
    "use-flash-attn", "attention-backend", "make-vocab-size-divisible-by", "padded-vocab-size",
    "num-experts", "moe-router-topk", "moe-ffn-hidden-size", "moe-layer-freq",
    "moe-grouped-gemm", "moe-token-dispatcher-type", "moe-flex-dispatcher-backend",
    "moe-router-load-balancing-type", "moe-shared-expert-intermediate-size",
    "moe-permute-fusion", "multi-latent-attention", "q-lora-rank", "kv-lora-rank",
    "mtp-num-layers", "pipeline-model-parallel-layout", "tp-comm-overlap",
    "num-layers-per-virtual-pipeline-stage", "num-virtual-stages-per-pipeline-rank",
    "overlap-moe-expert-parallel-comm", "delay-wgrad-compute", "cuda-graph-impl",
    "cuda-graph-scope", "enable-cuda-graph", "external-cuda-graph", "fp8-format", "fp8-recipe",
    "use-megatron-fsdp", "data-parallel-sharding-strategy", "decoder-first-pipeline-num-layers",
    "decoder-last-pipeline-num-layers", "accumulate-allreduce-grads-in-fp32", "tokenizer-type",
    "init-method-std", "split", "train-iters", "lr-decay-iters", "vocab-size",
    "normalization", "squared-relu", "rotary-base", "rotary-percent",
    "use-rotary-position-embeddings", "checkpoint-activations", "pad-vocab-size-to",
)  # fmt: skip


_MEGATRON_PRINTED = "|".join(name.replace("-", "_") for name in _MEGATRON_ARGUMENTS if "-" in name)


def _read_megatron_arguments() -> Reader:
    from engine.run.importers.megatron_readers import ARGUMENTS_READER

    return ARGUMENTS_READER


MEGATRON_ARGUMENTS = Dialect(
    name="Megatron-LM arguments",
    reader=_read_megatron_arguments,
    software="Megatron-LM",
    signs=(flags(*_MEGATRON_ARGUMENTS), r"\bpretrain_(?:gpt|bert|t5|mamba|vlm)\.py\b"),
    joins=frozenset(("DeepSpeed",)),
)


def _read_megatron_log() -> Reader:
    from engine.run.importers.megatron_readers import LOG_READER

    return LOG_READER


MEGATRON_LOG = Dialect(
    name="Megatron-LM log",
    reader=_read_megatron_log,
    software="Megatron-LM",
    signs=(rf"\b(?:{_MEGATRON_PRINTED})\s?\.{{6,}}",),
    contains=frozenset(("Megatron-LM arguments",)),
)


def _read_launch_script() -> Reader:
    from engine.run.importers.launch_script import READER

    return READER


LAUNCH_SCRIPT = Dialect(
    name="launch script",
    reader=_read_launch_script,
    signs=(
        flags("nproc-per-node", "nnodes", "num-gpus", "num-nodes", "num-machines", "num-processes",
              "ntasks-per-node", "gpus-per-node", "node-rank", "master-addr", "master-port",
              "rdzv-backend", "rdzv-endpoint", "machine-rank", "main-process-port", "include",
              "actor-num-nodes", "actor-num-gpus-per-node"),
        assignments(*LAUNCH_VARIABLES, "MASTER_ADDR", "MASTER_PORT", "NODE_RANK"),
        r"(?:^|[\s/])(?:torchrun|deepspeed|srun|sbatch|mpirun|mpiexec)(?=\s)|\baccelerate launch\b",
        r"\b(?:torchrun|deepspeed|accelerate launch)\s[^\n;|&]{0,300}?[\w/-]\.py(?=\s|$)",
        r"^#SBATCH\s+--?\w[\w-]*",
    ),
    weak=True,
)  # fmt: skip
