from dataclasses import replace

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.run.parallelism import (
    Cluster,
    Plan,
    Training,
    chunk_sizes,
    expert_data_parallel,
    expert_sharding_ranks,
    first_piece,
    last_piece,
    layers_of_stage,
    num_microbatches,
    piece_of_model,
    sharding_ranks,
)
from engine.run.problems import problems
from tests.each import each

CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9
)
LLAMA = MODELS["llama-3-405b"]
PLAN = Plan(
    world_size=16384,
    tensor_parallel=8,
    pipeline_parallel=16,
    virtual_pipeline=8,
    sequence_parallel=True,
)
RUN = Training(
    micro_batch_size=1, global_batch_size=2048, sequence_length=8192, schedule="interleaved"
)


def test_llama_3_405b_ran_on_128_data_parallel_ranks():
    assert PLAN.data_parallel == 128


def test_context_parallelism_takes_from_data_parallelism_and_shards_states():
    # Table 4 of the Llama 3 report: 16 ranks share a sequence of 131,072 tokens.
    plan = replace(PLAN, context_parallel=16)
    assert (plan.data_parallel, sharding_ranks(plan)) == (8, 128)


def test_a_step_of_llama_3_is_16_micro_batches():
    assert num_microbatches(PLAN, RUN) == 16


def test_a_shard_group_limits_the_sharding():
    assert sharding_ranks(replace(PLAN, shard_group=8)) == 8


def test_experts_have_data_parallel_ranks_of_their_own():
    # DeepSeek-V3: 2,048 GPUs, 16 stages, 64 ranks for the experts.
    plan = Plan(world_size=2048, pipeline_parallel=16, expert_parallel=64)
    assert (plan.data_parallel, expert_data_parallel(plan)) == (128, 2)


def test_a_shard_group_larger_than_the_ranks_of_an_expert_is_cut():
    plan = Plan(world_size=64, expert_parallel=8, shard_group=16)
    assert expert_sharding_ranks(plan) == 8


def test_layers_divide_evenly_where_they_can():
    assert chunk_sizes(96, 16) == (6,) * 16


def test_first_and_last_stage_of_llama_3_405b_have_one_layer_less():
    assert chunk_sizes(126, 16) == (7, *[8] * 14, 7)


@each("layers", range(1, 130))
@each("pieces", [1, 2, 3, 8, 16, 48])
def test_every_layer_is_in_one_piece(layers, pieces):
    if layers + 2 >= pieces:
        found = [piece_of_model(layers, pieces, index) for index in range(pieces)]
        assert [layer for piece in found for layer in piece] == list(range(layers))


def test_an_interleaved_rank_takes_every_16th_piece():
    model = MODELS["gpt-3-175b"]
    plan = Plan(world_size=16, pipeline_parallel=16, virtual_pipeline=3)
    assert layers_of_stage(model, plan, 1) == (range(2, 4), range(34, 36), range(66, 68))


def test_a_v_brings_the_end_of_the_model_back_to_the_first_rank():
    model = MODELS["gpt-3-175b"]
    plan = Plan(world_size=8, pipeline_parallel=8)
    assert layers_of_stage(model, plan, 0, "zbv") == (range(6), range(90, 96))


def test_dualpipe_holds_two_stages_on_every_rank():
    plan = Plan(world_size=8, pipeline_parallel=8)
    pieces = layers_of_stage(MODELS["gpt-3-175b"], plan, 0, "dualpipe")
    assert pieces == (range(12), range(84, 96))


ENDS = {
    "1f1b": [(True, False), (False, False), (False, True)],
    "zbv": [(True, True), (False, False), (False, False)],
    "dualpipe": [(True, True), (False, False), (True, True)],
}


@each(("schedule", "ends"), ENDS.items())
def test_a_schedule_says_who_has_the_embedding_and_who_the_output(schedule, ends):
    plan = Plan(world_size=3, pipeline_parallel=3)
    found = [(first_piece(plan, i, schedule), last_piece(plan, i, schedule)) for i in range(3)]
    assert found == ends


def test_the_published_run_of_llama_3_has_no_problem():
    assert problems(LLAMA, CLUSTER, PLAN, RUN) == ()


# What is changed, and the words that the complaint must hold.
WRONG = [
    ({"world_size": 1000}, {}, "world_size 1000 is not a multiple"),
    ({"world_size": 132, "tensor_parallel": 4, "pipeline_parallel": 1}, {}, "fills no whole nodes"),
    (
        {"tensor_parallel": 5, "pipeline_parallel": 1, "world_size": 40},
        {},
        "does not divide num_at",
    ),
    ({"expert_parallel": 8}, {}, "needs a model with experts"),
    ({"shard_group": 7}, {}, "shard_group 7 does not divide the 128"),
    ({"virtual_pipeline": 1}, {}, "needs virtual_pipeline above 1"),
    ({"virtual_pipeline": 9}, {}, "do not fill 144 virtual stages"),
    ({}, {"global_batch_size": 1000}, "global_batch_size 1000 is not a multiple"),
    ({}, {"global_batch_size": 128}, "at least 16 micro-batches, one for each stage; there are 1"),
    (
        {},
        {"global_batch_size": 128 * 33, "framework": "fsdp"},
        "33 do not divide into 2",
    ),
    ({}, {"sequence_length": 8190}, "sequence_length 8190 does not split"),
]


@each(("plan", "training", "words"), WRONG)
def test_a_problem_names_what_does_not_fit(plan, training, words):
    found = problems(LLAMA, CLUSTER, replace(PLAN, **plan), replace(RUN, **training))
    assert any(words in problem for problem in found), found


def test_experts_that_do_not_divide_are_named():
    plan = Plan(world_size=24, expert_parallel=3)
    run = Training(micro_batch_size=1, global_batch_size=24, sequence_length=4096)
    found = problems(MODELS["mixtral-8x7b"], CLUSTER, plan, run)
    assert found == ("expert_parallel 3 does not divide 8 experts.",)


def test_more_experts_per_token_than_experts_are_named():
    model = replace(MODELS["mixtral-8x7b"], experts_per_token=9)
    run = Training(micro_batch_size=1, global_batch_size=8, sequence_length=4096)
    found = problems(model, CLUSTER, Plan(world_size=8), run)
    assert found == ("experts_per_token 9 exceeds num_experts 8.",)


def test_key_value_heads_that_no_group_of_ranks_can_split_are_named():
    model = replace(LLAMA, num_attention_heads=96, num_key_value_heads=8)
    plan = Plan(world_size=24, tensor_parallel=12, sequence_parallel=False)
    run = Training(micro_batch_size=1, global_batch_size=2, sequence_length=4096)
    assert "tensor_parallel 12 does not split 8 key-value heads." in problems(
        model, CLUSTER, plan, run
    )
