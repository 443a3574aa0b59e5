"""Importer of verl: overrides of its reinforcement learning and of its supervised trainers.

Read at commit b178a3cd (0.7, `verl/trainer/config/`). Of a job of reinforcement learning one
optimizer step of the actor is read; generation, log-probabilities, reference, critic and rewards
are not, and that is said. Defaults: 1 node x 8 GPUs, prompts and responses of 512 tokens,
mini-batch 256 (ppo_trainer.yaml, actor/actor.yaml), rollout.n 1; a mini-batch is multiplied by
rollout.n (workers/fsdp_workers.py:241); gradient checkpointing on (model/hf_model.yaml), FSDP that
shards again after the forward pass (engine/fsdp.yaml); Megatron with distributed optimizer and
sequence parallelism (engine/megatron.yaml). Supervised (sft_trainer.yaml): batch 256, 4 sequences
for a GPU, 1,024 tokens, gradient checkpointing.
"""

from collections.abc import Mapping
from functools import partial

from engine.run.importers.adapters import read_targets, settle_targets
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    is_true,
    positive_number,
    shorten,
    whole_number,
)
from engine.run.importers.key_table import (
    WORKED,
    Handler,
    KeyTable,
    is_off,
    is_on,
    note_number,
    note_text,
    plain_name,
    read_key,
    read_launch,
    reason_without_effect,
    refuse_value,
    remark,
    switch,
    tell,
)
from engine.run.importers.megatron_derived import finish_megatron
from engine.run.importers.megatron_family import read_megatron_key
from engine.run.importers.repositories import derive_named_model, note_model
from engine.run.importers.shell import script_flags
from engine.run.importers.trainer import world_size
from engine.run.importers.verl_overrides import read_overrides

SOFTWARE = "verl 0.7"
_ACTOR, _MODEL = "actor_rollout_ref.actor.", "actor_rollout_ref.model."
# Parts of a step of reinforcement learning that are not the actor's training.
_LEFT_OUT = {
    "generation is not in the step that is shown": ("actor_rollout_ref.rollout.*",),
    "the reference's pass is not in the step that is shown": ("actor_rollout_ref.ref.*",),
    "the critic is not in the step that is shown": ("critic.*",),
    "rewards are not in the step that is shown": (
        "reward_model.*", "custom_reward_function.*", "algorithm.*", "reward.*",
    ),
}  # fmt: skip


def _offloaded(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        draft.report_not_modeled(setting, OFFLOADED)


def _strategy(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("fsdp", "fsdp2", "megatron"):
        draft.notes["strategy"] = word
        draft.report(setting, "understood", WORKED)
    else:
        refuse_value(setting, "known are fsdp, fsdp2 and megatron", draft)


def _megatron(setting: Setting, draft: RunDraft) -> None:
    """Read a key of Megatron below the actor or the engine."""
    draft.notes["strategy"] = "megatron"
    key = setting.key.rpartition(".")[2]
    name = _RENAMED.get(key, key)
    if key in ("param_offload", "grad_offload", "optimizer_offload"):
        _offloaded(setting, draft)
        return
    if reason := reason_without_effect(key, _MEGATRON_DETAILS):
        draft.report(setting, "without effect", reason)
        return
    read_megatron_key(setting, name, draft)


_RENAMED = {
    "num_layers_in_first_pipeline_stage": "decoder_first_pipeline_num_layers",
    "num_layers_in_last_pipeline_stage": "decoder_last_pipeline_num_layers",
}
_MEGATRON_DETAILS = KeyTable(
    without_effect={
        "how weights are loaded or saved": (
            "use_mbridge", "vanilla_mbridge", "use_dist_checkpointing", "dist_checkpointing_*",
            "load_weight", "dist_ckpt_*",
        ),
        "randomness": ("seed",),
        "fused kernels are taken": (
            "apply_rope_fusion", "masked_softmax_fusion", "bias_activation_fusion",
            "bias_dropout_fusion", "gradient_accumulation_fusion", "persist_layer_norm",
        ),
        "outputs that were sent on are freed in any case": ("deallocate_pipeline_outputs",),
        "padding is removed; full sequences are shown": ("use_remove_padding",),
        "routers are small": ("moe_router_dtype", "moe_aux_loss_coeff", "moe_z_loss_coeff",
                              "moe_router_load_balancing_type"),
    }
)  # fmt: skip

_size = partial(note_number, least=None)


def _older_micro(setting: Setting, draft: RunDraft) -> None:
    reason = "no longer read: 4 sequences for a GPU unless micro_batch_size_per_gpu is set"
    draft.report_not_modeled(setting, reason)


def _whole_micro(setting: Setting, draft: RunDraft) -> None:
    """Note the micro-batch of all data-parallel ranks together."""
    _size("micro of all")(setting, draft)


def _lora(setting: Setting, draft: RunDraft) -> None:
    rank = whole_number(setting.value)
    if rank is None:
        refuse_value(setting, "a whole number is needed", draft)
    elif rank:
        draft.set_value(setting, "training.lora_rank", rank)
    else:
        draft.report(setting, "understood", "all weights are trained")


def _checkpointing(setting: Setting, draft: RunDraft) -> None:
    """Note gradient checkpointing of FSDP; Megatron recomputes by arguments of its own."""
    draft.notes["checkpointing"] = setting
    draft.report(setting, "understood", WORKED)


def _compose(setting: Setting, draft: RunDraft) -> None:
    """Read the name of the configuration that the overrides change."""
    name = str(setting.value).strip("\"'").rpartition("/")[2].removesuffix(".yaml")
    if "megatron" in name:
        draft.notes["strategy"] = "megatron"
    if name in _OWN_FILES or plain_name(setting.key) == "config_path":
        draft.report(
            setting, "understood", f"{shorten(name)}: its defaults are those of {SOFTWARE}"
        )
    else:
        reason = "a file whose settings are not in the text; the defaults of verl are shown"
        draft.report_not_modeled(setting, reason)


def _device(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).lower() in ("cuda", "auto"):
        draft.report(setting, "understood", "GPUs")
    else:
        draft.report_not_modeled(setting, "another kind of device; a GPU is shown")


_OWN_FILES = (
    "ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine", "dapo_trainer",
    "dapo_megatron_trainer",
)  # fmt: skip
_FSDP: Mapping[str, Handler] = {
    "fsdp_size": _size("fsdp size"),
    "reshard_after_forward": switch("parallelism.zero_stage", 3, 2),
    "ulysses_sequence_parallel_size": _size("ulysses"),
    "strategy": _strategy,
    **dict.fromkeys(
        ("param_offload", "grad_offload", "optimizer_offload", "offload_policy"), _offloaded
    ),
}
_OPTIMIZER = (
    "lr*", "weight_decay*", "betas", "clip_grad", "min_lr*", "num_cycles", "total_training_steps",
    "warmup_style", "eps", "_target_", "start_weight_decay", "end_weight_decay",
)  # fmt: skip
TABLE = KeyTable(
    counts={"data.max_length": "sequence_length"},
    handlers={
        "trainer.device": _device,
        "trainer.nnodes": _size("nodes"),
        "trainer.n_gpus_per_node": _size("per_node"),
        "data.train_batch_size": _size("whole batch"),
        "data.micro_batch_size_per_gpu": _size("micro"),
        "data.micro_batch_size": _older_micro,
        "data.max_prompt_length": _size("prompt"),
        "data.max_response_length": _size("response"),
        "data.max_token_len_per_gpu": _size("tokens of a pass"),
        "data.use_dynamic_bsz": note_text("dynamic"),
        "actor_rollout_ref.rollout.n": _size("responses"),
        f"{_ACTOR}ppo_mini_batch_size": _size("mini"),
        f"{_ACTOR}ppo_micro_batch_size_per_gpu": _size("micro"),
        f"{_ACTOR}ppo_micro_batch_size": _whole_micro,
        f"{_ACTOR}use_dynamic_bsz": note_text("dynamic"),
        f"{_ACTOR}ppo_max_token_len_per_gpu": _size("tokens of a pass"),
        f"{_ACTOR}strategy": _strategy,
        f"{_ACTOR}ulysses_sequence_parallel_size": _size("ulysses"),
        "ulysses_sequence_parallel_size": _size("ulysses"),
        "engine": _strategy,
        "optim": _strategy,
        "model.strategy": _strategy,
        **{f"{_ACTOR}fsdp_config.{key}": handler for key, handler in _FSDP.items()},
        **{
            f"{head}{key}": handler
            for head in (_MODEL, "model.")
            for key, handler in {
                "path": note_model,
                "partial_pretrain": note_model,
                "enable_gradient_checkpointing": _checkpointing,
                "lora_rank": _lora,
                "lora.rank": _size("lora of Megatron"),
                "target_modules": read_targets,
                "lora.target_modules": read_targets,
            }.items()
        },
    },
    not_modeled={
        "model.fsdp_config.cpu_offload": OFFLOADED,
        "model.fsdp_config.offload_params": OFFLOADED,
        **dict.fromkeys(
            ("model.use_liger", f"{_MODEL}use_liger", f"{_MODEL}use_fused_kernels",
             f"{_ACTOR}use_fused_kernels"),
            "fused kernels, and a loss that keeps no logits: less memory than shown",
        ),
        f"{_MODEL}enable_activation_offload": "kept activations lie in the host's memory",
        f"{_ACTOR}use_torch_compile": "the loss is compiled",
        f"{_ACTOR}entropy_checkpointing": "the entropy is recomputed",
        f"{_ACTOR}entropy_from_logits_with_chunking": "the loss runs in pieces",
        f"{_ACTOR}freeze_vision_tower": "images; the language model alone is shown",
        f"{_ACTOR}fsdp_config.model_dtype": "parameters are shown in 32 bits",
        "model.fsdp_config.model_dtype": "parameters are shown in 32 bits",
        f"{_ACTOR}optim.override_optimizer_config.optimizer_cpu_offload": OFFLOADED,
        f"{_ACTOR}optim.override_optimizer_config.optimizer_offload_fraction": OFFLOADED,
        f"{_ACTOR}optim.override_optimizer_config.use_precision_aware_optimizer": (
            "the optimizer's states in fewer bits"
        ),
        f"{_MODEL}override_config": "the shape of the model is changed",
        f"{_MODEL}torch_dtype": "parameters are shown in 32 bits",
        f"{_MODEL}mtp.enable_train": "layers that predict further tokens",
        f"{_ACTOR}fsdp_config.mixed_precision": "another mixed precision",
        f"{_ACTOR}state_masking": "tokens that are masked",
        "engine.model_dtype": "parameters are shown in 32 bits",
    },
    without_effect={
        **_LEFT_OUT,
        "a number of the optimizer or of the loss": (
            *(f"{head}{key}" for head in (f"{_ACTOR}optim.", "optim.") for key in _OPTIMIZER),
            f"{_ACTOR}use_kl_loss", f"{_ACTOR}kl_loss_*",
            f"{_ACTOR}entropy_coeff", f"{_ACTOR}clip_*", f"{_ACTOR}loss_*", f"{_ACTOR}policy_loss",
            f"{_ACTOR}grad_clip", f"{_ACTOR}tau_*", f"{_ACTOR}calculate_entropy",
        ),
        "how often a batch is used": (f"{_ACTOR}ppo_epochs", f"{_ACTOR}shuffle"),
        "logging, saving and how many steps there are": (
            "trainer.logger", "trainer.project_name", "trainer.experiment_name",
            "trainer.save_freq",
            "trainer.test_freq", "trainer.total_*", "trainer.val_*", "trainer.default_*",
            "trainer.resume_*", "trainer.log_*", "trainer.max_*", "trainer.seed",
            "trainer.rollout_data_dir", "trainer.validation_data_dir", "trainer.del_*",
            "trainer.profile_*", "trainer.ray_wait_*", "trainer.balance_batch", "checkpoint",
            "trainer.checkpoint", "trainer.esi_*", "trainer.use_legacy_worker_impl",
            "trainer.critic_warmup", f"{_ACTOR}checkpoint", f"{_ACTOR}profiler", "global_profiler",
        ),
        "how data are loaded": (
            "data.train_files", "data.val_files", "data.prompt_*", "data.response_*", "data.trunc*",
            "data.filter_*", "data.shuffle", "data.seed", "data.image_*", "data.video_*",
            "data.return_*", "data.val_batch_size", "data.multiturn", "data.custom_cls",
            "data.tokenizer", "data.trust_remote_code", "data.reward_*", "data.sampler",
            "data.dataloader_*", "data.chat_*", "data.apply_*", "data.use_shm", "data.pad_mode",
            "data.datagen", "data.balance_*", "data.train_max_*", "data.val_max_*", "data.tool_*",
            "data.messages_key", "data.train_data_num", "data.val_data_num",
            "data.max_start_length", "data.max_obs_length", "data.shuffle_*", "data.num_workers",
            "data.ignore_*", "data.path", "data.gen_*",
        ),
        "how the weights are loaded": (
            f"{_MODEL}trust_remote_code", f"{_MODEL}use_shm", f"{_MODEL}external_lib",
            f"{_MODEL}tokenizer_path", f"{_MODEL}custom_chat_template", f"{_MODEL}hf_config_path",
            "model.trust_remote_code", "model.external_lib", "model.use_shm",
            f"{_MODEL}lora_adapter*",
            "model.tokenizer_path",
        ),
        "adapters of any strength take the same": (
            f"{_MODEL}lora.*", "model.lora.*",f"{_MODEL}lora_alpha", "model.lora_alpha",
                                                   f"{_MODEL}exclude_modules"),
        "padding is removed; full sequences are shown": (
            f"{_MODEL}use_remove_padding", "use_remove_padding", "model.use_remove_padding",
            f"{_ACTOR}use_remove_padding",
        ),
        "how processes find each other": ("actor_rollout_ref.nccl_timeout", "ray_kwargs"),
        "another roof, which starts verl": ("model.name",),
        "a choice of what runs": ("actor_rollout_ref.hybrid_engine", f"{_ACTOR}_target_"),
        "how FSDP finds its units and gathers": (
            f"{_ACTOR}fsdp_config.wrap_policy", f"{_ACTOR}fsdp_config.forward_prefetch",
            "model.fsdp_config.wrap_policy", f"{_ACTOR}fsdp_config.use_orig_params",
        ),
    },
)  # fmt: skip
_MEGATRON_HEADS = (f"{_ACTOR}megatron.", "engine.override_transformer_config.",
                   f"{_MODEL}gradient_checkpointing_kwargs.activations_checkpoint_")  # fmt: skip
_ENGINE = tuple(_FSDP)


def import_verl(settings: list[Setting], draft: RunDraft) -> None:
    """Import overrides of verl into a draft."""
    for setting in settings:
        key = setting.key
        inner = key.removeprefix("engine.")
        if key.startswith(("actor_rollout_ref.", "algorithm.", "critic.")):
            draft.notes["reinforcement"] = True
        if key.startswith(_MEGATRON_HEADS):
            _megatron(setting, draft)
        elif key.startswith("worker.") or key == "config":
            _fork(setting, draft)
        elif key.startswith("rollout."):
            draft.notes["generation"] = True
            draft.report(setting, "without effect", "generation is not in the step that is shown")
        elif key.startswith("engine.") and inner in _ENGINE:
            _FSDP[inner](setting, draft)
        elif key.startswith("engine.") and key not in TABLE.not_modeled:
            _megatron(setting, draft)
        else:
            read_key(setting, TABLE, draft)


def _fork(setting: Setting, draft: RunDraft) -> None:
    """Refuse overrides of EasyR1, whose keys and defaults are those of a file of its own."""
    draft.report(setting, "not known", "of EasyR1, a fork of verl")
    if "fork" not in draft.notes:
        draft.notes["fork"] = True
        draft.contradictions.append(
            f"line {setting.line}: {shorten(setting.key)} is of EasyR1, which is not read here"
        )


def finish_verl(draft: RunDraft) -> None:
    """Derive one optimizer step of the actor, or of the supervised trainer."""
    notes = draft.notes
    if "generation" in notes and "reinforcement" not in notes:
        draft.contradictions.append("these overrides of verl generate; they train nothing")
        return
    derive_named_model(draft)
    reinforced = "reinforcement" in notes
    if reinforced:
        reason = (
            "of a step of reinforcement learning the actor's training alone is shown, one "
            "mini-batch of it: no generation, log-probabilities, reference, critic or reward"
        )
        remark(draft, "verl", "reinforcement learning", reason)
        notes.setdefault("per_node", 8)
        length = notes.get("prompt", 512) + notes.get("response", 512)
        draft.derive("sequence_length", length, "the longest prompt and response; most are shorter")
    else:
        draft.assume("sequence_length", 1024, f"data.max_length ({SOFTWARE})")
    if notes.get("strategy") == "megatron":
        _finish_megatron(draft)
    else:
        _finish_fsdp(draft)
    settle_targets(draft, "all", SOFTWARE)
    _batch(draft, reinforced)


def _finish_megatron(draft: RunDraft) -> None:
    if draft.notes.get("lora of Megatron"):
        draft.derive("training.lora_rank", draft.notes["lora of Megatron"], "model.lora.rank")
    draft.values["training.framework"] = "megatron"
    why = f"engine/megatron.yaml ({SOFTWARE})"
    draft.assume("parallelism.zero_stage", 1, why)
    split = draft.get("parallelism.tensor_parallel") > 1
    if draft.values.get("parallelism.sequence_parallel", True):
        draft.derive("parallelism.sequence_parallel", split, why)
    finish_megatron(draft)
    checkpointing = draft.notes.get("checkpointing")
    if checkpointing and is_true(checkpointing.value) and "training.recompute" not in draft.values:
        reason = (
            "of FSDP alone; Megatron recomputes by override_transformer_config, which is not set"
        )
        draft.report_not_modeled(checkpointing, reason)
    draft.assume("training.recompute", "none", f"recompute_granularity null ({SOFTWARE})")


def _finish_fsdp(draft: RunDraft) -> None:
    if draft.notes.get("lora of Megatron"):
        reason = "of Megatron alone; FSDP reads lora_rank, so all weights are shown as trained"
        remark(draft, "model.lora.rank", draft.notes["lora of Megatron"], reason)
    draft.values["training.framework"] = "fsdp"
    draft.assume("parallelism.zero_stage", 3, f"reshard_after_forward ({SOFTWARE})")
    if checkpointing := draft.notes.get("checkpointing"):
        kept = "none" if is_off(checkpointing.value) else "full"
        draft.derive("training.recompute", kept, "enable_gradient_checkpointing")
    draft.assume("training.recompute", "full", f"enable_gradient_checkpointing ({SOFTWARE})")
    draft.assume("training.compiled", False, f"layers are not compiled ({SOFTWARE})")
    draft.assume("parallelism.sequence_parallel", False, "FSDP has none")
    split = draft.notes.get("ulysses", 1)
    if split > 1:
        draft.derive("parallelism.context_parallel", split, "Ulysses: a sequence is split alike")
    size = draft.notes.get("fsdp size", -1)
    if size > 0:
        draft.derive("parallelism.shard_group", size, "fsdp_size: others keep copies")


def _batch(draft: RunDraft, reinforced: bool) -> None:
    notes, get, parts = draft.notes, draft.get, 1
    for axis in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        parts *= get(f"parallelism.{axis}")
    world = world_size(draft, parts)
    ranks = world // parts
    if world % parts or not ranks:
        draft.contradictions.append(f"{world} GPUs do not divide by {parts} that share a sequence")
        return
    responses = notes.get("responses", 1)
    if reinforced:
        total = notes.get("mini", 256) * responses
        why = f"ppo_mini_batch_size {notes.get('mini', 256)} x rollout.n {responses}"
    else:
        total, why = notes.get("whole batch", 256), "data.train_batch_size"
    micro = _micro(draft, reinforced, ranks)
    if micro is None:
        return
    if total % ranks or (total // ranks) % micro:
        each = total / ranks
        if "micro by tokens" not in notes:
            draft.contradictions.append(
                f"{shorten(each)} sequences of a rank are no multiple of the micro-batch {micro}"
            )
            return
        # Passes are filled by tokens: as many whole ones as there are, the last one not full.
        micro = max(
            size for size in range(1, micro + 1) if total % (ranks * size) == 0 or size == 1
        )
    draft.derive("training.global_batch_size", total, why)
    draft.derive("training.micro_batch_size", micro, "sequences of a forward pass of a rank")
    draft.assume("training.precision", "bf16", f"dtype bfloat16 ({SOFTWARE})")


def _micro(draft: RunDraft, reinforced: bool, ranks: int) -> int | None:
    notes = draft.notes
    dynamic = is_true(notes.get("dynamic", False))
    tokens = notes.get("tokens of a pass", 16384 if reinforced else 8192)
    if dynamic or (not reinforced and "tokens of a pass" in notes):
        length = draft.values["sequence_length"]
        shared = draft.get("parallelism.context_parallel")
        notes["micro by tokens"] = True
        remark(
            draft, "use_dynamic_bsz", True, "passes are filled by tokens; full sequences are shown"
        )
        return max(1, int(tokens) * int(shared) // int(length))
    if positive_number(notes.get("micro")):
        return int(notes["micro"])
    if positive_number(notes.get("micro of all")):
        return max(1, int(notes["micro of all"]) // ranks)
    if not reinforced:
        tell(draft, "data.micro_batch_size_per_gpu", 4, f"unless it is set ({SOFTWARE})")
        return 4
    draft.contradictions.append("no ppo_micro_batch_size_per_gpu: verl needs it or use_dynamic_bsz")
    return None


def _read(piece: Piece, draft: RunDraft) -> None:
    import_verl(read_overrides(piece.text, piece.line), draft)
    for setting in script_flags(piece.text, piece.line):
        if setting.key.startswith("--config"):
            _compose(setting, draft)
        else:
            read_launch(setting, draft)


READER = Reader(read=_read, finish=finish_verl)
