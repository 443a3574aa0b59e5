"""Importer of ms-swift: `swift sft|pt|rlhf` on the Trainer, `megatron sft|pt|rlhf` on Megatron.

Read at commit 3602360a (4.6). Defaults of `swift` (swift/trainers/arguments.py,
swift/arguments/base_args/base_args.py): tuner_type lora (:93), lora_rank 8 at all linear layers
(tuner_args.py:126, :133), per_device_train_batch_size 1 (:129), gradient_checkpointing True (:134),
gradient_accumulation_steps ceil(16 / micro-batch / GPUs) (:285), max_length the model's longest
(base_args.py:197), precision that of the model's file; `--fsdp fsdp2` shards everything and
recomputes (swift/config/fsdp2.json), `--deepspeed zeroN` is a file of its own.
Defaults of `megatron` (swift/megatron/arguments/megatron_args.py): tuner_type full (:449),
micro_batch_size 1 and global_batch_size 16 (:482), recompute_granularity selective (:484),
use_distributed_optimizer True (:587), expert_tensor_parallel_size 1 (:619), sequence parallelism
off and without effect at tensor parallelism 1; sequences are packing_length or max_length long.
"""

import re
from dataclasses import replace

from engine.run.importers.adapters import note_bits, read_targets, settle_bits, settle_targets
from engine.run.importers.command_dialects import SWIFT_ARGUMENTS
from engine.run.importers.dialect import LAUNCH_VARIABLES, Piece, Reader, flags
from engine.run.importers.import_report import RunDraft, Setting, positive_number, shorten
from engine.run.importers.key_table import (
    WORKED,
    KeyTable,
    is_absent,
    is_off,
    plain_name,
    read_key,
    read_launch,
    refuse_value,
    tell,
)
from engine.run.importers.megatron_family import read_megatron_key
from engine.run.importers.megatron_readers import finish as finish_megatron_run
from engine.run.importers.repositories import derive_named_model, find_repository, note_model
from engine.run.importers.shell import script_flags
from engine.run.importers.trainer import (
    MICRO,
    STEPS,
    TrainerDefaults,
    finish_trainer,
    read_attention,
    read_fsdp_words,
    world_size,
)
from engine.run.importers.training_arguments import TABLE as TRAINER_TABLE
from engine.run.importers.training_arguments import read_length, read_packing
from engine.run.importers.yaml_text import read_yaml

SOFTWARE = "ms-swift 4.6"
DEFAULTS = TrainerDefaults(
    software=SOFTWARE, micro=1, steps=1, recompute="full", length=0, precision="bf16"
)
_COMMAND = re.compile(
    r"(?<![\w./-])(swift|megatron)\s+(sft|pt|rlhf)\b|swift/cli/(_megatron/)?(sft|pt|rlhf)\.py"
)


def _tuner(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    draft.notes["tuner"] = word
    if word in ("lora", "full"):
        draft.report(setting, "understood", WORKED)
    elif word == "lora_llm":
        draft.report_not_modeled(setting, "images' layers are trained in full; LoRA alone is shown")
    else:
        draft.report_not_modeled(setting, "other adapters; LoRA is shown")


def _preferences(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("dpo", "orpo", "simpo", "cpo", "kto", "rm"):
        draft.notes["sequences of a sample"] = 2
        reason = "the pass and the weights of a reference model; a sample is two sequences"
        draft.report_not_modeled(setting, reason)
    else:
        reason = "reinforcement learning: the training pass alone is shown, without generation"
        draft.report_not_modeled(setting, reason)


def _rank(setting: Setting, draft: RunDraft) -> None:
    rank = positive_number(setting.value)
    if rank is None:
        refuse_value(setting, "a whole number is needed", draft)
    else:
        draft.notes["lora rank"] = rank
        draft.report(setting, "understood", WORKED)


def _fsdp(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value) == "fsdp2":
        draft.notes["fsdp"] = ["full_shard", "auto_wrap"]
        draft.set_value(setting, "parallelism.zero_stage", 3)
    else:
        read_fsdp_words(setting, draft)


def _bits(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    else:
        note_bits(setting, draft, str(setting.value)[:20])


def _task(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value) in ("causal_lm", "None"):
        draft.report(setting, "understood", "a language model")
    else:
        reason = "another head and loss, on pairs or lists of texts; a language model's are shown"
        draft.report_not_modeled(setting, reason)


def _frozen(setting: Setting, draft: RunDraft) -> None:
    if is_off(setting.value):
        draft.report(setting, "understood", "off")
    else:
        draft.report_not_modeled(
            setting, "part of the model is frozen; all of it is shown as trained"
        )


def _checkpoint(setting: Setting, draft: RunDraft) -> None:
    """Read the folder of weights in Megatron's form, by whose name the model may be known."""
    name = str(setting.value).rstrip("/").removesuffix("-mcore")
    if "model name" not in draft.notes and find_repository(name):
        note_model(Setting(key=setting.key, value=name, line=setting.line), draft)
    else:
        draft.report(setting, "without effect", "where weights are loaded from")


_SHARED = KeyTable(
    handlers={
        "model": note_model,
        "load": _checkpoint,
        "mcore_model": _checkpoint,
        "tuner_type": _tuner,
        "train_type": _tuner,
        "sft_type": _tuner,
        "rlhf_type": _preferences,
        "lora_rank": _rank,
        "target_modules": read_targets,
        "max_length": read_length,
        "packing": read_packing,
        "freeze_llm": _frozen,
        "task_type": _task,
        "freeze_parameters": _frozen,
        "freeze_parameters_ratio": _frozen,
        "quant_bits": _bits,
        "quant_method": _bits,
    },
    not_modeled={
        "packing_length": "the length of a pack; max_length is shown",
        "use_vllm": "generation by vLLM is not in the step that is shown",
        "num_generations": "generation is not in the step that is shown",
        "enable_dft_loss": "another loss",
        "cross_entropy_loss_fusion": "a loss whose kernels take less memory and time",
        "teacher_model": "another model's pass",
        "num_labels": "a head of its own in place of the vocabulary's",
        "modules_to_save": "further layers are trained in full",
        "trainable_parameters": "only some weights are trained, or further ones",
        "trainable_parameters_regex": "only some weights are trained, or further ones",
        "freeze_vit": "images; the language model alone is shown",
        "model_kwargs": "the model's file is changed",
        "offload_model": "weights wait in the host's memory while others generate",
        "offload_optimizer": "states wait in the host's memory while others generate",
        "offload_bridge": "weights wait in the host's memory while others generate",
        "offload_teacher_model": "weights wait in the host's memory while others generate",
        "use_precision_aware_optimizer": "the optimizer's states in fewer bits",
        "exp_avg_dtype": "the optimizer's states in fewer bits",
        "exp_avg_sq_dtype": "the optimizer's states in fewer bits",
        "main_grads_dtype": "gradients in fewer bits",
        "moe_expert_capacity_factor": "tokens are dropped; all are shown",
        "config_file": "a file of its own beside the flags; paste it too",
        "use_logits_to_keep": "fewer logits are kept",
        "max_model_len": "the longest sequence of the model",
        "chord_sft_per_device_train_batch_size": "a supervised batch beside that of generation",
        "teacher_deepspeed": "how another model is sharded",
        "experts_impl": "how the experts' products are computed",
        "linear_decoupled_in_proj": "how products are joined",
        "megatron_extra_kwargs": "further arguments",
    },
    without_effect={
        "how data are loaded": (
            "dataset*", "val_dataset", "cached_*", "split_dataset_ratio", "load_from_cache_file",
            "columns", "system", "model_name", "model_author", "truncation_strategy", "template*",
            "max_pixels", "loss_scale", "stream*", "custom_*", "lazy_tokenize", "packing_num_proc",
            "packing_strategy", "padding_side", "interleave_prob", "shuffle_*", "norm_bbox",
            "agent_template", "use_chat_template", "enable_thinking", "add_non_thinking_prefix",
            "external_plugins", "strict", "truncation*", "dataloader_*", "train_dataloader_shuffle",
            "remove_unused_columns", "response_prefix", "new_special_tokens", "init_strategy",
        ),
        "saving lies between steps of training": (
            "output_dir", "add_version", "save_*", "create_checkpoint_symlink", "merge_lora",
            "load_args", "load_data_args", "push_to_hub", "hub_*", "use_hf", "safe_serialization",
            "max_shard_size", "resume_*", "no_save_optim", "no_save_rng", "no_load_*", "finetune",
            "async_save", "use_flash_ckpt", "save", "mcore_adapter*", "ignore_data_skip",
            "load_safetensors", "to_mcore", "to_hf",
        ),
        "images' layers; the language model alone is shown": (
            "freeze_aligner", "vit_*", "aligner_lr",
        ),
        "how weights are loaded": (
            "model_type", "model_revision", "adapters", "init_weights",
            "local_repo_path", "rope_scaling", "check_model", "use_cpu_initialization", "ref_*",
            "bridge_backend", "language_model_only", "tuner_backend",
            "ignore_args_error", "bnb_4bit_*",
        ),
        "numbers of the loss or of the optimizer": (
            "lr", "min_lr", "lr_*", "beta", "rpo_alpha", "loss_type", "epsilon*", "temperature",
            "top_*", "reward_*", "weight_decay*", "clip_grad", "adam_*", "moe_aux_loss_coeff",
            "moe_z_loss_coeff", "label_smoothing", "desirable_weight", "undesirable_weight",
            "simpo_gamma", "cpo_alpha", "muon_*", "sgd_momentum", "cross_entropy_fusion_impl",
            "calculate_per_token_loss", "delta", "scale_rewards", "advantage_estimator", "lmbda",
            "sft_alpha", "tau_*", "gkd_logits_topk", "center_rewards_coefficient", "fipo_*",
            "kl_in_reward", "chord_mu_*", "chord_enable_phi_function", "loss_weights",
        ),
        "logging": ("logging_*", "report_to", "wandb_*", "swanlab_*", "tensorboard_*", "log_*",
                    "callbacks", "enable_channel_loss", "acc_*", "acc_strategy"),
        "evaluation lies between steps of training": ("eval_*", "infer_backend", "max_new_tokens"),
        "generation is not in the step that is shown": (
            "vllm_*", "sleep_level", "max_turns", "multi_turn_scheduler", "dynamic_sample",
            "overlong_filter", "soft_*", "cosine_*", "repetition_*", "steps_per_generation",
            "num_iterations", "generation_batch_size", "max_resample_times", "move_model_batches",
            "async_generate", "sync_ref_model", "importance_sampling_*", "max_completion_length",
            "rollout_*", "router_replay_mode", "use_gym_env", "gym_env",
        ),
        "how many steps there are": ("num_train_epochs", "max_epochs", "train_iters", "max_steps"),
        "adapters of any strength take the same": (
            "lora_alpha", "lora_dropout", "lora_bias", "use_rslora", "lora_dtype",
            "lorap_lr_ratio", "lora_ga_*",
        ),
        "randomness": ("seed", "data_seed"),
        "without padding; full sequences are shown": ("padding_free",),
        "collecting garbage between steps": ("manual_gc*",),
    },
)  # fmt: skip
_TRAINER = TRAINER_TABLE.joined(_SHARED).joined(
    KeyTable(
        counts={
            "sequence_parallel_size": "parallelism.context_parallel",
            "deepspeed_autotp_size": "parallelism.tensor_parallel",
        },
        handlers={"attn_impl": read_attention, "fsdp": _fsdp},
        not_modeled={
            "zero_hpz_partition_size": "ZeRO++: weights are sharded in a node",
            "use_galore": "another optimizer; Adam's states and time are shown",
            "lisa_activated_layers": "only a few layers are trained at a time",
            "optimizer": "another optimizer; Adam's states and time are shown",
            "device_map": "layers on several GPUs of one process",
            "max_memory": "layers on several GPUs of one process",
        },
    )
)


def import_swift(settings: list[Setting], draft: RunDraft) -> None:
    """Import flags of `swift sft` into a draft."""
    for setting in settings:
        if not read_launch(setting, draft):
            read_key(setting, _TRAINER, draft)


def import_megatron_swift(settings: list[Setting], draft: RunDraft) -> None:
    """Import flags of `megatron sft` into a draft."""
    draft.notes["megatron swift"] = True
    draft.values["training.framework"] = "megatron"
    for setting in settings:
        name = plain_name(setting.key)
        known = name in _SHARED.handlers or name in _SHARED.not_modeled
        if read_launch(setting, draft):
            continue
        if known:
            read_key(setting, _SHARED, draft)
        elif name == "recompute_granularity" and is_off(setting.value):
            draft.set_value(setting, "training.recompute", "none")
        elif name in ("torch_dtype", "bf16", "fp16"):
            _type(setting, name, draft)
        else:
            _megatron_or_data(setting, name, draft)


def _type(setting: Setting, name: str, draft: RunDraft) -> None:
    word = str(setting.value).lower() if name == "torch_dtype" else name
    if is_off(setting.value):
        draft.report(setting, "understood", "off")
    elif word in ("bfloat16", "bf16", "float16", "fp16"):
        draft.set_value(
            setting, "training.precision", "fp16" if word == "float16" or word == "fp16" else "bf16"
        )
    else:
        refuse_value(setting, "known are bfloat16 and float16", draft)


def _megatron_or_data(setting: Setting, name: str, draft: RunDraft) -> None:
    """Read a Megatron argument; what that reader does not know may be swift's own."""
    count, warnings = len(draft.entries), len(draft.warnings)
    read_megatron_key(setting, name, draft)
    if draft.entries[-1].kind == "not known" and len(draft.entries) == count + 1:
        del draft.entries[count:], draft.warnings[warnings:]
        read_key(setting, _SHARED, draft)


def finish_swift(draft: RunDraft) -> None:
    """Derive the run by the Trainer's rules or by Megatron's, with swift's defaults."""
    notes = draft.notes
    mega = "megatron swift" in notes
    if notes.get("tuner", "full" if mega else "lora") != "full":
        rank = notes.get("lora rank", 8)
        draft.derive("training.lora_rank", rank, f"tuner_type lora ({SOFTWARE})")
    settle_targets(draft, "all", SOFTWARE)
    if "sequence_length" not in draft.values:
        draft.contradictions.append(
            "no --max_length: swift takes the longest of the model; the text does not say it"
        )
    if mega:
        _finish_megatron(draft)
    else:
        _finish_trainer(draft)


def _finish_megatron(draft: RunDraft) -> None:
    derive_named_model(draft)
    draft.values["training.framework"] = "megatron"
    draft.assume("training.global_batch_size", 16, f"--global_batch_size ({SOFTWARE})")
    draft.assume("parallelism.zero_stage", 1, f"use_distributed_optimizer ({SOFTWARE})")
    draft.assume("parallelism.expert_tensor_parallel", 1, f"({SOFTWARE})")
    draft.assume("training.precision", "bf16", "that of the model's file")
    if draft.get("parallelism.tensor_parallel") == 1:
        draft.values["parallelism.sequence_parallel"] = False
    finish_megatron_run(draft)
    draft.assume("training.recompute", "selective", f"recompute_granularity ({SOFTWARE})")
    settle_bits(draft)


def _finish_trainer(draft: RunDraft) -> None:
    notes = draft.notes
    parts = draft.get("parallelism.tensor_parallel") * draft.get("parallelism.context_parallel")
    if not notes.get(STEPS):
        world = world_size(draft, parts)
        notes[STEPS] = max(1, -(-16 // ((notes.get(MICRO) or 1) * world)))
        tell(draft, STEPS, notes[STEPS], f"ceil(16 / micro-batch / GPUs) ({SOFTWARE})")
    finish_trainer(draft, DEFAULTS)


def _read(piece: Piece, draft: RunDraft) -> None:
    commands = [match[0] for match in _COMMAND.finditer(piece.text)]
    if commands or re.search(flags(*SWIFT_ARGUMENTS), piece.text, re.MULTILINE):
        settings = script_flags(piece.text, piece.line)
        mega = any("megatron" in command for command in commands)
    else:
        settings = _yaml_settings(piece, draft)
        mega = "micro_batch_size" in {setting.key for setting in settings}
    _check_processes(settings, draft)
    (import_megatron_swift if mega else import_swift)(settings, draft)


def _yaml_settings(piece: Piece, draft: RunDraft) -> list[Setting]:
    """Return the keys of YAML: arguments, and variables of the environment below ENV."""
    settings = []
    for setting in read_yaml(piece.text, piece.line):
        head, _, name = setting.key.partition(".")
        if head == "ENV":
            known = name in LAUNCH_VARIABLES
            settings += [replace(setting, key=name)] if known else []
        elif head == "device_groups":
            counts = name == "nproc_per_node"
            settings += [replace(setting, key="nproc_per_node")] if counts else []
        elif name and head in ("train", "rollout", "teacher", "reference"):
            draft.notes.setdefault("groups of Ray", setting)
        else:
            settings.append(setting)
    if groups := draft.notes.get("groups of Ray"):
        draft.contradictions.append(
            f"line {groups.line}: {shorten(groups.key)}: groups of Ray's workers are not read"
        )
    return settings


def _check_processes(settings: list[Setting], draft: RunDraft) -> None:
    """Record a contradiction where one process has several GPUs, over which it lays layers."""
    names = {plain_name(setting.key) for setting in settings}
    if names & {"NPROC_PER_NODE", "nproc_per_node", "num_processes", "NNODES", "nnodes"}:
        return
    for setting in settings:
        if setting.key == "CUDA_VISIBLE_DEVICES" and "," in str(setting.value):
            draft.contradictions.append(
                f"line {setting.line}: several GPUs and no NPROC_PER_NODE: one process lays the "
                "layers over them in turn (device_map), which is not predicted"
            )
            return


READER = Reader(read=_read, finish=finish_swift)
