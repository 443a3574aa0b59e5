"""Importer of OpenRLHF's flags: `train_sft`, `train_dpo`, `train_rm`, `train_ppo_ray`.

Read at commit 3c3be623 (0.11: flags with points, `--train.batch_size`) and at v0.10.0 (flags
without, `--train_batch_size`), `openrlhf/cli/`. Defaults: ZeRO-2, whole batch 128, micro-batch 8
(train_rm and train_ppo_ray: 1), max_len 2048 (train_dpo and train_rm: 512), prompts and answers of
1,024 tokens in train_ppo_ray before 0.11, 1 node x 8 GPUs for its actor, no gradient checkpointing,
Adam by DeepSpeed. Of reinforcement learning one optimizer step of the actor is read, and that is
said.
"""

import re

from engine.run.importers.adapters import read_targets, settle_bits, settle_targets
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import OFFLOADED, RunDraft, Setting, shorten
from engine.run.importers.key_table import (
    Handler,
    KeyTable,
    is_on,
    note_number,
    plain_name,
    read_key,
    read_launch,
    refuse_value,
    remark,
    switch,
)
from engine.run.importers.repositories import derive_named_model, note_model
from engine.run.importers.shell import script_flags
from engine.run.importers.trainer import read_attention, read_bits, world_size
from engine.run.importers.training_arguments import read_packing

SOFTWARE = "OpenRLHF 0.11"
_COMMAND = re.compile(r"openrlhf[./]cli[./]train_(\w+?)(?:\.py)?(?=[\s\\\"'&]|$)", re.MULTILINE)
_LENGTHS = {"sft": 2048, "dpo": 512, "rm": 512, "kto": 2048, "kd": 2048}


def _stage(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value)
    if word in ("0", "1", "2", "3"):
        draft.set_value(setting, "parallelism.zero_stage", int(word))
    else:
        refuse_value(setting, "a stage from 0 to 3 is needed", draft)


def _precision(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    kind = {"true": "bf16", "bf16": "bf16", "fp16": "fp16"}.get(word)
    if kind:
        draft.set_value(setting, "training.precision", kind)
    else:
        refuse_value(setting, "known are bf16 and fp16", draft)


def _rank(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value)
    if word == "0":
        draft.report(setting, "understood", "all weights are trained")
    elif word.isdigit():
        draft.set_value(setting, "training.lora_rank", int(word))
    else:
        refuse_value(setting, "a whole number is needed", draft)


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("adam", "muon"):
        draft.set_value(setting, "training.optimizer", word)
    else:
        refuse_value(setting, "known are adam and muon", draft)


def _sums(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("fp32", "bf16", "fp16"):
        draft.set_value(setting, "training.gradient_precision", word)
    else:
        draft.report(setting, "understood", "not set")


def _offloaded(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        draft.report_not_modeled(setting, OFFLOADED)


# Both spellings of a flag: with points since 0.11, without before.
_HANDLERS: dict[str, Handler] = {
    "pretrain": note_model,
    "model.model_name_or_path": note_model,
    "actor.model_name_or_path": note_model,
    **dict.fromkeys(("zero_stage", "ds.zero_stage"), _stage),
    **dict.fromkeys(("bf16", "param_dtype", "ds.param_dtype"), _precision),
    **dict.fromkeys(("train_batch_size", "train.batch_size"), note_number("whole batch")),
    **dict.fromkeys(("micro_train_batch_size", "train.micro_batch_size"), note_number("micro")),
    **dict.fromkeys(("max_len", "data.max_len"), note_number("length")),
    "prompt_max_len": note_number("prompt"),
    "generate_max_len": note_number("answer"),
    "actor.num_nodes": note_number("nodes"),
    "actor.num_gpus_per_node": note_number("per_node"),
    **dict.fromkeys(
        ("gradient_checkpointing", "model.gradient_checkpointing_enable",
         "actor.gradient_checkpointing_enable"),
        switch("training.recompute", "full", "none"),
    ),
    **dict.fromkeys(("lora_rank", "ds.lora.rank"), _rank),
    **dict.fromkeys(("target_modules", "ds.lora.target_modules"), read_targets),
    **dict.fromkeys(("load_in_4bit", "ds.load_in_4bit"), read_bits("4")),
    **dict.fromkeys(("packing_samples", "ds.packing_samples"), read_packing),
    **dict.fromkeys(("flash_attn",), switch("training.flash_attention", True)),
    **dict.fromkeys(("attn_implementation", "ds.attn_implementation"), read_attention),
    **dict.fromkeys(("ring_attn_size", "ds.ring_attn_size"), note_number("ring")),
    **dict.fromkeys(("ds_tensor_parallel_size", "ds.tensor_parallel_size"), note_number("tensor")),
    **dict.fromkeys(("adam_offload", "ds.adam_offload"), _offloaded),
    **dict.fromkeys(
        ("overlap_comm", "ds.overlap_comm"), switch("training.overlap_gradient_reduce", True, False)
    ),
    **dict.fromkeys(("grad_accum_dtype", "ds.grad_accum_dtype"), _sums),
    "optim": _optimizer,
}  # fmt: skip
_GENERATION = "generation, rewards and references are not in the step that is shown"
TABLE = KeyTable(
    handlers=_HANDLERS,
    not_modeled={
        "teacher_model": "another model's weights and pass",
        "teacher_offload": "another model's weights in the host's memory",
        **dict.fromkeys(
            ("use_liger_kernel", "ds.use_liger_kernel"),
            "its fused kernels take less time, and its loss less memory",
        ),
        **dict.fromkeys(("zpg", "ds.zpg"), "ZeRO++: weights are sharded in a node"),
        **dict.fromkeys(("deepcompile", "ds.deepcompile"), "DeepSpeed's compiler"),
        **dict.fromkeys(
            ("use_dynamic_batch", "train.dynamic_batch_enable", "train_max_tokens_per_gpu",
             "train.max_tokens_per_gpu"),
            "passes are filled by tokens; full sequences are shown",
        ),
        "freezing_actor_steps": "the actor is frozen at first",
    },
    without_effect={
        _GENERATION: (
            "ref_*", "ref.*", "critic_*", "critic.*", "reward_*", "reward.*", "vllm_*", "vllm.*",
            "rollout_*", "rollout.*", "micro_rollout_batch_size", "n_samples_per_prompt",
            "remote_rm_url", "algo.*", "colocate_*", "temperature", "top_p", "init_kl_coef",
            "kl_*", "use_kl_loss", "advantage_estimator", "normalize_reward", "gamma", "lambd",
            "eps_clip*", "value_clip", "enable_prefix_caching", "enforce_eager", "async_*",
            "dynamic_filtering*", "train.colocate_*", "train.async_*", "prompt_data", "beta",
            "label_smoothing", "overlong_*", "entropy_loss_coef", "deepspeed_enable_sleep",
            "ds.enable_sleep", "full_determinism*", "ipo", "nll_loss_coef", "value_head_prefix",
            "compute_fp32_loss", "margin_loss", "agent_func_path", "packing_reward",
        ),
        "saving and logging lie between steps": (
            "ckpt.*", "ckpt_*", "save_*", "load_checkpoint", "max_ckpt_*", "disable_ds_ckpt",
            "use_ds_universal_ckpt", "ds.use_universal_ckpt", "logger.*", "logging_*", "use_wandb",
            "wandb_*", "use_tensorboard", "eval.*", "eval_*", "use_swanlab",
        ),
        "how data are loaded": (
            "data.*", "dataset*", "input_*", "output_key", "apply_chat_template", "max_samples",
            "multiturn", "tokenizer_chat_template", "train_split", "dataloader_num_workers",
            "disable_fast_tokenizer", "chosen_key", "rejected_key", "prompt_key", "label_key",
            "prompt_split", "use_ms",
        ),
        "a number of the optimizer or of the loss": (
            "adam.*", "muon.*", "learning_rate", "actor_learning_rate", "actor.adam.*",
            "actor.muon.*", "actor.lr*", "actor.eps_clip*", "actor.max_norm",
            "actor.aux_loss_coef", "actor.min_lr_ratio", "actor.entropy_coef", "actor.dual_clip",
            "actor.freezing_steps", "lr_*", "l2",
            "adam_betas", "max_norm", "min_lr_ratio", "aux_loss_coef", "model.aux_loss_coef",
            "pretrain_mode", "model.pretrain_mode_enable",
        ),
        "how many steps there are": ("max_epochs", "train.max_epochs", "num_episodes",
                                     "train.num_episodes"),
        "randomness": ("seed", "train.seed", "train.full_determinism_enable"),
        "adapters of any strength take the same": (
            "lora_alpha", "lora_dropout", "ds.lora.alpha", "ds.lora.dropout",
        ),
        "both ways of gradient checkpointing keep the same": (
            "gradient_checkpointing_use_reentrant", "model.gradient_checkpointing_reentrant",
            "actor.gradient_checkpointing_reentrant",
        ),
        "how heads are cut in a ring": ("ring_head_stride", "ds.ring_attn_head_stride"),
    },
)  # fmt: skip


def import_openrlhf(settings: list[Setting], draft: RunDraft) -> None:
    """Import flags of OpenRLHF into a draft."""
    for setting in settings:
        if plain_name(setting.key) in TABLE.handlers or not read_launch(setting, draft):
            read_key(setting, TABLE, draft)


def finish_openrlhf(draft: RunDraft) -> None:
    """Derive an optimizer step."""
    notes = draft.notes
    derive_named_model(draft)
    settle_targets(draft, "all", SOFTWARE)
    draft.values["training.framework"] = "deepspeed"
    kind = str(notes.get("command", "ppo" if "generates" in notes else "sft"))
    _length(draft, kind)
    for name, path in (("tensor", "tensor_parallel"), ("ring", "context_parallel")):
        if notes.get(name, 1) > 1:
            draft.derive(f"parallelism.{path}", notes[name], f"{name}: GPUs that share a sequence")
    why = f"unless it is set ({SOFTWARE})"
    draft.assume("parallelism.zero_stage", 2, f"zero_stage 2 {why}")
    draft.assume("training.recompute", "none", f"gradient checkpointing off {why}")
    draft.assume("training.precision", "bf16", f"param_dtype bf16 {why}")
    draft.assume("training.compiled", False, "no compiler of kernels")
    draft.assume("parallelism.sequence_parallel", False, "DeepSpeed's AutoTP has none")
    settle_bits(draft)
    _batch(draft, kind)


def _length(draft: RunDraft, kind: str) -> None:
    notes = draft.notes
    if kind.startswith("ppo"):
        remark(
            draft,
            "OpenRLHF",
            "reinforcement learning",
            f"the actor's training alone: {_GENERATION}",
        )
        notes.setdefault("per_node", 8)
        total = notes.get("length") or notes.get("prompt", 1024) + notes.get("answer", 1024)
        draft.derive("sequence_length", total, "the longest prompt and answer; most are shorter")
    elif kind in _LENGTHS:
        draft.derive("sequence_length", notes.get("length", _LENGTHS[kind]), "max_len")
    else:
        draft.contradictions.append(f"train_{shorten(kind)} of OpenRLHF is not read here")


def _batch(draft: RunDraft, kind: str) -> None:
    notes = draft.notes
    parts = draft.get("parallelism.tensor_parallel") * draft.get("parallelism.context_parallel")
    whole = notes.get("whole batch", 128)
    micro = notes.get("micro", 8 if kind in ("sft", "dpo", "kto", "kd") else 1)
    ranks = world_size(draft, parts, whole // micro) // parts
    pairs = 2 if kind in ("dpo", "rm") else 1
    if pairs == 2:
        reason = "a sample is two sequences; the pass of a reference, if there is one"
        remark(draft, f"train_{kind}", "preferences", reason)
    elif kind == "kto":
        remark(draft, "train_kto", "preferences", "the weights and the pass of a reference model")
    elif kind == "kd":
        remark(draft, "train_kd", "distillation", "the weights and the pass of the teacher")
    if whole % (micro * ranks):
        draft.contradictions.append(
            f"train_batch_size {whole} is no multiple of the micro-batch {micro} x {ranks} "
            "data-parallel ranks"
        )
        return
    draft.derive("training.micro_batch_size", micro * pairs, "sequences of a forward pass of a GPU")
    draft.derive("training.global_batch_size", whole * pairs, "train_batch_size")


def _read(piece: Piece, draft: RunDraft) -> None:
    command = _COMMAND.search(piece.text)
    if command:
        draft.notes["command"] = command[1].removesuffix("_ray")
    if re.search(r"--(?:vllm_num_engines|rollout_batch_size|n_samples_per_prompt)\b", piece.text):
        draft.notes["generates"] = True
    import_openrlhf(script_flags(piece.text, piece.line), draft)


READER = Reader(read=_read, finish=finish_openrlhf)
