"""Keys of torchtitan that no run file has: without effect, and why; or not modeled.

Read at b5bcd76c (`torchtitan/config/configs.py`) and, for TOML, at the parent of 76d5c72e
(`torchtitan/config/job_config.py`). What stands in neither table is not known here.
"""

from engine.run.importers.key_table import KeyTable

TITAN_KEYS = KeyTable(
    not_modeled={
        "training.dtype": "the type in which weights are kept; 32 bits are shown",
        "training.mixed_precision_reduce": "the type in which gradients are summed",
        "parallelism.enable_fsdp_symm_mem": "registered buffers of NCCL, which are faster",
        "parallelism.module_fqns_per_model_part": "how layers are cut",
        "parallelism.pipeline_parallel_first_stage_less_layers": "how layers are cut; evenly is "
        "shown",
        "parallelism.pipeline_parallel_last_stage_less_layers": "how layers are cut; evenly is "
        "shown",
        "parallelism.pipeline_parallel_schedule_csv": "a schedule of one's own",
        "parallelism.pipeline_parallel_expert_parallel_overlap": "exchanges that a schedule hides",
        "parallelism.expert_parallel_comm_backend": "how tokens reach their experts",
        "parallelism.disable_loss_parallel": "a loss that every rank computes in full",
        "parallelism.context_parallel_rotate_method": "another exchange of context parallelism",
        "activation_checkpoint.memory_budget": "what is recomputed follows from a budget",
        "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns": "which products are "
        "recomputed",
        "optimizer.early_step_in_backward": "states are updated within the backward pass",
        "debug.batch_invariant": "deterministic kernels, which are slower",
        "debug.deterministic": "deterministic kernels, which are slower",
        "training.deterministic": "deterministic kernels, which are slower",
        "activation_checkpoint.mode": "what is recomputed; the default is shown",
        "float8.enable_fsdp_float8_all_gather": "weights are gathered in eight bits",
        "training.varlen": "samples of several lengths in one sequence; full ones are shown",
        "fault_tolerance.enable": "replicas that join and leave",
        "experimental.custom_import": "code of one's own",
        "experimental.custom_args_module": "code of one's own",
    },
    without_effect={
        "names, folders and logs": ("job", "dump_folder", "metrics", "metrics_processor", "comm"),
        "profiling of a few steps": ("profiling", "profiler"),
        "saving and loading lie between steps": ("checkpoint", "checkpointer"),
        "evaluation lies between steps of training": ("validation", "validator"),
        "how data are loaded": (
            "training.dataset*", "training.dataloader", "dataloader", "dataset*",
        ),
        "how text becomes tokens": ("tokenizer*", "hf_assets*", "model.tokenizer*", "model.hf_*"),
        "a number of the optimizer or of its schedule": (
            "lr_scheduler", "optimizer.lr", "optimizer.eps", "optimizer.beta*",
            "optimizer.weight_decay", "optimizer.implementation", "training.max_norm",
            "optimizer.param_groups*",
        ),
        "how many steps there are": ("training.steps",),
        "randomness": ("training.seed", "debug.seed"),
        "a switch for finding faults": (
            "debug.print_config", "debug.save_config_file", "debug.detect_anomaly",
            "debug.deterministic_warn_only", "debug.spmd_typechecking", "model.print_*",
            "debug.enable_structured_logging", "activation_checkpoint.debug",
            "activation_checkpoint.determinism_check", "memory_estimation",
        ),
        "as many tokens for every expert, which is shown": (
            "debug.moe_force_load_balance", "training.debug_moe_force_load_balance",
        ),
        "collecting garbage between steps": ("training.gc_*",),
        "replicas, whose switch is fault_tolerance.enable": ("fault_tolerance",),
        "which kernels convert to fewer bits": (
            "float8.precompute_*", "float8.recipe_name", "float8.filter_fqns", "float8.emulate",
            "float8.moe_fqns*", "float8.enable_float8_linear", "mx.*", "quantize.*", "float8.fqns",
            "float8.scaling_type*", "model.converters", "model_converters", "quantize.enable",
        ),
        "how the compiler works": (
            "compile.backend", "compile.fullgraph", "compile.components", "compile.dynamic",
        ),
        "what the repeated pass checks": (
            "activation_checkpoint.preserve_rng_state", "activation_checkpoint.early_stop",
            "activation_checkpoint.visualize_*",
        ),
        "the name of a function": ("def",),
        "a detail of the same sharding": (
            "parallelism.spmd_backend", "parallelism.context_parallel_load_balancer",
            "parallelism.context_parallel_ptrr_mask_key",
        ),
    },
)  # fmt: skip
