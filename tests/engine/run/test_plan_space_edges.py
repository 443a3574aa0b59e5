"""The plans of tiny jobs, each list worked out by hand."""

from dataclasses import replace

import pytest

from engine.catalog.constants import KEPT_FREE
from engine.catalog.models import MODELS
from engine.run.parallelism import Plan, Training
from engine.run.plan_space import PlanningJob, _piece_counts, layer_splits, pipelines, plans, shapes
from tests.each import each
from tests.engine.run.planner_jobs import H100

MODEL = MODELS["llama-3-8b"]  # 32 heads, 8 key-value heads


def job(world_size=4, length=4096, batch=8, model=None, **chosen):
    training = Training(micro_batch_size=1, global_batch_size=batch, sequence_length=length)
    own = replace(MODEL, **model or {})
    return PlanningJob(model=own, cluster=H100, world_size=world_size, training=training, **chosen)


@each(
    ("layers", "ranks", "pieces"),
    [
        # 5 and 10 divide; 8 is a power of two; 3, 6, 7 and 9 are neither.
        (40, 4, (2, 4, 5, 8, 10)),
        # With embedding and output layer there are 12, 15 and 128 layers.
        (10, 4, (2, 3)),
        (13, 4, (2,)),
        (126, 16, (2, 4, 8)),
        (14, 8, (2,)),
        (5, 4, ()),
        (30, 2, (2, 3, 4, 5, 8, 15, 16)),
    ],
)
def test_pieces_of_a_rank_divide_fill_up_or_are_a_power_of_two(layers, ranks, pieces):
    assert _piece_counts(layers, ranks) == pieces


def test_heads_key_value_heads_and_tokens_divide():
    heads = {"hidden_size": 3072, "num_attention_heads": 24, "num_key_value_heads": 4}
    found = [plan.tensor_parallel for plan in layer_splits(job(48, 48, model=heads))]
    # 3 and 6 neither divide 4 key-value heads nor are multiples of them; 16 and 48 no heads.
    assert sorted(set(found)) == [1, 2, 4, 8, 12, 24]
    # Each rank has two pieces of the sequence with context parallelism, one without.
    found = [
        (plan.tensor_parallel, plan.context_parallel, plan.sequence_parallel)
        for plan in layer_splits(job(24, 8, model=heads))
    ]
    assert found == [
        *[(1, 1, False), (1, 2, False), (1, 4, False)],
        *[(2, 1, True), (2, 2, True), (4, 1, True), (8, 1, True)],
    ]


def test_experts_are_split_as_the_layers_are_or_not_at_all():
    experts = {"num_experts": 8, "experts_per_token": 2, "expert_ffn_hidden_size": 512}
    asked = job(8, model=experts, tensor_parallel=(2,), context_parallel=(1,))
    found = [(plan.expert_parallel, plan.expert_tensor_parallel) for plan in layer_splits(asked)]
    assert found == [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2), (8, 1)]
    few = replace(asked, expert_parallel=(8, 16))
    assert [plan.expert_parallel for plan in layer_splits(few)] == [8]


@each(
    ("pipeline", "tensor", "batches"),
    [
        # 16 GPUs, batch 4: 16, 4 and 2 data-parallel ranks.
        (1, 1, []),
        (4, 1, [1]),
        (8, 1, [1, 2]),
        (2, 2, [1]),
        (16, 1, [1, 2, 4]),
    ],
)
def test_a_micro_batch_divides_what_a_rank_gets_with_some_pipeline(pipeline, tensor, batches):
    one = {"frameworks": ("fsdp",), "recomputes": ("full",), "context_parallel": (1,)}
    sizes = {"pipeline_parallel": (pipeline,), "tensor_parallel": (tensor,)}
    found = list(shapes(job(16, batch=4, **one, **sizes)))
    assert [training.micro_batch_size for _, training in found] == batches


def test_context_parallelism_leaves_fewer_data_parallel_ranks():
    one = {"frameworks": ("fsdp",), "recomputes": ("full",), "tensor_parallel": (1,)}
    found = list(shapes(job(16, batch=4, context_parallel=(4,), pipeline_parallel=(1,), **one)))
    assert [training.micro_batch_size for _, training in found] == [1]


def test_a_micro_batch_has_at_most_64_sequences():
    one = {"frameworks": ("fsdp",), "recomputes": ("none",)}
    found = [told.micro_batch_size for _, told in shapes(job(1, batch=130, **one))]
    assert found == [1, 2, 5, 10, 13, 26]
    assert max(told.micro_batch_size for _, told in shapes(job(1, batch=128, **one))) == 64
    assert job().kept_free == KEPT_FREE


def test_software_precision_and_recomputation_come_in_their_order():
    some = {"frameworks": ("xla", "fsdp"), "precisions": ("fp8", "bf16"), "recomputes": ("full",)}
    found = [(told.framework, told.precision) for _, told in shapes(job(1, batch=1, **some))]
    assert found == [("xla", "fp8"), ("xla", "bf16"), ("fsdp", "fp8"), ("fsdp", "bf16")]


def piped(asked, framework="megatron", **plan):
    """Return (stages, schedule, pieces of a rank, cut by hand) of every pipeline."""
    training = replace(asked.training, framework=framework)
    found = pipelines(asked, Plan(world_size=asked.world_size, **plan), training)
    return [
        (plan.pipeline_parallel, told.schedule, plan.virtual_pipeline, plan.stage_layers)
        for plan, told in found
    ]


def test_a_pipeline_has_at_most_a_stage_for_each_layer_and_none_is_not_scheduled():
    found = piped(job(8, model={"num_layers": 2}, schedules=("1f1b", "gpipe")))
    assert found == [(1, "1f1b", 1, ()), (2, "1f1b", 1, ()), (2, "gpipe", 1, ())]
    # Three sequences are not shared by two data-parallel ranks.
    assert piped(job(4, batch=3, model={"num_layers": 4})) == [(4, "1f1b", 1, ())]


def test_stages_whose_ranks_hold_no_whole_set_of_experts_are_left_out():
    asked = job(16, batch=16)
    assert piped(asked, expert_parallel=8, expert_tensor_parallel=2) == [(1, "1f1b", 1, ())]
    found = piped(replace(asked, schedules=("1f1b",)), expert_parallel=4, expert_tensor_parallel=2)
    assert found == [(1, "1f1b", 1, ()), (2, "1f1b", 1, ())]


@each(
    ("layers", "schedule", "found"),
    [
        (4, "1f1b", [(4, "1f1b", 1, ())]),
        (7, "zbv", []),
        (8, "zbv", [(4, "zbv", 1, ())]),
        (6, "1f1b", [(4, "1f1b", 1, (1, 2, 2, 1))]),
    ],
)
def test_a_v_needs_two_layers_for_each_rank(layers, schedule, found):
    model = {"num_layers": layers}
    asked = job(4, model=model, schedules=(schedule,), pipeline_parallel=(4,))
    assert piped(asked) == found


@each(
    ("many", "framework", "runs"),
    [
        (3, "megatron", False),
        (4, "megatron", True),
        (9, "megatron", True),
        (3, "fsdp", False),
        (5, "fsdp", True),
        (8, "fsdp", True),
        (9, "fsdp", False),
    ],
)
def test_interleaved_rounds_are_full_and_in_pytorch_equal(many, framework, runs):
    asked = job(4, batch=many, model={"num_layers": 8}, schedules=("interleaved",))
    found = piped(replace(asked, pipeline_parallel=(4,)), framework)
    assert found == ([(4, "interleaved", 2, ())] if runs else [])


def test_layers_that_do_not_divide_are_told_to_megatron_alone():
    asked = job(4, model={"num_layers": 6}, pipeline_parallel=(4,), schedules=("interleaved",))
    assert piped(asked) == [(4, "interleaved", 2, (0, 1, 1, 1, 1, 1, 1, 0))]
    assert piped(asked, "fsdp") == [(4, "interleaved", 2, ())]


@each(("layers", "cut"), [(6, []), (8, [(2, 2, 2, 2, 0)]), (9, [(2, 2, 2, 2, 1)])])
def test_only_the_ends_of_a_pipeline_may_be_without_layers(layers, cut):
    """With a layer that predicts further tokens the last piece takes what is left."""
    model = {"num_layers": layers, "num_prediction_layers": 1}
    asked = job(5, model=model, pipeline_parallel=(5,), schedules=("1f1b",))
    assert [sizes for *_, sizes in piped(asked)] == cut


@pytest.mark.parametrize("name", ["megatron", "xla"])
def test_all_plans_of_one_gpu(name):
    found = list(plans(job(1, batch=1, frameworks=(name,), recomputes=("full",))))
    assert [plan for plan, _ in found] == [
        Plan(world_size=1, zero_stage={"megatron": 0, "xla": 3}[name])
    ]
