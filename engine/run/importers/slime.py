"""Importer of slime: reinforcement learning whose actor is trained by Megatron-LM.

Read at commit 624b824a. `slime/backends/megatron_utils/arguments.py` sets the distributed optimizer
in any case, bf16 unless fp16 is asked for, and 4,096 tokens where no length is said; the world size
is `--actor-num-nodes` times `--actor-num-gpus-per-node`. Its own arguments are those of
`slime/utils/arguments.py`; the others are Megatron's.
"""

import re

from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, Setting
from engine.run.importers.key_table import KeyTable, read_key, reason_without_effect, remark
from engine.run.importers.launch import take_launch
from engine.run.importers.megatron import import_megatron
from engine.run.importers.megatron_readers import finish
from engine.run.importers.repositories import find_repository
from engine.run.importers.shell import script_flags

SOFTWARE = "slime (624b824a)"
_PACKED = "sequences of many lengths are packed; full ones are shown"
_TABLE = KeyTable(
    not_modeled={
        "use_dynamic_batch_size": _PACKED,
        "max_tokens_per_gpu": _PACKED,
        "log_probs_max_tokens_per_gpu": _PACKED,
        "offload_train": "weights and states wait in the host's memory while others generate",
        "offload": "weights and states wait in the host's memory while others generate",
        "recompute_loss_function": "the loss is computed again in the backward pass",
        "use_stateless_adam": "the optimizer's states are not kept",
        "freeze_params_name_list": "frozen weights; all are shown as trained",
        "only_train_params_name_list": "frozen weights; all are shown as trained",
        "freeze_indexer": "frozen weights; all are shown as trained",
        "allgather_cp": "context parallelism that gathers; a ring is shown",
        "custom_model_provider_path": "a model of one's own",
        "megatron_config_path": "a file of further arguments; paste it too",
        "critic_num_nodes": "a critic beside the actor",
        "use_opd": "another model's pass",
    },
    without_effect={
        "generation is not in the step that is shown": (
            "rollout_*", "num_rollout", "n_samples_per_prompt", "over_sampling_batch_size",
            "sglang_*", "partial_rollout", "colocate", "update_weight*", "offload_rollout",
            "dynamic_sampling_filter_path", "use_rollout_*", "num_gpus_per_node", "rm_*",
            "use_routing_replay", "group_rm", "router_*", "use_slime_router",
            "num_steps_per_rollout", "balance_data", "balance_by_flops", "mask_offpolicy_*",
            "keep_old_actor",
            "ref_update_interval", "release_train", "train_env_vars", "use_fault_tolerance",
            "buffer_filter_path", "min_batch_collection_ratio", "prefill_*", "decode_*",
        ),
        "numbers of the loss": (
            "advantage_estimator", "kl_*", "entropy_coef", "eps_clip*", "use_kl_loss", "use_tis",
            "tis_*", "gamma", "lambd", "normalize_advantages", "value_clip", "use_unbiased_kl",
            "disable_grpo_std_normalization", "disable_rewards_normalization", "loss_*", "opsm_*",
            "use_opsm", "opd_*", "get_mismatch_metrics", "disable_compute_advantages_and_returns",
        ),
        "how data are loaded": (
            "prompt_data", "input_key", "label_key", "metadata_key", "apply_chat_template*",
            "reward_key", "tool_key", "multimodal_keys", "data_source_path", "num_epoch",
            "custom_*", "start_rollout_id", "data_pad_size_multiplier",
        ),
        "saving and loading lie between steps": (
            "hf_checkpoint", "ref_load", "ref_ckpt_step", "save_hf", "save_debug_*", "load_debug_*",
            "megatron_to_hf_mode", "model_name", "reset_optimizer_states",
        ),
        "logging and checks": (
            "use_wandb", "use_tensorboard", "tb_*", "disable_wandb_random_suffix", "dump_details",
            "ci_*", "check_weight_update_equal", "debug_*", "memory_recorder", "profile_target",
            "use_distributed_post", "train_backend",
        ),
        "evaluation lies between steps of training": (
            "eval_*", "n_samples_per_eval_prompt", "skip_eval_before_train",
        ),
    },
)  # fmt: skip


def import_slime(settings: list[Setting], draft: RunDraft) -> None:
    """Import slime's arguments into a draft; those that are not its own are Megatron's."""
    draft.values["training.framework"] = "megatron"
    for setting in take_launch(settings, draft):
        name = setting.key.removeprefix("--").replace("-", "_")
        if name == "hf_checkpoint":
            draft.notes["checkpoint"] = str(setting.value)
        if name in _TABLE.not_modeled or reason_without_effect(name, _TABLE):
            read_key(setting, _TABLE, draft)
        else:
            import_megatron([setting], draft)


def _derive_model(draft: RunDraft) -> None:
    """Derive the model from the checkpoint where the file of its arguments is not in the text."""
    values, file = draft.values, draft.notes.get("sourced", "")
    if "model" in values or "model.num_layers" in values:
        return
    paste = f"paste {file} too" if file else "paste its arguments or its config.json"
    if key := find_repository(str(draft.notes.get("checkpoint", ""))):
        draft.derive("model", key, f"--hf-checkpoint, by its name; {paste} to read its own sizes")
    elif file:
        draft.contradictions.append(f"the script reads the model from {file}: {paste}")


def finish_slime(draft: RunDraft) -> None:
    """Derive the run by Megatron's rules, with slime's defaults."""
    remark(draft, "slime", SOFTWARE, "of a step of reinforcement learning the training pass alone "
           "is shown: no generation, no reference, no rewards")  # fmt: skip
    draft.lines.pop("parallelism.zero_stage", None)
    draft.derive("parallelism.zero_stage", 1, f"the distributed optimizer is on ({SOFTWARE})")
    _derive_model(draft)
    if "sequence_length" not in draft.values:
        remark(draft, "sequence_length", 4096, f"no text says how long sequences are ({SOFTWARE})")
        draft.values["sequence_length"] = 4096
    finish(draft)


# The file of a model's arguments that a script reads: `source "${SCRIPT_DIR}/models/qwen3-4B.sh"`.
_SOURCED = re.compile(
    r"^[ \t]*(?:source|\.)[ \t]+[\"']?[^\s\"';#]*?(?P<name>[\w.+-]+\.sh)[\"']?", re.MULTILINE
)


def _read(piece: Piece, draft: RunDraft) -> None:
    for match in _SOURCED.finditer(piece.text):
        draft.notes.setdefault("sourced", match["name"])
    import_slime(script_flags(piece.text, piece.line), draft)


READER = Reader(read=_read, finish=finish_slime)
