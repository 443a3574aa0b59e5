"""Settings of torchtitan: what every key says, and why some are not taken."""

from engine.run.importers.import_report import OFFLOADED, RunDraft, Setting
from engine.run.importers.torchtitan import import_torchtitan
from engine.run.importers.unknown_keys import UNKNOWN
from tests.each import each

QUIET = "changes neither time nor memory that is predicted here"
PLAN, RECOMPUTE, PRECISION = "parallelism.", "training.recompute", "training.precision"


def taken(key, value):
    draft = RunDraft()
    import_torchtitan([Setting(key=key, value=value, line=3)], draft)
    return draft


@each(
    "key, value, path, found",
    [
        ("parallelism.tensor_parallel_degree", 1, PLAN + "tensor_parallel", 1),
        ("--parallelism.pipeline-parallel-degree", "4", PLAN + "pipeline_parallel", 4),
        ("config.training.seq_len", 8, "sequence_length", 8),
        ("cfg.training.max_context_length", 8, "sequence_length", 8),
        ("training.tensor_parallel_degree", 2, PLAN + "tensor_parallel", 2),
        ("experimental.context_parallel_degree", 2, PLAN + "context_parallel", 2),
        ("experimental.enable_async_tensor_parallel", True, "training.overlap_tensor_parallel",
         True),
        ("activation_checkpoint.mode", "full", RECOMPUTE, "full"),
        ("activation_checkpoint", "FullAC.Config", RECOMPUTE, "full"),
        ("activation_checkpoint.mode", "selective", RECOMPUTE, "selective"),
        ("activation_checkpoint.selective_ac_option", "op", RECOMPUTE, "selective"),
        ("activation_checkpoint.mode", "none", RECOMPUTE, "none"),
        ("activation_checkpoint", "NoAC.Config", RECOMPUTE, "none"),
        ("compile.enable", True, "training.compiled", True),
        ("training.compile", "false", "training.compiled", False),
        ("compile.enable_async_tensor_parallel", True, "training.overlap_tensor_parallel", True),
        ("training.disable_cuda_graphs", True, "training.cuda_graphs", False),
        ("training.disable_cuda_graphs", False, "training.cuda_graphs", True),
        ("model.converters", ["nvfp4"], PRECISION, "fp4"),
        ("model.converters", ["float8"], PRECISION, "fp8"),
        ("quantize.linear", "mx", PRECISION, "fp8"),
        ("float8.enable_float8_linear", True, PRECISION, "fp8"),
        ("parallelism.enable_sequence_parallel", True, PLAN + "sequence_parallel", True),
        ("parallelism.enable_sequence_parallel", False, PLAN + "sequence_parallel", False),
        ("parallelism.disable_sequence_parallel", True, PLAN + "sequence_parallel", False),
        ("parallelism.disable_sequence_parallel", False, PLAN + "sequence_parallel", True),
        ("parallelism.enable_async_tensor_parallel", False, "training.overlap_tensor_parallel",
         False),
        ("optimizer.name", "Muon", "training.optimizer", "muon"),
        ("optimizer.name", "AdamW", "training.optimizer", "adam"),
    ],
)  # fmt: skip
def test_a_setting_says_what_it_does(key, value, path, found):
    draft = taken(key, value)
    assert draft.values == {"training.framework": "fsdp", path: found}
    assert type(draft.values[path]) is type(found)


@each(
    "key, value, notes",
    [
        ("training.local_batch_size", 8, {"training.local_batch_size": 8}),
        ("training.data_parallel_degree", 8, {"parallelism.data_parallel_shard_degree": 8}),
        ("experimental.pipeline_parallel_schedule", "x",
         {"parallelism.pipeline_parallel_schedule": "x"}),
        ("model_spec", "8B", {"model.flavor": "8B"}),
        ("def", "llama3_8b", {"recipe": "llama3_8b"}),
        ("compile.components", ["loss"], {"compiled parts": ["loss"]}),
    ],
)  # fmt: skip
def test_a_setting_that_is_worked_out_later_is_noted(key, value, notes):
    draft = taken(key, value)
    assert draft.notes == notes
    assert [one.kind for one in draft.entries] == ["understood"]


@each(
    "key, value, meaning",
    [
        ("parallelism.tensor_parallel_degree", 0, "0 is no degree"),
        ("parallelism.tensor_parallel_degree", "x", "x is no degree"),
        ("activation_checkpoint.selective_ac_option", "2", "by layer: taken as by operation"),
        ("activation_checkpoint.mode", "other", "what is recomputed; the default is shown"),
        ("activation_checkpoint.early_stop", True, "what the repeated pass checks"),
        ("compile.components", "loss", "how the compiler works"),
        ("compile.backend", "inductor", "how the compiler works"),
        ("compile.other", "x", UNKNOWN),
        ("float8.enable_float8_linear", False, "which kernels convert to fewer bits"),
        ("quantize.enable", True, "which kernels convert to fewer bits"),
        ("training.dtype", "bfloat16", "the type in which weights are kept; 32 bits are shown"),
        ("nnodes", "x", "x is no whole number"),
        ("training.enable_cpu_offload", True, OFFLOADED),
        ("training.enable_cpu_offload", False, UNKNOWN),
        ("training.steps", 10, "how many steps there are"),
        ("training.other", 10, UNKNOWN),
    ],
)
def test_a_setting_that_is_not_taken_is_told_why(key, value, meaning):
    draft = taken(key, value)
    unmodeled = ("by layer", "what is recomputed", "the type in", OFFLOADED)
    quiet = ("what the repeated", "how ", "which kernels")
    kind = "not modeled" if meaning.startswith(unmodeled) else "not known"
    kind = "without effect" if meaning.startswith(quiet) else kind
    assert [(one.kind, one.meaning) for one in draft.entries] == [(kind, meaning)]
    assert (draft.values, draft.notes) == ({"training.framework": "fsdp"}, {})
