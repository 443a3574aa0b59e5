"""Importer of NeMo Automodel's YAML.

Read at commit 36044ad3 (0.6, `nemo_automodel/components/`). A step has global_batch_size sequences,
a forward pass of a data-parallel rank local_batch_size (training/step_scheduler.py:64); degrees are
1 unless they are set and data parallelism takes the rest (distributed/mesh.py); FSDP2 shards
everything, sequence_parallel and activation_checkpointing are off (distributed/config.py:303).
Weights are loaded in the type of their file, and Adam's states have it too.

What it cannot say: how many GPUs there are, and how long sequences are where the data set says it.
"""

from functools import partial

from engine.run.importers.adapters import read_targets, settle_targets
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, Setting, positive_number
from engine.run.importers.key_table import (
    KeyTable,
    is_on,
    note_number,
    read_key,
    refuse_value,
    remark,
    switch,
)
from engine.run.importers.repositories import derive_named_model, note_model
from engine.run.importers.trainer import assume_length, read_attention, world_size
from engine.run.importers.training_arguments import FULL_LENGTH
from engine.run.importers.yaml_text import read_yaml

SOFTWARE = "Automodel 0.6"
_size = partial(note_number, unset=("0", "auto"))


def _strategy(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("fsdp2", "ddp", "none", "megatron_fsdp"):
        draft.notes["strategy"] = word
        draft.report(setting, "understood", "worked into what is derived below")
    else:
        refuse_value(setting, "known are fsdp2, megatron_fsdp and ddp", draft)


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower().rpartition(".")[2]
    if word in ("adam", "adamw", "fusedadam"):
        draft.set_value(setting, "training.optimizer", "adam")
    elif word in ("sgd", "muon"):
        draft.set_value(setting, "training.optimizer", word)
    else:
        draft.values.setdefault("training.optimizer", "adam")
        draft.report_not_modeled(setting, "another optimizer; Adam's states and time are shown")


def _adapters(setting: Setting, draft: RunDraft) -> None:
    draft.notes["adapters"] = True
    draft.report(setting, "understood", "adapters are trained")


def _fp8(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        draft.set_value(setting, "training.precision", "fp8")


def _type(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower().rpartition(".")[2]
    if word in ("float32", "fp32"):
        draft.notes["in 32 bits"] = True
    draft.report(setting, "understood", "the type of weights")


def _packs(setting: Setting, draft: RunDraft) -> None:
    number = positive_number(setting.value)
    if number:
        # The samples are packed up to it, whatever length of one the data set is told.
        draft.lines.pop("sequence_length", None)
        draft.set_value(setting, "sequence_length", number)
        draft.lines.pop("sequence_length", None)
    else:
        draft.report(setting, "understood", FULL_LENGTH)


_OPTIMIZER = ("lr", "betas", "eps", "weight_decay", "foreach", "fused", "min_lr", "momentum",
              "nesterov", "capturable", "adam_w_mode", "bias_correction")  # fmt: skip
_SCHEDULER = ("ckpt_every_steps", "val_every_steps", "num_epochs", "max_steps", "gc_every_steps",
              "log_every_steps", "log_remote_every_steps", "save_checkpoint_every_epoch",
              "val_every_epoch", "ckpt_every_epoch")  # fmt: skip
_PIPELINE = ("scale_grads_in_schedule", "round_virtual_stages_to_pp_multiple", "patch_inner_model",
             "patch_causal_lm_model", "dtype",
             "patch_stage_backward_maybe_with_nosync")  # fmt: skip


def _recipe(setting: Setting, draft: RunDraft) -> None:
    """Read which recipe runs: of models that read images the language model alone is shown."""
    word = str(setting.value).lower()
    if "vlm" in word or "omni" in word or "diffusion" in word:
        draft.report_not_modeled(setting, "images; the language model alone is shown")
    elif any(kind in word for kind in ("kd", "distill", "biencoder", "retriev", "crossencoder")):
        draft.report_not_modeled(setting, "another model beside, or another loss")
    else:
        draft.report(setting, "understood", "a decoder's training")


def _loss(setting: Setting, draft: RunDraft) -> None:
    if "linear" in str(setting.value).lower():
        reason = "a loss that keeps no logits, or not all at once: less memory than shown"
        draft.report_not_modeled(setting, reason)
    else:
        draft.report(setting, "understood", "the loss of a language model")


TABLE = KeyTable(
    handlers={
        "loss_fn._target_": _loss,
        "model.pretrained_model_name_or_path": note_model,
        "model.config.pretrained_model_name_or_path": note_model,
        "model.config.name_or_path": note_model,
        "model.torch_dtype": _type,
        "model.attn_implementation": read_attention,
        "step_scheduler.global_batch_size": _size("whole batch"),
        "step_scheduler.local_batch_size": _size("micro"),
        **{
            f"distributed.{name}_size": _size(name)
            for name in ("tp", "pp", "cp", "ep", "dp", "dp_replicate")
        },
        "recipe": _recipe,
        "distributed.strategy": _strategy,
        "distributed.sequence_parallel": switch("parallelism.sequence_parallel", True, False),
        "distributed.activation_checkpointing": switch("training.recompute", "full", "none"),
        "distributed.pipeline.pp_microbatch_size": _size("pipeline micro"),
        "distributed.moe.reshard_after_forward": switch("parallelism.zero_stage", 3, 2),
        "packed_sequence.packed_sequence_size": _packs,
        "dataset.seq_length": _packs,
        "dataset.seq_len": _packs,
        "compile.enabled": switch("training.compiled", True, False),
        "fp8.enabled": _fp8,
        "optimizer._target_": _optimizer,
        "peft._target_": _adapters,
        "peft.dim": _size("rank"),
        "peft.target_modules": read_targets,
        "peft.match_all_linear": switch("training.lora_layers", "all"),
        "ci.nodes": _size("nodes"),
        "ci.nproc_per_node": _size("per_node"),
    },
    not_modeled={
        "distributed.pipeline.pp_schedule": "another schedule of the pipeline; 1F1B is shown",
        "distributed.pipeline.layers_per_stage": "how layers are cut",
        "distributed.defer_fsdp_grad_sync": "gradients are reduced once for all passes",
        "model.num_nextn_predict_layers": "layers that predict further tokens",
        "model.config.num_hidden_layers": "the model is cut shorter than its name says",
        "quantization": "frozen weights are kept in fewer bits; 16 are shown",
        "qat": "products that imitate fewer bits",
        "model.quantization_config": "frozen weights are kept in fewer bits; 16 are shown",
        "teacher_model": "another model's pass",
        "processor": "images; the language model alone is shown",
        "freeze_config": "only some weights are trained; all are shown",
        "model.backend.dispatcher": "how tokens reach their experts",
        "parallelizer": "a way of its own to shard",
        "autopipeline": "a pipeline that is set apart",
        "skypilot": "where it runs",
        "distributed.reshard_after_forward": "whether weights are gathered once or twice",
        "distributed.mp_policy": "another mixed precision",
        "distributed.enable_compile": "compiled kernels",
        "distributed.enable_async_tensor_parallel": "tensor parallelism beside its products",
    },
    without_effect={
        "data are taken to come in time": (
            "dataset", "dataloader", "validation_dataset", "validation_dataloader", "tokenizer",
            "processor", "packed_sequence.split_across_pack", "packed_sequence.packing_strategy",
        ),
        "saving, logging and evaluation lie between steps": (
            "checkpoint", "wandb", "mlflow", "logger",
            *(f"step_scheduler.{key}" for key in _SCHEDULER), "ci", "benchmark",
            "rng", "seed", "lr_scheduler", "clip_grad_norm", "loss_fn", "nsys*",
            "profil*",
        ),
        "where processes find each other": ("dist_env",),
        "a number of the optimizer": (
            *(f"optimizer.{key}" for key in _OPTIMIZER),
        ),
        "how the weights are loaded": (
            "model._target_", "model.trust_remote_code", "model.load_base_model", "model.force_hf",
            "model.use_cache", "model.output_hidden_states", "model.config._target_",
            "model.config.trust_remote_code", "model.revision", "model.low_cpu_mem_usage",
            "model.mtp_loss_scaling_factor",
        ),
        "which kernels are taken; the usual are shown": ("model.backend", "model.use_liger_kernel"),
        "adapters of any strength take the same": ("peft.alpha", "peft.dropout", "peft.use_triton",
                                                   "peft.exclude_modules",
                                                   "peft.use_dora", "peft.lora_*"),
        "how fp8 and compilation are set up": ("fp8.*", "compile.*"),
        "how layers are wrapped and cut": (
            "distributed.moe",
            *(f"distributed.pipeline.{key}" for key in _PIPELINE), "distributed._target_",
            "distributed.enable_fsdp2_prefetch", "distributed.patch_is_packed_sequence",
        ),
    },
)  # fmt: skip


def import_automodel(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of an Automodel YAML into a draft."""
    for setting in settings:
        head, _, inner = setting.key.partition(".")
        if head in TABLE.not_modeled and inner:
            read_key(Setting(key=head, value=setting.value, line=setting.line), TABLE, draft)
        else:
            read_key(setting, TABLE, draft)


def finish_automodel(draft: RunDraft) -> None:
    """Derive degrees, GPUs and batch."""
    notes = draft.notes
    derive_named_model(draft)
    draft.values["training.framework"] = "fsdp"
    copies = notes.get("strategy") in ("ddp", "none")
    draft.assume("parallelism.zero_stage", 0 if copies else 3, f"distributed.strategy ({SOFTWARE})")
    for name, axis in {"tp": "tensor", "pp": "pipeline", "cp": "context", "ep": "expert"}.items():
        if notes.get(name, 1) > 1:
            draft.derive(f"parallelism.{axis}_parallel", notes[name], f"distributed.{name}_size")
    draft.assume("parallelism.sequence_parallel", False, f"sequence_parallel ({SOFTWARE})")
    if draft.get("parallelism.tensor_parallel") == 1:
        draft.values["parallelism.sequence_parallel"] = False
    draft.assume("training.recompute", "none", f"activation_checkpointing ({SOFTWARE})")
    draft.assume("training.compiled", False, f"compile.enabled ({SOFTWARE})")
    draft.assume("training.precision", "bf16", "the type of the weights' file")
    if notes.get("adapters"):
        draft.derive("training.lora_rank", notes.get("rank", 8), "peft.dim")
        settle_targets(draft, "all", SOFTWARE)
    elif "in 32 bits" not in notes:
        remark(
            draft, "dtype", "16 bits", "weights and Adam's states in 16 bits take less than shown"
        )
    assume_length(draft)
    _batch(draft)


def _batch(draft: RunDraft) -> None:
    notes, parts = draft.notes, 1
    for axis in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        parts *= draft.get(f"parallelism.{axis}")
    if "dp" in notes:
        draft.derive("parallelism.world_size", notes["dp"] * parts, "dp_size x the other degrees")
    world = world_size(draft, max(parts, draft.get("parallelism.expert_parallel")))
    if world % parts:
        draft.contradictions.append(f"{world} GPUs do not divide by {parts} that share a sequence")
        return
    ranks = world // parts
    if "dp_replicate" in notes and notes["dp_replicate"] > 1:
        group = ranks // notes["dp_replicate"] * draft.get("parallelism.context_parallel")
        draft.derive("parallelism.shard_group", max(1, group), "dp_replicate_size copies")
    micro = notes.get("micro", 1)
    if draft.get("parallelism.pipeline_parallel") > 1:
        micro = min(micro, notes.get("pipeline micro", 1))
    total = notes.get("whole batch", notes.get("micro", 1) * ranks)
    if total % (notes.get("micro", 1) * ranks):
        draft.contradictions.append(
            f"global_batch_size ({total}) must be divisible by local_batch_size * dp_size "
            f"({notes.get('micro', 1)} * {ranks}, of {world} GPUs)"
        )
        return
    draft.derive("training.micro_batch_size", micro, "sequences of a forward pass of a rank")
    draft.derive("training.global_batch_size", total, "step_scheduler.global_batch_size")


def _read(piece: Piece, draft: RunDraft) -> None:
    import_automodel(read_yaml(piece.text, piece.line), draft)


READER = Reader(read=_read, finish=finish_automodel)
