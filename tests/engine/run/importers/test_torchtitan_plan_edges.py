"""What follows from several settings of torchtitan, and what it refuses, at the limits."""

from engine.run.importers.import_report import RunDraft
from engine.run.importers.torchtitan_derived import check_batch, check_stages, finish_torchtitan
from tests.each import each

PLAN, RECOMPUTE, COMPILED = "parallelism.", "training.recompute", "training.compiled"
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
    draft = RunDraft(values=dict(values), notes=dict(notes))
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
        ({}, {SHARD: 0}, {WORLD: 8, COMPILED: False}),
        ({TENSOR: 2}, {}, {PLAN + "sequence_parallel": True}),
        ({"sequence_length": 100}, {TOKENS: 100, STEP: 800}, {MICRO: 1, BATCH: 8}),
        ({}, {LOCAL: 1, GLOBAL: 0}, {MICRO: 1, BATCH: 8}),
        ({}, {SHARD: 1, LOCAL: 1, GLOBAL: 1}, {MICRO: 1, BATCH: 1}),
        ({"sequence_length": 100}, {SHARD: 1, TOKENS: 100, STEP: 150}, {BATCH: 1}),
        ({"sequence_length": 100}, {SHARD: 1, TOKENS: 100, STEP: 50}, {BATCH: 1}),
        ({TENSOR: 8}, {"per_node": 4, "nodes": 2, COPIES: 1}, {GROUP: None, STAGE: 0}),
        ({COMPILED: True}, {"compiled parts": ["model", "loss"]}, {COMPILED: True}),
        ({COMPILED: True}, {"compiled parts": ["loss"]}, {COMPILED: False}),
        ({COMPILED: True}, {}, {COMPILED: True}),
        ({}, {"compiled parts": ["loss"]}, {COMPILED: False, RECOMPUTE: "selective"}),
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
        ({"sequence_length": 100}, {TOKENS: 200, STEP: 2400}, "training.num_tokens_per_train_step "
         "(2400) must be divisible by the number of tokens processed globally in one gradient "
         "accumulation iteration (1600)."),
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
    draft = RunDraft(values={"model": "llama-3-8b", VIRTUAL: virtual})
    stages = pipeline * virtual
    said = f"Number of stages ({stages}) cannot be greater than effective layers (34)"
    assert check_stages(draft, pipeline) == (said if fault else "")
    assert check_stages(RunDraft(), 999) == ""
