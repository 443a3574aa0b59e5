"""Sizes of a run file that do not divide: which are refused, and with which line."""

from dataclasses import replace

from engine.catalog.models import MODELS
from engine.run.limits import indivisible_sizes
from engine.run.parallelism import Plan, Training
from tests.each import each

MODEL = MODELS["llama-3-8b"]  # 32 layers, 32 heads, 8 key-value heads
EXPERTS = {"num_experts": 8, "experts_per_token": 2, "expert_ffn_hidden_size": 512}


def found(*, model=None, batch=16, length=4096, micro=1, schedule="1f1b", **plan):
    training = Training(
        micro_batch_size=micro,
        global_batch_size=batch,
        sequence_length=length,
        schedule=schedule,
    )
    return indivisible_sizes(
        replace(MODEL, **model or {}), Plan(**{"world_size": 16, **plan}), training
    )


@each(
    "plan",
    [
        {},
        {"world_size": 8, "tensor_parallel": 2, "pipeline_parallel": 2, "context_parallel": 2},
        {"micro": 2, "batch": 32},
        {"tensor_parallel": 16, "batch": 1},
        {"world_size": 34, "pipeline_parallel": 34, "batch": 1},
        {"world_size": 17, "pipeline_parallel": 17, "virtual_pipeline": 2, "batch": 1},
        {"shard_group": 16},
        {"shard_group": 2, "tensor_parallel": 2, "pipeline_parallel": 2, "batch": 4},
        {"shard_group": 8, "tensor_parallel": 2},
        {"context_parallel": 4, "length": 4, "batch": 4},
        {"model": EXPERTS, "expert_parallel": 8, "expert_tensor_parallel": 2},
        {"model": {**EXPERTS, "experts_per_token": 8, "num_dense_layers": 32}},
        {"model": {**EXPERTS, "experts_per_token": 1}},
        {"model": {"num_dense_layers": 33}},
    ],
)
def test_what_divides_is_possible(plan):
    assert found(**plan) == []


@each(
    ("plan", "problem"),
    [
        (
            {"tensor_parallel": 2, "pipeline_parallel": 3, "context_parallel": 5},
            "parallelism.world_size: 16; allowed: a multiple of tensor_parallel x "
            "pipeline_parallel x context_parallel = 30",
        ),
        (
            {"tensor_parallel": 2, "pipeline_parallel": 2, "micro": 3},
            "training.global_batch_size: 16; allowed: a multiple of micro_batch_size x "
            "data-parallel ranks = 12",
        ),
        (
            {"world_size": 12, "tensor_parallel": 3},
            "parallelism.tensor_parallel: 3; allowed: a divisor of the 32 attention heads",
        ),
        (
            {"model": {"num_key_value_heads": 5}},
            "model.num_key_value_heads: 5; allowed: a divisor of the 32 attention heads",
        ),
        (
            {"world_size": 35, "pipeline_parallel": 35, "batch": 1},
            "parallelism.pipeline_parallel: 35; allowed: with virtual_pipeline 1 at most as many "
            "virtual stages as 32 layers",
        ),
        (
            {"world_size": 12, "pipeline_parallel": 12, "virtual_pipeline": 3, "batch": 1},
            "parallelism.pipeline_parallel: 12; allowed: with virtual_pipeline 3 at most as many "
            "virtual stages as 32 layers",
        ),
        (
            {"shard_group": 3},
            "parallelism.shard_group: 3; allowed: 0, or a divisor of the 16 data-parallel ranks",
        ),
        (
            {"shard_group": 8, "tensor_parallel": 2, "pipeline_parallel": 2},
            "parallelism.shard_group: 8; allowed: 0, or a divisor of the 4 data-parallel ranks",
        ),
        (
            {"context_parallel": 4, "length": 4098},
            "sequence_length: 4098; allowed: a multiple of context_parallel = 4",
        ),
        (
            {"virtual_pipeline": 2},
            "parallelism.virtual_pipeline: 2; allowed: 1 where pipeline_parallel is 1",
        ),
    ],
)
def test_what_does_not_divide_is_named(plan, problem):
    assert found(**plan) == [problem]


@each(
    ("plan", "model", "problem"),
    [
        (
            {"expert_parallel": 2},
            {},
            "parallelism.expert_parallel: 2; allowed: 1, there are no experts",
        ),
        (
            {"expert_parallel": 16},
            EXPERTS,
            "parallelism.expert_parallel: 16; allowed: a divisor of the 8 experts",
        ),
        (
            {"expert_tensor_parallel": 2},
            {},
            "parallelism.expert_tensor_parallel: 2; allowed: 1, there are no experts",
        ),
        (
            {"expert_parallel": 8, "pipeline_parallel": 4},
            EXPERTS,
            "parallelism.expert_parallel: 8; allowed: a divisor of the 4 ranks of a pipeline stage",
        ),
        (
            {"expert_parallel": 4, "expert_tensor_parallel": 2, "pipeline_parallel": 4},
            EXPERTS,
            "parallelism.expert_tensor_parallel: 2; allowed: such that with expert_parallel 4 it "
            "divides the 4 ranks of a pipeline stage",
        ),
        (
            {},
            {"num_experts": 8},
            "model.experts_per_token: 0, expert_ffn_hidden_size: 0; allowed: 1 to 8, and 1 or "
            "more, there are experts",
        ),
        (
            {},
            {**EXPERTS, "experts_per_token": 0},
            "model.experts_per_token: 0; allowed: 1 to 8",
        ),
        (
            {},
            {**EXPERTS, "experts_per_token": 9},
            "model.experts_per_token: 9; allowed: 1 to 8",
        ),
        (
            {},
            {**EXPERTS, "expert_ffn_hidden_size": 0},
            "model.expert_ffn_hidden_size: 0; allowed: 1 or more, there are experts",
        ),
        (
            {},
            {**EXPERTS, "num_dense_layers": 33},
            "model.num_dense_layers: 33; allowed: at most 32 layers",
        ),
    ],
)
def test_experts_that_do_not_divide_are_named(plan, model, problem):
    assert found(**plan, model=model) == [problem]


@each(
    ("sizes", "plan", "problem"),
    [
        ((), {}, ""),
        ((15, 17), {}, ""),
        ((8, 8, 8, 8), {"virtual_pipeline": 2, "schedule": "interleaved"}, ""),
        ((16, 16), {"schedule": "zb-1p"}, ""),
        ((10, 11, 11), {}, "3 virtual stages; allowed: pipeline_parallel x virtual_pipeline = 2"),
        (
            (16, 16),
            {"virtual_pipeline": 2},
            "2 virtual stages; allowed: pipeline_parallel x virtual_pipeline = 4",
        ),
        ((16, 15), {}, "31 layers in all; allowed: the model's 32"),
        ((16, 17), {}, "33 layers in all; allowed: the model's 32"),
        ((16, 16), {"schedule": "zbv"}, "2 virtual stages; allowed: none with schedule zbv"),
        ((16, 16), {"schedule": "v-half"}, "2 virtual stages; allowed: none with schedule v-half"),
        ((16, 16), {"schedule": "v-min"}, "2 virtual stages; allowed: none with schedule v-min"),
        (
            (16, 16),
            {"schedule": "dualpipe"},
            "2 virtual stages; allowed: none with schedule dualpipe",
        ),
    ],
)
def test_a_cut_by_hand_has_a_piece_for_each_place_and_all_layers(sizes, plan, problem):
    expected = [f"parallelism.pipeline_layout: {problem}"] if problem else []
    assert found(pipeline_parallel=2, stage_layers=sizes, **plan) == expected


def test_all_that_does_not_divide_is_told_at_once():
    lines = found(shard_group=3, virtual_pipeline=2, expert_parallel=2, micro=3)
    assert [line.partition(":")[0] for line in lines] == [
        "training.global_batch_size",
        "parallelism.expert_parallel",
        "parallelism.shard_group",
        "parallelism.virtual_pipeline",
    ]
