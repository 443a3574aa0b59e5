"""Parts that add up, no surprise in any direction, and published runs (all: tests/validation)."""

import math
import random
from dataclasses import fields, replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.estimate import estimate
from engine.run.file import read_run
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_time import LayerTime
from engine.simulate.pipeline.pipeline import PipelineTimes, simulate
from engine.simulate.step.sharding_time import DataParallelExchange, RankWeights
from engine.simulate.step.step_time import (
    PipelineCost,
    ReplicaCost,
    StepTime,
    step_from_costs,
    step_time,
)
from tests.each import each
from tests.validation.any_run import any_document, changed

DOCUMENTS = [any_document(random.Random(f"step {seed}")) for seed in range(2000)]


def timed(document):
    run = read_run(document)
    return step_time(run.model, run.cluster, run.plan, run.training)


def gpt(num_layers, hidden_size, heads):
    return {
        "num_layers": num_layers,
        "hidden_size": hidden_size,
        "num_attention_heads": heads,
        "ffn_hidden_size": 4 * hidden_size,
        "vocab_size": 51200,
        "mlp": "gelu",
        "tied_embeddings": True,
    }


def node(gpu, nics=8, bandwidth=25e9):
    return {"gpu": gpu, "gpus_per_node": 8, "nics_per_node": nics, "nic_bandwidth": bandwidth}


SELENE = node("A100-SXM-80GB")
DGX_H100 = node("H100-SXM", bandwidth=50e9)
UNFUSED = {"flash_attention": False, "overlap_gradient_reduce": False}

# (what, model, tokens, cluster, plan, training, seconds).
PUBLISHED = [
    (
        "Narayanan et al. 2021, table 2: GPT-3 175B on 768 A100",
        gpt(96, 12288, 96),
        2048,
        SELENE,
        {"world_size": 768, "tensor_parallel": 8, "pipeline_parallel": 12, "zero_stage": 0}
        | {"sequence_parallel": False},
        {"micro_batch_size": 1, "global_batch_size": 1536, "precision": "fp16"}
        | {"recompute": "full"}
        | UNFUSED,
        39.42,
    ),
    (
        "Korthikanti et al. 2022, table 5: 530B, selective, on 280 A100",
        gpt(105, 20480, 128),
        2048,
        SELENE,
        {"world_size": 280, "tensor_parallel": 8, "pipeline_parallel": 35, "zero_stage": 0}
        | {"virtual_pipeline": 3},
        {"micro_batch_size": 1, "global_batch_size": 280, "precision": "fp16"}
        | {"recompute": "selective"}
        | UNFUSED,
        37.83,
    ),
    (
        "NVIDIA DGX Cloud recipes 25.04: Llama 3.1 8B on 128 H100",
        "llama-3-8b",
        8192,
        DGX_H100,
        {"world_size": 128, "context_parallel": 2},
        {"micro_batch_size": 1, "global_batch_size": 2048, "precision": "bf16"},
        12.33,
    ),
    (
        "NVIDIA DGX Cloud recipes 25.04: Llama 3.1 70B on 64 H100",
        "llama-3-70b",
        8192,
        DGX_H100,
        {"world_size": 64, "tensor_parallel": 4, "pipeline_parallel": 4}
        | {"virtual_pipeline": 5, "context_parallel": 2},
        {"micro_batch_size": 1, "global_batch_size": 128, "precision": "bf16"}
        | {"overlap_tensor_parallel": True},
        14.66,
    ),
    (
        "Megatron-Bridge 26.06: Llama 3.1 405B in fp8 on 1,024 H100",
        "llama-3-405b",
        8192,
        DGX_H100,
        {"world_size": 1024, "tensor_parallel": 8, "pipeline_parallel": 8}
        | {"virtual_pipeline": 8, "context_parallel": 2},
        {"micro_batch_size": 1, "global_batch_size": 1536, "precision": "fp8"}
        | {"overlap_tensor_parallel": True},
        37.69,
    ),
    (
        "torchtitan 2024: Llama 3.1 70B on 64 A100, FSDP, eager",
        "llama-3-70b",
        8192,
        node("A100-SXM-80GB", 8, 25e9),
        {"world_size": 64, "zero_stage": 3},
        {"micro_batch_size": 1, "global_batch_size": 64, "precision": "bf16"}
        | {"recompute": "full", "framework": "fsdp", "compiled": False},
        24.75,
    ),
    (
        "Mosaic llm-foundry: MPT 7B, 65,536 tokens, on 8 H100",
        gpt(32, 4096, 32) | {"vocab_size": 50368},
        65536,
        DGX_H100,
        {"world_size": 8, "zero_stage": 3},
        {"micro_batch_size": 1, "global_batch_size": 16, "precision": "bf16"}
        | {"recompute": "full", "framework": "fsdp", "compiled": False},
        66.98,
    ),
]


@each("case", PUBLISHED, ids=lambda case: case[0])
def test_a_published_run_takes_its_time_within_15_percent(case):
    _, model, tokens, cluster, plan, training, seconds = case
    document = {
        "model": model,
        "sequence_length": tokens,
        "cluster": cluster,
        "parallelism": plan,
        "training": training,
    }
    # The 90th percentile that the model aims at over all published runs.
    assert timed(document).total == pytest.approx(seconds, rel=0.15)


@each("seed", range(0, 2000, 40))
def test_estimates_of_any_run_are_finite_and_their_parts_add_up(seed):
    for document in DOCUMENTS[seed : seed + 40]:
        found = estimate(read_run(document))
        times, sizes = found["time"].values(), found["memory"].values()
        assert all(math.isfinite(v) and v >= 0 for v in (*times, *sizes)), document
        assert 0 < sum(times) == pytest.approx(found["step_time"], rel=1e-9), document
        assert 0 < sum(sizes) == pytest.approx(found["peak_memory"], rel=1e-9), document


@each("seed", range(0, 600, 40))
def test_a_faster_network_is_never_slower(seed):
    for document in DOCUMENTS[seed : seed + 40]:
        speed = document["cluster"]["nic_bandwidth"]
        faster = changed(document, "cluster", nic_bandwidth=3 * speed)
        assert timed(faster).total <= timed(document).total * (1 + 1e-9), document


@each("field", ["memory_bandwidth", "scale_up", "pcie"])
@each("seed", range(0, 400, 40))
def test_a_gpu_with_more_bandwidth_is_never_slower(field, seed):
    for document in DOCUMENTS[seed : seed + 40]:
        run = read_run(document)
        gpu = replace(run.cluster.gpu, **{field: 2 * getattr(run.cluster.gpu, field)})
        cluster = replace(run.cluster, gpu=gpu)
        faster = step_time(run.model, cluster, run.plan, run.training).total
        assert faster <= timed(document).total * (1 + 1e-9), document


@each("seed", range(0, 600, 40))
def test_fewer_tokens_never_take_longer(seed):
    for document in DOCUMENTS[seed : seed + 40]:
        shorter = {**document, "sequence_length": document["sequence_length"] // 2}
        assert timed(shorter).total <= timed(document).total * (1 + 1e-9), document


@each("seed", range(0, 600, 40))
def test_fewer_sequences_never_take_longer(seed):
    for document in DOCUMENTS[seed : seed + 40]:
        more = changed(
            document,
            "training",
            global_batch_size=2 * document["training"]["global_batch_size"],
        )
        assert timed(document).total <= timed(more).total * (1 + 1e-9), document


def test_a_step_is_the_sum_of_its_parts():
    parts = {field.name: float(i) for i, field in enumerate(fields(StepTime))}
    assert StepTime(**parts).total == sum(parts.values())


ONE_GPU = {
    "model": gpt(4, 2048, 16),
    "sequence_length": 2048,
    "cluster": SELENE,
    "parallelism": {"world_size": 1},
    "training": {"micro_batch_size": 1, "global_batch_size": 8, "precision": "bf16"},
}


def test_one_gpu_neither_communicates_nor_waits():
    found = timed(ONE_GPU)
    around = found.tensor_parallel + found.context_parallel + found.expert_parallel
    assert around + found.pipeline + found.data_parallel + found.bubble == 0


def test_full_recomputation_adds_about_a_third_of_the_computation():
    again = timed(changed(ONE_GPU, "training", recompute="full")).compute
    assert 1.2 < again / timed(ONE_GPU).compute < 1.34


PIPELINE = changed(ONE_GPU, "parallelism", world_size=4, pipeline_parallel=4)


def test_the_bubble_of_1f1b_is_the_share_of_narayanan():
    # (p - 1) / m of the ideal time: 3 stages ahead, 8 micro-batches. Next to no vocabulary, so that
    # the stages are alike.
    found = timed(changed(PIPELINE, "model", vocab_size=128))
    assert found.bubble / found.compute == pytest.approx(3 / 8, rel=0.02)


def test_the_slowest_stage_waits_for_each_of_the_others_once():
    # One GPU computes all stages for every micro-batch; the last one has the output layer too.
    all_stages = timed(ONE_GPU).compute / 8
    found = timed(PIPELINE)
    assert found.bubble == pytest.approx(all_stages - found.compute / 8)
    assert found.bubble / found.compute < 0.9 * 3 / 8


def played_and_closed(pieces):
    """The length of a step of 1F1B, played, and by the closed form of stages that differ."""
    passes = PipelineTimes(forward=1, backward_input=1, backward_weight=1, pair=3, pieces=pieces)
    played = simulate("one_f_one_b", 4, 8, 1, passes)
    return played.length, 3 * (sum(pieces) + 7 * max(pieces))


def test_so_does_the_played_schedule_where_the_last_stage_is_the_slowest():
    played, closed = played_and_closed((1, 1, 1, 1.5))
    assert played == pytest.approx(closed) == pytest.approx(45)


@each("pieces", [(1.5, 1, 1, 1), (1, 1, 2, 1)])
def test_elsewhere_it_waits_less_and_the_closed_form_is_nearer_than_stages_alike(pieces):
    played, closed = played_and_closed(pieces)
    alike = 3 * max(pieces) * (4 + 7)
    assert played <= closed < alike


def waits_for_gathers(expert_parallel):
    """Seconds of data parallelism: 1 forward, 2 backward, 2 of exchange; 3 of gathers, 1.5 back."""
    model = MODELS["qwen3-30b-a3b"]
    cluster = Cluster(
        gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9
    )
    plan = Plan(world_size=64, expert_parallel=expert_parallel, zero_stage=3)
    training = Training(
        micro_batch_size=1, global_batch_size=64, sequence_length=4096, framework="fsdp"
    )
    one = LayerTime(
        forward=1.0,
        backward=2.0,
        weight_gradient=1.0,
        repeated=0.0,
        tensor_parallel=0.0,
        context_parallel=0.0,
        expert_parallel=2.0,
    )
    weights = RankWeights(common=0.0, experts=0.0)
    flow = PipelineCost(slowest=one, microbatches=1, messages=0.0, bubble=0.0, weights=weights)
    exchange = DataParallelExchange(gather=1.5, scatter=1.5, copies=0.0, gradient=4.0, units=49)
    shared = ReplicaCost(exchange=exchange, optimizer=0.0, straggler_share=0.0)
    rank = rank_rates(cluster, training)
    return step_from_costs(model, plan, training, rank, flow, shared).data_parallel


def test_gathers_hide_behind_an_exchange_inside_the_node():
    # Forward 1.5 s of gathers beside 1 s, backward 3 s beside 4 s: half a second, and the first
    # gather and the last scatter of 49 units.
    assert waits_for_gathers(expert_parallel=8) == pytest.approx(0.5 + 3 / 49)


def test_gathers_do_not_hide_behind_an_exchange_between_nodes():
    # 4.5 s beside the 3 s of computation, then the exchange on the same ports. The first and the
    # last backward pass are longer than a gather or a scatter, by 0.5 s for 49 units.
    assert waits_for_gathers(expert_parallel=16) == pytest.approx(4.5 - 3 + 2 * 0.5 / 49)


def test_zero_bubble_waits_less():
    zero = timed(changed(PIPELINE, "training", schedule="zb-1p"))
    assert zero.bubble < timed(PIPELINE).bubble
