"""What does not fit together in a run: every sentence, and the sizes on either side of it."""

from dataclasses import replace

from engine.catalog.models import MODELS
from engine.run.parallelism import Plan, Training
from engine.run.problems import problems
from tests.each import each
from tests.engine.run.planner_jobs import H100

MODEL = MODELS["llama-3-8b"]  # 32 layers, hidden size 4096, 32 heads, 8 key-value heads
EXPERTS = {"num_experts": 8, "experts_per_token": 2, "expert_ffn_hidden_size": 512}


def found(*, model=None, batch=16, length=4096, micro=1, told=None, **plan):
    training = Training(
        micro_batch_size=micro,
        global_batch_size=batch,
        sequence_length=length,
        **told or {},
    )
    return problems(
        replace(MODEL, **model or {}), H100, Plan(**{"world_size": 16, **plan}), training
    )


@each(
    "plan",
    [
        {},
        {"world_size": 4, "micro": 4},
        {"world_size": 8, "tensor_parallel": 2, "pipeline_parallel": 2, "context_parallel": 2},
        {"model": EXPERTS, "expert_parallel": 8, "expert_tensor_parallel": 2},
        {"model": {**EXPERTS, "experts_per_token": 8}},
        {"expert_tensor_parallel": 5},
        {"shard_group": 4, "tensor_parallel": 4},
        {"shard_group": 8, "context_parallel": 8},
        {"tensor_parallel": 16},
        {"model": {"hidden_size": 4097, "head_size": 128}},
        {"context_parallel": 2, "length": 4},
        {"tensor_parallel": 4, "length": 3},
        {"tensor_parallel": 4, "sequence_parallel": True, "length": 4},
        {"context_parallel": 2, "tensor_parallel": 2, "sequence_parallel": True, "length": 8},
        {"length": 1},
        {"world_size": 8, "pipeline_parallel": 2, "virtual_pipeline": 17},
        {
            "world_size": 8,
            "pipeline_parallel": 8,
            "virtual_pipeline": 5,
            "model": {"num_layers": 36, "num_prediction_layers": 2},
        },
        {"told": {"schedule": "interleaved"}},
        {"virtual_pipeline": 1, "pipeline_parallel": 2},
    ],
)
def test_what_fits_together_has_no_problem(plan):
    assert found(**plan) == ()


@each(
    ("plan", "sentence"),
    [
        (
            {"tensor_parallel": 2, "pipeline_parallel": 3, "context_parallel": 5},
            "world_size 16 is not a multiple of tensor_parallel x pipeline_parallel x "
            "context_parallel = 30.",
        ),
        (
            {"world_size": 0},
            "world_size 0 is not a multiple of tensor_parallel x pipeline_parallel x "
            "context_parallel = 1.",
        ),
        (
            {
                "model": EXPERTS,
                "pipeline_parallel": 2,
                "expert_parallel": 4,
                "expert_tensor_parallel": 4,
            },
            "world_size 16 is not a multiple of pipeline_parallel x expert_parallel x "
            "expert_tensor_parallel = 32.",
        ),
        ({"shard_group": 5}, "shard_group 5 does not divide the 16 data-parallel ranks."),
        (
            {"shard_group": 16, "tensor_parallel": 2, "context_parallel": 2},
            "shard_group 16 does not divide the 8 data-parallel ranks.",
        ),
        ({"world_size": 12, "batch": 12}, "world_size 12 fills no whole nodes of 8 GPUs."),
        (
            {"model": {"hidden_size": 4097}},
            "hidden_size 4097 is not a multiple of num_attention_heads 32.",
        ),
        (
            {"model": {"num_key_value_heads": 5}},
            "num_attention_heads 32 is not a multiple of num_key_value_heads 5.",
        ),
        (
            {"world_size": 6, "tensor_parallel": 6, "model": {"num_key_value_heads": 1}},
            "tensor_parallel 6 does not divide num_attention_heads 32.",
        ),
        (
            {
                "world_size": 6,
                "tensor_parallel": 6,
                "model": {"num_attention_heads": 24, "num_key_value_heads": 4, "head_size": 128},
            },
            "tensor_parallel 6 does not split 4 key-value heads.",
        ),
        (
            {"model": EXPERTS, "expert_parallel": 16},
            "expert_parallel 16 does not divide 8 experts.",
        ),
        ({"expert_parallel": 2}, "expert_parallel 2 needs a model with experts."),
        (
            {"model": {**EXPERTS, "experts_per_token": 9}},
            "experts_per_token 9 exceeds num_experts 8.",
        ),
        (
            {"tensor_parallel": 4, "micro": 3},
            "global_batch_size 16 is not a multiple of micro_batch_size x data-parallel ranks = "
            "12.",
        ),
        (
            {"context_parallel": 2, "length": 6},
            "sequence_length 6 does not split into 4 pieces.",
        ),
        (
            {"tensor_parallel": 4, "sequence_parallel": True, "length": 6},
            "sequence_length 6 does not split into 4 pieces.",
        ),
        (
            {"context_parallel": 2, "tensor_parallel": 2, "sequence_parallel": True, "length": 12},
            "sequence_length 12 does not split into 8 pieces.",
        ),
        ({"virtual_pipeline": 2}, "virtual_pipeline 2 needs pipeline_parallel above 1."),
        (
            {"world_size": 5, "pipeline_parallel": 5, "virtual_pipeline": 7},
            "32 layers do not fill 35 virtual stages.",
        ),
        (
            {
                "world_size": 8,
                "pipeline_parallel": 8,
                "virtual_pipeline": 5,
                "model": {"num_layers": 36, "num_prediction_layers": 1},
            },
            "36 layers do not fill 40 virtual stages.",
        ),
        (
            {"pipeline_parallel": 2, "told": {"schedule": "interleaved"}},
            "schedule interleaved needs virtual_pipeline above 1.",
        ),
    ],
)
def test_what_does_not_fit_together_is_told_in_one_sentence(plan, sentence):
    assert found(**plan) == (sentence,)


@each(
    ("framework", "many", "sentence"),
    [
        ("megatron", 4, ""),
        ("megatron", 5, ""),
        ("megatron", 9, ""),
        ("megatron", 3, "at least 4 micro-batches, one for each stage; there are 3."),
        ("deepspeed", 3, "at least 4 micro-batches, one for each stage; there are 3."),
        ("fsdp", 3, ""),
        ("fsdp", 5, ""),
        ("fsdp", 8, ""),
        ("fsdp", 9, "micro-batches in equal rounds; 9 do not divide into 2."),
        ("fsdp", 14, "micro-batches in equal rounds; 14 do not divide into 3."),
    ],
)
def test_micro_batches_of_an_interleaved_pipeline_fill_its_rounds(framework, many, sentence):
    told = {"schedule": "interleaved", "framework": framework}
    sizes = {"world_size": 4, "pipeline_parallel": 4, "virtual_pipeline": 2}
    lines = found(batch=many, told=told, **sizes)
    expected = f"schedule interleaved needs {sentence}"
    assert lines == ((expected,) if sentence else ())
