"""Importer of Megatron-LM's arguments in YAML: `--flag: value`, plain names, and AMD's Primus.

Plain files have the defaults of Megatron-LM. Primus was read at commit fd1eeabb
(`primus/configs/modules/megatron/pre_trainer.yaml`, `trainer_base.yaml`,
`primus/configs/models/megatron/language_model.yaml`): micro_batch_size 2, global_batch_size 16,
seq_length 1024, bf16, use_distributed_optimizer and sequence_parallel true; a model is a file named
beside (`model: llama3.1_70B.yaml`); `${NAME:default}` is an environment variable.
"""

import re

from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.file_dialects import MEGATRON_YAML_KEYS
from engine.run.importers.import_report import RunDraft, Setting, TextError, shorten
from engine.run.importers.key_table import (
    KeyTable,
    is_absent,
    is_off,
    is_on,
    plain_name,
    read_key,
    read_launch,
    refuse_value,
    tell,
)
from engine.run.importers.megatron_family import read_megatron_key
from engine.run.importers.megatron_readers import finish as finish_megatron_run
from engine.run.importers.repositories import derive_named_model, note_model
from engine.run.importers.yaml_text import parse_scalar, read_yaml

PRIMUS = "Primus (fd1eeabb)"
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w{0,80}:([^{}]{0,200})\}")
_TURBO = "kernels of AMD that take less time and memory"


def _other_model(setting: Setting, draft: RunDraft) -> None:
    if not is_off(setting.value):
        refuse_value(setting, "decoders of attention layers alone are predicted", draft)


def _generation(setting: Setting, draft: RunDraft) -> None:
    refuse_value(setting, "these arguments generate; they train nothing", draft)


PRIMUS_TABLE = KeyTable(
    handlers={
        **dict.fromkeys(
            ("hybrid_layer_pattern", "hybrid_override_pattern", "is_hybrid_model",
             "hybrid_attention_ratio", "encoder_num_layers", "decoder_num_layers",
             "mamba_state_dim", "mamba_head_dim", "mamba_num_heads", "lfm_layer_types",
             "experimental_attention_variant"),
            _other_model,
        ),
        **dict.fromkeys(
            ("inference_max_seq_length", "num_tokens_to_generate", "inference_repeat_n",
             "inference_dynamic_batching"),
            _generation,
        ),
    },
    not_modeled={
        "torch_compile": "compiled kernels",
        "dynamic_cp": "context parallelism that varies",
        "step_batch_size_schedule": "the batch grows",
        **dict.fromkeys(
            ("enable_primus_turbo", "use_turbo_attention", "use_turbo_grouped_gemm",
             "use_turbo_gemm", "use_turbo_deepep", "use_turbo_rms_norm", "use_turbo_grouped_mlp",
             "turbo_sync_free_moe_stage", "use_turbo_permute_padding", "use_sink_attention",
             "use_fla_triton_kda", "use_fla_fused_swiglu", "use_fla_fused_rmsnorm",
             "enable_fused_linear_ce", "fused_ce_mode", "fused_ce_chunks"),
            _TURBO,
        ),
        "patch_primus_pipeline": "another schedule of the pipeline",
        "pp_algorithm": "another schedule of the pipeline",
        "recompute_layer_ids": "which layers are recomputed",
        "decoder_pipeline_manual_split_list": "how layers are cut",
        "enable_odc": "data-parallel ranks that do not wait for each other",
        "lora": "adapters; all weights are shown as trained",
        "use_precision_aware_optimizer": "the optimizer's states in fewer bits",
        "exp_avg_dtype": "the optimizer's states in fewer bits",
        "exp_avg_sq_dtype": "the optimizer's states in fewer bits",
        "main_grads_dtype": "gradients in fewer bits",
        "main_params_dtype": "weights of the optimizer in fewer bits",
        "use_torch_fsdp2": "PyTorch's FSDP",
        "multi_latent_attention": "the attention of the named model is changed",
    },
    without_effect={
        "names and logs": (
            "work_group", "user_name", "exp_name", "workspace", "framework", "config",
            "stderr_sink_level", "disable_*", "log_avg_*", "mlflow_*", "use_pytorch_profiler",
            "use_nsys_profiler", "torch_profiler_*", "pytorch_profiler_*", "nvtx_ranges",
            "record_shapes", "record_memory_history", "generate_tracelens_report", "dump_pp_data",
            "use_rocm_mem_info*", "platform", "file_sink_level", "sink_level",
            "auto_continue_train",
            "enable_one_logger", "debug_scheduler_table", "pp_warmup",
        ),
        "data and tokens": (
            "train_data_path", "valid_data_path", "test_data_path", "sft_*", "hf_path", "stage",
            "create_attention_mask_in_dataloader", "use_packed_attention",
            "enable_packed_sequences", "data_cache_path", "dataset*", "tokenizer_*",
        ),
        "which kernel computes the loss": (
            "cross_entropy_fusion_impl", "cross_entropy_loss_fusion",
        ),
        "fused kernels are taken": (
            "gradient_accumulation_fusion", "apply_rope_fusion", "bias_swiglu_fusion",
            "masked_softmax_fusion", "moe_permute_fusion", "moe_use_fused_router_with_aux_score",
            "no_persist_layer_norm", "moe_use_legacy_grouped_gemm", "moe_router_fusion",
            "attention_softmax_in_fp32", "transformer_impl", "activation_func",
        ),
        "as many tokens for every expert, which is shown": ("moe_router_force_load_balancing*",),
        "how many units exchange tokens": ("turbo_deepep_num_cu", "turbo_deepep_use_comm_stream"),
        "switches of software that is tried out": ("enable_experimental",
                                                   "trust_remote_code"),
        "a number of positions alone": ("original_max_position_embeddings",),
        "numbers of fp8's scales": (
            "fp8_amax_*", "fp8_margin", "fp8_interval", "fp8_wgrad",
        ),
        "the test that these arguments belong to": (
            "LAUNCHER", "METRICS", "MODE", "TEST_TYPE", "SKIP_PYTEST", "BEFORE_SCRIPT",
            "AFTER_SCRIPT", "deterministic_mode", "use_checkpoint_args", "async_save",
            "use_persistent_ckpt_worker", "use_checkpoint_opt_param_scheduler",
            "auto_detect_ckpt_format",
        ),
        "routers are small": ("moe_router_*",),
        "a number of positions or of losses": (
            "mscale", "mscale_all_dim", "tiktoken_pattern", "mtp_loss_scaling_factor",
            "calculate_per_token_loss", "apply_query_key_layer_scaling",
        ),
        "checks between steps": ("check_for_*", "manual_gc*", "empty_cache_interval"),
    },
)  # fmt: skip


def import_megatron_yaml(settings: list[Setting], draft: RunDraft) -> None:
    """Import Megatron's arguments below any headings of YAML."""
    draft.values.setdefault("training.framework", "megatron")
    primus = any(".overrides." in setting.key for setting in settings)
    if primus:
        draft.notes["primus"] = True
    for setting in settings:
        key = setting.key.rpartition(".")[2]
        value = _default_of_variable(setting.value)
        plain = Setting(key=setting.key, value=value, line=setting.line)
        if setting.key.startswith(("ENV_VARS.", "BEFORE_SCRIPT", "TEST_TYPE", "env.")):
            draft.report(setting, "without effect", "the environment of the processes")
        elif primus and key == "framework" and str(value) != "megatron":
            refuse_value(setting, "of Primus, training with Megatron is read", draft)
        elif primus and "." in setting.key.partition(".overrides.")[2]:
            head = setting.key.partition(".overrides.")[2].partition(".")[0]
            read_key(Setting(key=head, value=value, line=setting.line), PRIMUS_TABLE, draft)
        elif primus and key == "model":
            named = str(value).removesuffix(".yaml").replace("_", "-")
            note_model(Setting(key=setting.key, value=named, line=setting.line), draft)
        else:
            _argument(plain, plain_name(key), draft)


def _default_of_variable(value: object) -> object:
    """Return the value that `${NAME:default}` has where nothing is exported."""
    text = str(value)
    if not (isinstance(value, str) and _VARIABLE.search(text)):
        return value
    filled = _VARIABLE.sub(lambda match: match[1], text)
    return parse_scalar(filled)


def _argument(setting: Setting, name: str, draft: RunDraft) -> None:
    if name == "use_torch_fsdp2" and not is_off(setting.value):
        if is_on(setting, draft):
            draft.set_value(setting, "parallelism.zero_stage", 3)
            draft.notes["torch fsdp"] = True
        return
    if (
        name == "use_distributed_optimizer"
        and draft.notes.get("torch fsdp")
        and is_off(setting.value)
    ):
        draft.report(setting, "understood", "off")
        return
    if name == "multi_latent_attention" and "primus" in draft.notes:
        read_key(Setting(key=name, value=setting.value, line=setting.line), PRIMUS_TABLE, draft)
        return
    count, warnings = len(draft.entries), len(draft.warnings)
    if read_launch(setting, draft):
        return
    read_megatron_key(setting, name, draft)
    if draft.entries[-1].kind == "not known" and len(draft.entries) == count + 1:
        if is_absent(setting.value):
            return
        del draft.entries[count:], draft.warnings[warnings:]
        read_key(Setting(key=name, value=setting.value, line=setting.line), PRIMUS_TABLE, draft)


def finish_megatron_yaml(draft: RunDraft) -> None:
    """Derive the run by Megatron's rules, with Primus' defaults where the text is of Primus."""
    derive_named_model(draft)
    if "primus" in draft.notes:
        for path, value, name in (
            ("training.micro_batch_size", 2, "micro_batch_size"),
            ("training.global_batch_size", 16, "global_batch_size"),
            ("sequence_length", 1024, "seq_length"),
            ("training.precision", "bf16", "bf16"),
            ("parallelism.zero_stage", 1, "use_distributed_optimizer"),
        ):
            draft.assume(path, value, f"{name} ({PRIMUS})")
        split = draft.get("parallelism.tensor_parallel") > 1
        draft.assume("parallelism.sequence_parallel", split, f"sequence_parallel ({PRIMUS})")
    if draft.get("parallelism.tensor_parallel") == 1 and draft.values.get(
        "parallelism.sequence_parallel"
    ):
        tell(draft, "sequence_parallel", False, "without effect at tensor parallelism 1")
        draft.values["parallelism.sequence_parallel"] = False
    finish_megatron_run(draft)


def _read(piece: Piece, draft: RunDraft) -> None:
    settings = read_yaml(piece.text, piece.line)
    _check_headings(settings)
    import_megatron_yaml(settings, draft)


def _check_headings(settings: list[Setting]) -> None:
    """Raise `TextError` where Megatron's names stand below headings of another software."""
    for setting in settings:
        head, _, key = setting.key.rpartition(".")
        plain = not head or ".overrides" in head or key.startswith("--")
        if key in MEGATRON_YAML_KEYS and not plain:
            raise TextError(
                f"line {setting.line}: {shorten(setting.key)} has the name of an argument of "
                f"Megatron below {shorten(head)}: no format that is known here"
            )


READER = Reader(read=_read, finish=finish_megatron_yaml)
