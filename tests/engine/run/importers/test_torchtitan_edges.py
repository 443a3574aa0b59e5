"""Settings of torchtitan: what every key says, and what follows from several, at the limits."""

from engine.run.importers.told import OFFLOADED, Draft, Given
from engine.run.importers.torchtitan import take_torchtitan
from engine.run.importers.torchtitan_checks import check_batch, check_stages
from engine.run.importers.torchtitan_derived import finish_torchtitan
from tests.each import each

QUIET = "changes neither time nor memory that is predicted here"
PLAN, RECOMPUTE, PRECISION = "parallelism.", "training.recompute", "training.precision"


def taken(key, value):
    draft = Draft()
    take_torchtitan([Given(key=key, value=value, line=3)], draft)
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
        ("nnodes", "2", {"nodes": 2}),
        ("NNODES", 2, {"nodes": 2}),
        ("--nproc_per_node", "8", {"per_node": 8}),
        ("NGPU", 1, {"per_node": 1}),
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
        ("activation_checkpoint.mode", "other", "changes little of what is kept"),
        ("compile.components", "loss", QUIET),
        ("compile.backend", "inductor", QUIET),
        ("float8.enable_float8_linear", False, "a detail of the converter"),
        ("quantize.enable", True, "a detail of the converter"),
        ("nnodes", "x", "x is no whole number"),
        ("training.enable_cpu_offload", True, OFFLOADED),
        ("training.enable_cpu_offload", False, "not known to this importer"),
        ("training.steps", 10, QUIET),
        ("training.other", 10, "not known to this importer"),
    ],
)
def test_a_setting_that_is_not_taken_is_told_why(key, value, meaning):
    draft = taken(key, value)
    assert [(one.kind, one.meaning) for one in draft.entries] == [("ignored", meaning)]
    assert (draft.values, draft.notes) == ({"training.framework": "fsdp"}, {})


SHARD, COPIES = (f"parallelism.data_parallel_{kind}_degree" for kind in ("shard", "replicate"))
WORLD, STAGE, GROUP = PLAN + "world_size", PLAN + "zero_stage", PLAN + "shard_group"
TENSOR, PIPELINE = PLAN + "tensor_parallel", PLAN + "pipeline_parallel"
MICRO, BATCH = "training.micro_batch_size", "training.global_batch_size"
LOCAL, GLOBAL = "training.local_batch_size", "training.global_batch_size"
SCHEDULE, CUT = (f"parallelism.pipeline_parallel_{one}" for one in ("schedule", "microbatch_size"))
TOKENS, STEP = (
    "training.num_tokens_per_microbatch_per_dp_rank",
    "training.num_tokens_per_train_step",
)
VIRTUAL, KIND = PLAN + "virtual_pipeline", "training.schedule"


def finished(values, notes):
    draft = Draft(values=dict(values), notes=dict(notes))
    finish_torchtitan(draft)
    return draft


@each(
    "values, notes, found",
    [
        ({}, {}, {WORLD: 8, STAGE: 3, GROUP: None, MICRO: 8, BATCH: 64}),
        ({TENSOR: 3}, {LOCAL: 1}, {WORLD: 9, BATCH: 3, PLAN + "sequence_parallel": True}),
        ({TENSOR: 2, PIPELINE: 2}, {SHARD: 4}, {WORLD: 16, STAGE: 3, MICRO: 1, BATCH: 32}),
        ({}, {SHARD: 1}, {WORLD: 1, STAGE: 0, PLAN + "sequence_parallel": False}),
        ({TENSOR: 8}, {"per_node": 8}, {WORLD: 8, STAGE: 0}),
        ({}, {"per_node": 8, "nodes": 2}, {WORLD: 16, STAGE: 3}),
        ({}, {"per_node": 8, COPIES: 2}, {WORLD: 8, GROUP: 4, STAGE: 3, BATCH: 64}),
        ({PLAN + "context_parallel": 2}, {SHARD: 1, COPIES: 2}, {WORLD: 4, GROUP: 2, STAGE: 3}),
        ({}, {"parallelism.fsdp_reshard_after_forward": "never"}, {STAGE: 2}),
        ({}, {"parallelism.fsdp_reshard_after_forward": "always"}, {STAGE: 3}),
        ({}, {LOCAL: 2, GLOBAL: 32}, {MICRO: 2, BATCH: 32}),
        ({}, {"training.batch_size": 2, GLOBAL: -1}, {MICRO: 2, BATCH: 16}),
        ({PIPELINE: 2}, {LOCAL: 4, CUT: 2}, {MICRO: 2, BATCH: 16, KIND: "1f1b", VIRTUAL: None}),
        ({PIPELINE: 2}, {LOCAL: 2, CUT: 4}, {MICRO: 2, BATCH: 8}),
        ({}, {LOCAL: 4, CUT: 2}, {MICRO: 4, KIND: None}),
        ({PIPELINE: 2}, {SCHEDULE: "Interleaved1F1B"}, {KIND: "interleaved", VIRTUAL: 2}),
        ({PIPELINE: 2}, {SCHEDULE: "GPipe"}, {KIND: "gpipe", VIRTUAL: None}),
        ({PIPELINE: 2}, {SCHEDULE: "InterleavedZeroBubble"}, {KIND: "zb-1p", VIRTUAL: 2}),
        ({PIPELINE: 2}, {SCHEDULE: "ZBVZeroBubble"}, {KIND: "zbv", VIRTUAL: None}),
        ({PIPELINE: 2}, {SCHEDULE: "DualPipeV"}, {KIND: "dualpipe", VIRTUAL: None}),
        ({"sequence_length": 100}, {TOKENS: 250, STEP: 3200}, {MICRO: 2, BATCH: 32}),
        ({"sequence_length": 100}, {TOKENS: 200}, {MICRO: 2, BATCH: 16}),
        ({"sequence_length": 100}, {TOKENS: 50}, {MICRO: 1, BATCH: 8}),
        ({}, {TOKENS: 200, STEP: 3200}, {MICRO: 1, BATCH: 8}),
        ({}, {"compiled parts": ["loss"]}, {"training.compiled": False, RECOMPUTE: "selective"}),
        ({}, {"model.name": "llama3", "model.flavor": "8B"}, {"model": "llama-3-8b"}),
        ({}, {"recipe": "llama3_70b_x"}, {"model": "llama-3-70b"}),
        ({}, {"recipe": "llama3", "model.flavor": "405B"}, {"model": "llama-3-405b"}),
        ({}, {"model.name": "other", "recipe": "llama3", "model.flavor": "8b"}, {"model": None}),
    ],
)
def test_a_plan_of_torchtitan_follows(values, notes, found):
    draft = finished(values, notes)
    assert draft.contradictions == []
    assert {path: draft.values.get(path) for path in found} == found


@each(
    "values, notes, said",
    [
        ({TENSOR: 2}, {SHARD: 3, "per_node": 8}, "Invalid parallel dims: dp_replicate(1) * "
         "dp_shard(3) * cp(1) * tp(2) * pp(1) != WORLD_SIZE(8)"),
        ({PLAN + "expert_parallel": 3}, {}, "expert_parallel_degree (3) must divide dp_shard * cp "
         "* tp (8)"),
        ({PIPELINE: 2}, {SCHEDULE: "Foo"}, "pipeline_parallel_schedule foo is not known here"),
        ({}, {LOCAL: 2, GLOBAL: 24}, "global batch size must be multiple of local batch size times "
         "data-parallel degree (24 % (2 * 8) != 0)"),
    ],
)  # fmt: skip
def test_a_plan_that_torchtitan_refuses_is_refused(values, notes, said):
    assert finished(values, notes).contradictions == [said]


def test_a_batch_is_a_multiple_of_what_all_ranks_take():
    assert (check_batch(32, 2, 8, 0), check_batch(16, 2, 8, 100)) == ("", "")
    assert check_batch(24, 2, 8, 100) == (
        "training.num_tokens_per_train_step (2400) must be divisible by the number of tokens "
        "processed globally in one gradient accumulation iteration (1600)."
    )


# Llama 3 8B has 32 layers; embedding and output count as one each.
@each("pipeline, virtual, fault", [(34, 1, False), (35, 1, True), (17, 2, False), (18, 2, True),
                                   (2, 18, True), (1, 99, False)])  # fmt: skip
def test_no_stage_is_without_a_layer(pipeline, virtual, fault):
    draft = Draft(values={"model": "llama-3-8b", VIRTUAL: virtual})
    stages = pipeline * virtual
    said = f"Number of stages ({stages}) cannot be greater than effective layers (34)"
    assert check_stages(draft, pipeline) == (said if fault else "")
    assert check_stages(Draft(), 999) == ""
