"""Importer of LLaMA-Factory: its YAML, JSON and flags.

Read at commit ff6d4d12 (0.9.6, `src/llamafactory/hparams/`). Defaults: finetuning_type lora
(finetuning_args.py:464), lora_rank 8 (:77), lora_target all (:81), freeze_trainable_layers 2 (:23),
cutoff_len 2048 (data_args.py:46), gradient checkpointing on unless
disable_gradient_checkpointing (model_args.py:145, model_utils/checkpointing.py:184); trained
parameters are kept in 32 bits unless pure_bf16 (model/adapter.py); the rest is the Trainer's.
With USE_MCA or USE_MEGATRON_BRIDGE the degrees are Megatron's (mcore_adapter of ROLL at 8eb27cc2).

What it cannot say: how many GPUs there are (all that are seen, launcher.py:68), and what
DeepSpeed's file holds.
"""

import re

from engine.run.importers.adapters import note_bits, read_targets, settle_targets
from engine.run.importers.dialect import Piece, Reader, flags
from engine.run.importers.file_dialects import LLAMA_FACTORY_KEYS
from engine.run.importers.import_report import (
    RunDraft,
    Setting,
    is_true,
    positive_number,
    whole_number,
)
from engine.run.importers.json_text import object_settings
from engine.run.importers.key_table import (
    WORKED,
    KeyTable,
    is_absent,
    is_off,
    is_on,
    plain_name,
    read_key,
    read_launch,
    refuse_value,
)
from engine.run.importers.megatron import import_megatron
from engine.run.importers.megatron_derived import finish_megatron
from engine.run.importers.repositories import derive_named_model
from engine.run.importers.shell import script_flags
from engine.run.importers.trainer import (
    TrainerDefaults,
    finish_trainer,
    read_attention,
    read_checkpointing,
    read_rank,
    read_work,
)
from engine.run.importers.training_arguments import TABLE as TRAINER_TABLE
from engine.run.importers.training_arguments import read_length, read_packing
from engine.run.importers.yaml_text import read_yaml

SOFTWARE = "LLaMA-Factory 0.9.6"
DEFAULTS = TrainerDefaults(
    software=SOFTWARE, micro=8, steps=1, recompute="full", length=2048, precision=""
)
_DEGREES = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
    "expert_model_parallel_size", "expert_tensor_parallel_size",
    "virtual_pipeline_model_parallel_size", "sequence_parallel", "use_distributed_optimizer",
    "overlap_grad_reduce", "overlap_param_gather", "recompute_granularity", "recompute_method",
    "recompute_num_layers", "recompute_modules", "moe_grouped_gemm", "moe_token_dispatcher_type",
    "account_for_embedding_in_pipeline_split",
    "account_for_loss_in_pipeline_split", "pipeline_model_parallel_layout", "fp8_recipe",
    "moe_shared_expert_overlap", "accumulate_allreduce_grads_in_fp32", "optimizer_cpu_offload",
    "moe_layer_recompute", "moe_permute_fusion",
)  # fmt: skip


def _workers(setting: Setting, draft: RunDraft) -> None:
    number = positive_number(setting.value)
    if number is None:
        refuse_value(setting, "a whole number is needed", draft)
    else:
        draft.set_value(setting, "parallelism.world_size", number)


def _stage(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("sft", "pt"):
        draft.report(setting, "understood", "one sequence for a sample")
    elif word == "dpo":
        draft.notes["sequences of a sample"] = 2
        reason = (
            "the forward pass and the weights of the reference model; a sample is two sequences"
        )
        draft.report_not_modeled(setting, reason)
    elif word in ("rm", "kto"):
        draft.notes["sequences of a sample"] = 2
        draft.report_not_modeled(
            setting, "a sample is taken as two sequences; other heads and models"
        )
    else:
        refuse_value(setting, "reinforcement learning is not predicted; sft, pt, dpo are", draft)


def _kind(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    draft.notes["finetuning"] = word
    if word in ("lora", "full"):
        draft.report(setting, "understood", WORKED)
    elif word == "freeze":
        reason = "only a few layers are trained; all are shown, more memory and time than that"
        draft.report_not_modeled(setting, reason)
    elif word == "oft":
        draft.report_not_modeled(setting, "orthogonal adapters; LoRA of rank 8 is shown")
    else:
        refuse_value(setting, "known are lora, oft, freeze and full", draft)


def _not_checkpointed(setting: Setting, draft: RunDraft) -> None:
    if is_off(setting.value):
        draft.set_value(setting, "training.recompute", "full")
    elif is_on(setting, draft):
        draft.set_value(setting, "training.recompute", "none")


def _bits(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    else:
        note_bits(setting, draft, str(setting.value)[:20])


def _pure(setting: Setting, draft: RunDraft) -> None:
    if is_on(setting, draft):
        draft.set_value(setting, "training.precision", "bf16")
        draft.notes["loaded in 16 bits"] = setting.line


def _other_optimizer(setting: Setting, draft: RunDraft) -> None:
    if not is_on(setting, draft):
        return
    if plain_name(setting.key) == "use_muon":
        draft.set_value(setting, "training.optimizer", "muon")
    else:
        draft.report_not_modeled(setting, "another optimizer; Adam's states and time are shown")


def _layers(setting: Setting, draft: RunDraft) -> None:
    number = whole_number(setting.value)
    draft.report(setting, "understood", "not set" if number is None else "of a frozen model alone")


TABLE = TRAINER_TABLE.joined(
    KeyTable(
        handlers={
            "stage": _stage,
            "finetuning_type": _kind,
            "cutoff_len": read_length,
            "lora_rank": read_rank,
            "export_dir": read_work,
            "ray_num_workers": _workers,
            "lora_target": read_targets,
            "disable_gradient_checkpointing": _not_checkpointed,
            "gradient_checkpointing": read_checkpointing,
            "flash_attn": read_attention,
            "quantization_bit": _bits,
            "pure_bf16": _pure,
            "packing": read_packing,
            "neat_packing": read_packing,
            "use_muon": _other_optimizer,
            "use_adam_mini": _other_optimizer,
            "use_galore": _other_optimizer,
            "use_apollo": _other_optimizer,
            "use_badam": _other_optimizer,
            "freeze_trainable_layers": _layers,
        },
        not_modeled={
            "enable_liger_kernel": "its fused kernels take less time, and its loss less memory",
            "use_unsloth": "its kernels take less time and memory",
            "use_unsloth_gc": "kept inputs of layers lie in the host's memory",
            "use_llama_pro": "layers are added, and only those are trained",
            "mixture_of_depths": "layers that skip tokens",
            "shift_attn": "attention in groups",
            "fp8": "products in fp8 by the Trainer; 16 bits are shown",
            "fp8_enable_fsdp_float8_all_gather": "gathers in fp8",
            "use_kt": "experts are computed on the host's processors",
            "kt_config": "experts are computed on the host's processors",
            "upcast_layernorm": "norms in 32 bits",
            "upcast_lmhead_output": "logits in 32 bits",
            "image_max_pixels": "images; the language model alone is shown",
            "additional_target": "further layers are trained in full",
            "use_dft_loss": "another loss",
            "use_asft_loss": "another loss, with a reference model",
            "use_eaft_loss": "another loss",
            "pref_ftx": "a supervised loss beside that of preferences",
            "freeze_extra_modules": "further layers are trained",
            "freeze_trainable_modules": "parts of layers are trained; whole ones are shown",
            "freeze_language_model": "the language model is frozen; it is shown as trained",
            "fp8_backend": "products in fp8 by the Trainer; 16 bits are shown",
            "use_hyper_parallel": "another backend",
            "hyper_parallel_cp_size": "another backend",
            "use_v1_kernels": "kernels of its version 1",
            "cross_entropy_loss_fusion": "a loss whose kernels take less memory and time",
            "cp_size": "context parallelism that is not read here",
            "mixed_precision": "the precision by Megatron-Bridge's name",
            "use_packed_sequences": "sequences are taken to be full",
        },
        without_effect={
            "how data are loaded": (
                "media_dir", "image_*", "video_*", "audio_*", "buffer_size", "mix_strategy",
                "tokenized_path", "train_on_prompt", "mask_history", "tool_format",
                "default_system", "enable_thinking", "preserve_thinking", "tokens_*",
                "disable_shuffling", "data_shared_file_system", "use_audio_in_video",
            ),
            "which images' layers are trained; the language model alone is shown": (
                "freeze_vision_tower", "freeze_multi_modal_projector",
            ),
            "how the weights are loaded": (
                "adapter_name_or_path", "adapter_folder", "create_new_adapter", "rope_scaling",
                "quantization_method", "quantization_type", "double_quantization",
                "quantization_device_map", "offload_folder", "pissa_*", "add_tokens",
                "add_special_tokens", "init_special_tokens", "use_reentrant_gc", "infer_dtype",
                "infer_backend", "export_*", "use_kv_cache", "print_param_status",
                "megatron_pretrained_checkpoint",
            ),
            "a number of the loss or of an optimizer": (
                "pref_beta", "pref_loss", "simpo_gamma", "kto_*", "dpo_label_smoothing", "ld_alpha",
                "galore_*", "apollo_*", "badam_*", "asft_alpha", "eaft_alpha", "moe_aux_loss_coef",
                "module_dropout", "oft_*",
            ),
            "logging": ("enable_torch_profiler", "profiler_*", "profile_modules"),
            "fused kernels are taken": (
                "bias_activation_fusion", "apply_rope_fusion", "masked_softmax_fusion",
            ),
            "how processes find each other": (
                "ray_*", "master_addr", "master_port", "resources_per_worker", "placement_strategy",
            ),
        },
    )
)  # fmt: skip


def import_llama_factory(settings: list[Setting], draft: RunDraft) -> None:
    """Import settings of LLaMA-Factory into a draft."""
    for setting in settings:
        if plain_name(setting.key) in _DEGREES:
            draft.notes["megatron"] = True
            value = True if is_true(setting.value) else setting.value
            import_megatron([Setting(key=setting.key, value=value, line=setting.line)], draft)
        elif not read_launch(setting, draft):
            read_key(setting, TABLE, draft)


def finish_llama_factory(draft: RunDraft) -> None:
    """Derive the run, by the Trainer's rules or those of Megatron's degrees."""
    if draft.notes.get("finetuning", "lora") in ("lora", "oft"):
        rank, why = draft.notes.get("lora rank", 8), f"lora unless told otherwise ({SOFTWARE})"
        draft.derive("training.lora_rank", rank, why)
    settle_targets(draft, "all", SOFTWARE)
    if "megatron" in draft.notes:
        derive_named_model(draft)
        finish_megatron(draft)
        draft.assume("training.recompute", "none", "no --recompute-granularity (mcore_adapter)")
    finish_trainer(draft, DEFAULTS)
    if "megatron" in draft.notes:
        draft.values["training.framework"] = "megatron"


def _read(piece: Piece, draft: RunDraft) -> None:
    if piece.tree is not None:
        settings = object_settings(piece)
    elif re.search(flags(*LLAMA_FACTORY_KEYS), piece.text, re.MULTILINE):
        settings = script_flags(piece.text, piece.line)
    else:
        settings = read_yaml(piece.text, piece.line)
    import_llama_factory(settings, draft)


READER = Reader(read=_read, finish=finish_llama_factory)
