"""Runs outside the tables: other scales, models, GPUs and schedules stay within reason."""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.estimate import estimate
from engine.run.file import read_run
from tests.each import each


def cluster(gpu, gpus_per_node=8, ports=8, bandwidth=50e9):
    return {
        "gpu": gpu,
        "gpus_per_node": gpus_per_node,
        "nics_per_node": ports,
        "nic_bandwidth": bandwidth,
    }


def found(model, length, machines, plan, **training):
    document = {
        "model": model,
        "sequence_length": length,
        "cluster": machines,
        "parallelism": plan,
        "training": {"micro_batch_size": 1, "precision": "bf16"} | training,
    }
    return estimate(read_run(document))


H100 = cluster("H100-SXM")


@each(("world_size", "published"), [(2240, 60.1), (2800, 50.2), (3360, 44.4)])
def test_mt_nlg_takes_its_step_within_a_quarter(world_size, published):
    # Smith et al. 2022: 280, 350 and 420 servers, a batch of 1,920 sequences.
    plan = {
        "world_size": world_size,
        "tensor_parallel": 8,
        "pipeline_parallel": 35,
        "sequence_parallel": False,
        "zero_stage": 0,
    }
    step = found(
        "gpt-530b",
        2048,
        cluster("A100-SXM-80GB", bandwidth=25e9),
        plan,
        global_batch_size=1920,
        recompute="full",
        flash_attention=False,
        framework="deepspeed",
        overlap_gradient_reduce=False,
    )["step_time"]
    assert step == pytest.approx(published, rel=0.25)


# Dubey et al. 2024, table 4: GPUs, context parallelism, length, batch, TFLOP/s per GPU, which count
# half of the scores.
LLAMA = [(8192, 1, 8192, 2048, 430), (16384, 1, 8192, 2048, 400), (16384, 16, 131072, 128, 380)]


@each(("world_size", "context", "length", "batch", "published"), LLAMA)
def test_llama_3_405b_runs_at_its_rate_within_a_quarter(
    world_size, context, length, batch, published
):
    plan = {
        "world_size": world_size,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "virtual_pipeline": 8,
        "context_parallel": context,
        "zero_stage": 2,
    }
    result = found(
        "llama-3-405b", length, H100, plan, global_batch_size=batch, overlap_tensor_parallel=True
    )
    scores = 12 * 126 * 16384 * length
    whole = result["model_flops_rate"] * (6 * 405e9 + scores / 2) / (6 * 405e9 + scores) / 1e12
    assert whole == pytest.approx(published, rel=0.25)


def test_deepseek_v3_trains_as_many_tokens_per_gpu_hour_within_a_fifth():
    # DeepSeek-AI 2024: 14.8T tokens in 2.664M GPU hours, stops included.
    plan = {"world_size": 2048, "pipeline_parallel": 16, "expert_parallel": 64}
    result = found(
        "deepseek-v3",
        4096,
        cluster("H800-SXM"),
        plan,
        global_batch_size=15360,
        precision="fp8",
        schedule="dualpipe",
        overlap_tensor_parallel=True,
    )
    rate = 14.8e12 / (2.664e6 * 3600)
    assert result["tokens_per_second_per_gpu"] == pytest.approx(rate, rel=0.2)


@each("gpu", sorted(ACCELERATORS))
@each(
    ("model", "plan", "batch"),
    [
        ("llama-3-8b", {"world_size": 8, "zero_stage": 3}, 64),
        ("llama-3-70b", {"world_size": 64, "tensor_parallel": 8}, 64),
        ("mixtral-8x7b", {"world_size": 64, "expert_parallel": 8}, 256),
    ],
)
def test_no_gpu_reaches_an_absurd_share_of_its_peak(gpu, model, plan, batch):
    precision = "fp16" if gpu.startswith("V100") else "bf16"
    result = found(model, 8192, cluster(gpu), plan, global_batch_size=batch, precision=precision)
    assert 0.05 < result["mfu"] < 0.75


@each("length", [2048, 8192, 32768, 131072, 524288, 1048576])
def test_no_length_reaches_an_absurd_share_of_the_peak(length):
    ranks = max(1, length // 16384)
    plan = {"world_size": max(8, ranks), "context_parallel": ranks}
    batch = plan["world_size"] // ranks * 4
    result = found("llama-3-8b", length, H100, plan, global_batch_size=batch, recompute="full")
    assert 0.25 < result["mfu"] < 0.75


SCHEDULES = ("gpipe", "1f1b", "v-min", "v-half", "zb-1p", "dualpipe", "interleaved", "zb-2p", "zbv")


def of_schedule(schedule):
    plan = {"world_size": 128, "tensor_parallel": 8, "pipeline_parallel": 8}
    pieces = 4 if schedule == "interleaved" else 1
    return found(
        "gpt-3-175b",
        2048,
        cluster("A100-SXM-80GB", bandwidth=25e9),
        plan | {"virtual_pipeline": pieces},
        global_batch_size=32,
        schedule=schedule,
    )


@each("schedule", SCHEDULES)
def test_every_schedule_of_16_micro_batches_reaches_a_sensible_share(schedule):
    assert 0.3 < of_schedule(schedule)["mfu"] < 0.6


def test_schedules_wait_in_the_order_of_their_papers():
    waits = [of_schedule(schedule)["time"]["bubble"] for schedule in SCHEDULES]
    assert waits[0] == waits[1]
    assert waits[1] > waits[3] > waits[4] > waits[-1] == waits[-2] == 0
    assert waits[1] > waits[5]


def test_v_shaped_schedules_wait_as_their_orders_do():
    # The paper's 1/2 and 2/3 of 1F1B are those of passes of equal length. Ours have a longer
    # backward pass for the inputs than half of the two others, and V-Min then waits for it in every
    # micro-batch: the paper measured it slower than 1F1B, too.
    waits = {name: of_schedule(name)["time"]["bubble"] for name in ("v-half", "v-min", "1f1b")}
    assert waits["v-half"] < 0.7 * waits["1f1b"]
    assert waits["1f1b"] < waits["v-min"] < 1.5 * waits["1f1b"]
