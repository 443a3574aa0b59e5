"""Importer of GPT-NeoX: YAML, or JSON with comments and trailing commas, which is YAML too.

Read at commit ea7aefd8 (`megatron/neox_arguments/`). Keys have hyphens or underscores. Defaults
(neox_args.py): pipe_parallel_size 0 and model_parallel_size 1 (:60, :65), no_weight_tying False
(:229), activation gelu (:295), pos_emb learned (:207), biases everywhere (:448), precision fp16
unless another is on (arguments.py:966), checkpoint_activations False (:1399), zero stage 0
(deepspeed_config.py), a batch from micro-batch, accumulation and data-parallel ranks
(arguments.py: calculate_batch_parameters). A gated layer has two thirds of intermediate_size, or of
four times the hidden size, half of it for each matrix (model/transformer.py:127), where
`mlp_multiple_of` rounds up.

What it cannot say: how many GPUs there are, and the vocabulary, which is the tokenizer's.
"""

import ast
import re
from collections.abc import Iterator

from engine.run.importers.deepspeed import import_deepspeed
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    flatten,
    is_true,
)
from engine.run.importers.json_text import object_settings
from engine.run.importers.key_table import (
    Handler,
    KeyTable,
    is_absent,
    is_on,
    note_text,
    plain_name,
    read_key,
    read_launch,
    refuse_value,
    switch,
    tell,
)
from engine.run.importers.trainer import world_size
from engine.run.importers.vocabularies import derive_vocabulary
from engine.run.importers.yaml_text import read_yaml

SOFTWARE = "GPT-NeoX (ea7aefd8)"
MICRO, STEPS = "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"


def _stage(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value) not in ("0", "1", "2", "3"):
        refuse_value(setting, "a stage from 0 to 3 is needed", draft)
    else:
        draft.set_value(setting, "parallelism.zero_stage", int(str(setting.value)))


def _recompute(setting: Setting, draft: RunDraft) -> None:
    switch("training.recompute", "full", "none")(setting, draft)


def _precision(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    known = {"fp16": "fp16", "bfloat16": "bf16", "bf16": "bf16"}
    if word in known:
        draft.set_value(setting, "training.precision", known[word])
    else:
        draft.report_not_modeled(setting, "training in 32 bits is not predicted; 16 are shown")


def _half(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        kind = "fp16" if plain_name(setting.key).startswith("fp16") else "bf16"
        draft.set_value(setting, "training.precision", kind)


def _activation(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("swiglu", "geglu", "reglu", "bilinear", "glu"):
        draft.set_value(setting, "model.mlp", "swiglu")
    else:
        draft.set_value(setting, "model.mlp", "gelu")


def _attention(setting: Setting, draft: RunDraft) -> None:
    """Read one entry of the nested lists of attention: kinds, or how many layers have them."""
    kinds = set(re.findall(r"[a-z_]+", str(setting.value).lower()[:10_000])) - {"all"}
    if not kinds:
        draft.report(setting, "understood", "how many layers have this attention")
    elif len(kinds) == 1 and kinds <= {"flash", "global"}:
        draft.set_value(setting, "training.flash_attention", kinds == {"flash"})
    else:
        refuse_value(setting, "layers that all have flash or global attention are predicted", draft)


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    kind = "sgd" if word == "sgd" else "muon" if word == "muon" else "adam"
    if word.replace("cpu_", "") in ("adam", "adamw", "sgd", "muon"):
        draft.set_value(setting, "training.optimizer", kind)
    else:
        draft.values.setdefault("training.optimizer", "adam")
        draft.report_not_modeled(setting, "another optimizer; Adam's states and time are shown")


def _only(known: str) -> Handler:
    """Return the reader of a choice of which one is predicted."""

    def read(setting: Setting, draft: RunDraft) -> None:
        if str(setting.value).lower() == known:
            draft.report(setting, "understood", "as usual")
        else:
            refuse_value(setting, f"of these {known} alone is read", draft)

    return read


def _sparse(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value) or str(setting.value) == "1":
        draft.report(setting, "understood", "no experts")
    else:
        refuse_value(setting, "GPT-NeoX's experts are not read here", draft)


TABLE = KeyTable(
    counts={
        "num_layers": "model.num_layers",
        "hidden_size": "model.hidden_size",
        "num_attention_heads": "model.num_attention_heads",
        "num_kv_heads": "model.num_key_value_heads",
        "seq_length": "sequence_length",
        "padded_vocab_size": "model.vocab_size",
    },
    noted={
        "model_parallel_size": "model_parallel_size",
        "pipe_parallel_size": "pipe_parallel_size",
        MICRO: MICRO,
        STEPS: STEPS,
        "gas": STEPS,
        "train_batch_size": "train_batch_size",
        "intermediate_size": "intermediate_size",
        "mlp_multiple_of": "mlp_multiple_of",
        "expansion_factor": "expansion_factor",
        "max_position_embeddings": "max_position_embeddings",
        "make_vocab_size_divisible_by": "make_vocab_size_divisible_by",
        "global_num_gpus": "global_num_gpus",
    },
    handlers={
        "no_weight_tying": switch("model.tied_embeddings", False, True),
        "zero_stage": _stage,
        "checkpoint_activations": _recompute,
        "checkpoint_num_layers": note_text("checkpoint_num_layers"),
        "precision": _precision,
        "fp16.enabled": _half,
        "fp16.fp16": _half,
        "bf16.enabled": _half,
        "bfloat16.enabled": _half,
        "activation": _activation,
        "pos_emb": note_text("pos_emb"),
        "use_bias_in_attn_linear": note_text("biases"),
        "tokenizer_type": note_text("tokenizer_type"),
        "vocab_file": note_text("vocab_file"),
        "optimizer.type": _optimizer,
        "optimizer_type": _optimizer,
        "moe_num_experts": _sparse,
        "mlp_type": _only("regular"),
        "attention_head_type": _only("multihead"),
        "sequence_parallel": switch("parallelism.sequence_parallel", True, False),
        "data_types.grad_accum_dtype": lambda setting, draft: _sum_type(setting, draft),
    },
    not_modeled={
        "checkpoint_in_cpu": "kept inputs of layers lie in the host's memory",
        "partition_activations": "kept inputs of layers are split over tensor-parallel ranks",
        "sparsity_config": "sparse attention",
        "sliding_window_width": "attention in a window; all positions are shown",
        "use_bnb_optimizer": "its states are smaller than those that are shown",
        "te_columnparallel": "layers of Transformer Engine",
        "te_rowparallel": "layers of Transformer Engine",
        "te_layernorm_mlp": "layers of Transformer Engine",
        "te_mha": "layers of Transformer Engine",
        "te_fp8_mha": "products in fp8",
        "num_unique_layers": "layers that share weights",
        "use_qk_layernorm": "norms of queries and keys",
        "soft_prompt_tuning": "only a prompt is trained",
        "train_impl": "preferences: other models beside the one that is trained",
        "pipe_partition_method": "layers are taken to be cut evenly",
        "gmlp_attn_dim": "another kind of layer",
        "fp32_allreduce": "gradients are reduced in 32 bits",
        "full_precision_lm_cross_entropy": "the loss in 32 bits",
        "use_flash_cross_entropy": "a loss whose kernels take less memory",
        "expansion_factor": "the inner width is another",
        "attention_type": "another attention",
        "communication_data_type": "gradients travel in another precision",
    },
    without_effect={
        "where data, checkpoints and logs are": (
            "merge_file", "save", "load", "data_path", "*_data_paths", "train_data_*",
            "valid_data_*", "test_data_*", "tensorboard_dir", "log_dir", "data_impl", "split",
            "s3_*", "use_shared_fs", "num_workers", "mmap_warmup", "weight_by_num_documents",
            "label_data_paths", "pack_impl", "dataset_impl", "allow_chopped", "eod_mask_loss",
            "train_label_data_paths", "hostfile", "launcher", "autotuning*",
        ),
        "numbers of the optimizer and of its schedule": (
            "optimizer.params", "min_lr", "lr*", "warmup*", "gradient_clipping", "weight_decay",
            "clip_grad", "scheduler", "override_lr_scheduler", "decay_lr_to", "loss_scale*",
            "fp16.*", "bf16.*", "hysteresis", "min_scale", "dynamic_loss_scale",
        ),
        "how the weights begin": ("init_method*", "output_layer_init_method", "seed", "use_mup",
                                  "finetune", "mup_*", "use_cpu_initialization"),
        "dropout, whose masks are small beside the rest": (
            "attention_dropout", "hidden_dropout",
        ),
        "Mamba's kernels, which are not predicted": ("mamba_*",),
        "norms and positions keep their size": (
            "norm", "rms_norm_epsilon", "layernorm_epsilon", "rotary_*", "use_bias_in_norms",
            "use_bias_in_mlp", "gpt_j_residual", "gpt_j_tied", "rpe_*",
        ),
        "fused kernels are taken": (
            "scaled_upper_triang_masked_softmax_fusion", "scaled_masked_softmax_fusion",
            "bias_gelu_fusion", "bias_dropout_fusion", "rope_fusion", "layernorm_fusion",
            "rmsnorm_fusion", "use_flashattn_swiglu", "apply_query_key_layer_scaling",
            "attention_softmax_in_fp32", "fp16_lm_cross_entropy", "fused_kernels_build_path",
        ),
        "only columns are known": ("output_layer_parallelism",),
        "waits between recomputed layers": ("synchronize_each_layer", "contiguous_checkpointing",
                                            "deepspeed_activation_checkpointing",
                                            "number_checkpoints", "profile_backward"),
        "buckets of gradients": ("zero_reduce_*", "zero_allgather_*",
                                 "zero_contiguous_*", "zero_allow_*"),
        "how many steps there are": ("train_iters", "train_epochs", "lr_decay_iters"),
        "saving and evaluation lie between steps": (
            "checkpoint_factor", "checkpoint_scale", "checkpoint_validation_with_forward_pass",
            "extra_save_iters", "keep_last_n_checkpoints", "no_save_*", "no_load_*", "eval_*",
            "do_train", "do_valid", "do_test", "save_base_shapes", "exit_interval",
        ),
        "logging": (
            "log_*", "steps_per_print", "wall_clock_breakdown", "use_wandb", "wandb_*", "comet_*",
            "use_comet", "tensorboard*", "profile*", "memory_profiling*", "git_hash", "prof_all",
            "comms_logger", "flops_profiler", "verbose", "debug", "peak_theoretical_tflops",
        ),
        "how processes find each other": (
            "distributed_backend", "deepspeed_slurm", "deepspeed_mpi", "deepspeed_extra_args",
            "local_rank", "rank", "master_*", "user_script", "include", "exclude", "comment",
            "no_ssh_check", "force_multi", "num_nodes", "detect_nvlink_pairs", "account",
        ),
        "generation": ("text_gen_type", "temperature", "top_*", "maximum_tokens", "sample_*",
                       "num_samples", "recompute", "prompt_end", "return_logits"),
    },
)  # fmt: skip


def _sum_type(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("fp32", "bf16", "fp16"):
        draft.set_value(setting, "training.gradient_precision", word)
    else:
        draft.report(setting, "understood", "not set")


def import_gpt_neox(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of GPT-NeoX into a draft."""
    for setting in settings:
        name = plain_name(setting.key)
        if name == "num_gpus" and is_absent(setting.value):
            draft.report(setting, "understood", "not set")
        elif name.partition(".")[0] == "attention_config":
            _attention(setting, draft)
        elif name == "zero_optimization.cpu_offload":
            if is_on(setting, draft):
                draft.report_not_modeled(setting, OFFLOADED)
        elif name.startswith("zero_optimization."):
            import_deepspeed([Setting(key=name, value=setting.value, line=setting.line)], draft)
        elif not read_launch(setting, draft):
            read_key(setting, TABLE, draft)


def finish_gpt_neox(draft: RunDraft) -> None:
    """Derive the model, the ranks and the batch."""
    notes = draft.notes
    draft.values["training.framework"] = "deepspeed"
    draft.derive(
        "parallelism.tensor_parallel", notes.get("model_parallel_size") or 1, "model_parallel_size"
    )
    draft.derive(
        "parallelism.pipeline_parallel", notes.get("pipe_parallel_size") or 1, "pipe_parallel_size"
    )
    draft.assume("parallelism.zero_stage", 0, f"no zero_optimization ({SOFTWARE})")
    draft.assume("parallelism.sequence_parallel", False, f"sequence_parallel ({SOFTWARE})")
    draft.assume("training.recompute", "none", f"checkpoint_activations ({SOFTWARE})")
    draft.assume("training.precision", "fp16", f"precision ({SOFTWARE})")
    draft.assume("training.flash_attention", False, f"attention_config global ({SOFTWARE})")
    if "model.num_layers" in draft.values and "model.hidden_size" in draft.values:
        _model(draft)
    _batch(draft)


def _model(draft: RunDraft) -> None:
    notes = draft.notes
    draft.assume("model.mlp", "gelu", f"activation ({SOFTWARE})")
    draft.assume("model.tied_embeddings", True, f"no_weight_tying ({SOFTWARE})")
    width = notes.get("intermediate_size") or 4 * int(draft.values["model.hidden_size"])
    why = "intermediate_size" if notes.get("intermediate_size") else "four times hidden_size"
    multiple = notes.get("mlp_multiple_of") or 1
    if draft.values["model.mlp"] == "swiglu":
        width, why = int(width * 2 / 3) // 2, f"a third of {why}, for each of two matrices"
    draft.derive("model.ffn_hidden_size", -(-width // multiple) * multiple, why)
    if str(notes.get("pos_emb", "learned")) == "learned":
        rows = notes.get("max_position_embeddings") or draft.get("sequence_length", 2048)
        draft.derive("model.learned_positions", rows, f"pos_emb learned ({SOFTWARE})")
    biases = is_true(notes.get("biases", True))
    draft.derive("model.biases", biases, f"use_bias_in_attn_linear ({SOFTWARE})")
    _vocabulary(draft)


def _vocabulary(draft: RunDraft) -> None:
    """Derive the padded vocabulary of the tokenizers whose sizes are known."""
    notes = draft.notes
    notes.setdefault("make-vocab-size-divisible-by", notes.get("make_vocab_size_divisible_by"))
    kind = str(notes.get("tokenizer_type", "GPT2BPETokenizer"))
    derive_vocabulary(draft, kind, str(notes.get("vocab_file", "")), SOFTWARE)


def _batch(draft: RunDraft) -> None:
    notes = draft.notes
    parts = draft.get("parallelism.tensor_parallel") * draft.get("parallelism.pipeline_parallel")
    total, micro, steps = notes.get("train_batch_size"), notes.get(MICRO), notes.get(STEPS)
    if "parallelism.world_size" not in draft.values and notes.get("global_num_gpus"):
        draft.derive("parallelism.world_size", notes["global_num_gpus"], "global_num_gpus")
    if not total and not micro:
        draft.contradictions.append(
            "Either train_batch_size or train_micro_batch_size_per_gpu needs to be provided"
        )
        return
    if "per_node" not in notes and total and micro and steps:
        draft.derive("parallelism.world_size", total // (micro * steps) * parts, "of the batch")
    world = world_size(draft, parts)
    ranks = max(1, world // parts)
    if micro is None:
        micro = max(1, total // ranks // (steps or 1))
    steps = steps or (max(1, total // (micro * ranks)) if total else 1)
    tell(draft, STEPS, steps, "passes of a step")
    draft.derive("training.micro_batch_size", micro, MICRO)
    draft.derive(
        "training.global_batch_size", micro * steps * ranks, "micro-batch x passes x ranks"
    )
    if total and total != micro * steps * ranks:
        draft.contradictions.append(
            f"{SOFTWARE} train_batch_size {total} is not {micro} x {steps} x {ranks} "
            "(micro-batch, accumulation, data-parallel ranks)"
        )


def _read(piece: Piece, draft: RunDraft) -> None:
    is_object = piece.tree is not None
    import_gpt_neox(
        object_settings(piece) if is_object else read_yaml(piece.text, piece.line), draft
    )


_LINE = re.compile(r"^.{0,60}?\b([a-z][a-z0-9_]{2,60}) \.{2,} (.{1,4000}?)(\.{2,}updated|)\s*$")
# Follows from others of the printed arguments, or is GPT-NeoX's way to keep them.
_DERIVED = (
    "is_pipe_parallel", "params_dtype", "iteration", "config_files", "deepspeed", "save_iters",
    "world_size", "wandb_group",
)  # fmt: skip


def printed_settings(text: str, first_line: int) -> Iterator[Setting]:
    """Yield the arguments that are marked as updated, with the entries of their objects."""
    for number, line in enumerate(text.splitlines(), first_line):
        match = _LINE.match(line[:5000])
        if not match or not match[3]:
            continue
        value = _value(match[2].strip())
        if isinstance(value, dict) and value:
            leaves = flatten({match[1]: value})
            yield from (Setting(key=leaf.key, value=leaf.value, line=number) for leaf in leaves)
        else:
            yield Setting(key=match[1], value=value, line=number)


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _read_printed(piece: Piece, draft: RunDraft) -> None:
    settings = []
    for setting in printed_settings(piece.text, piece.line):
        if setting.key in _DERIVED:
            draft.report(setting, "without effect", "follows from other printed arguments")
        else:
            settings.append(setting)
    import_gpt_neox(settings, draft)


READER = Reader(read=_read, finish=finish_gpt_neox)
PRINTED_READER = Reader(read=_read_printed, finish=finish_gpt_neox)
