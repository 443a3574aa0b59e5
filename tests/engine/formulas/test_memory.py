"""Against the tables of ZeRO, Korthikanti and Zero Bubble; measured runs: tests/validation."""

import math
import random
from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import ALLOWANCES
from engine.catalog.models import MODELS
from engine.formulas.activations import (
    layer_memory,
    linear_input,
    modules_repeated,
)
from engine.formulas.states import (
    MIXED_PRECISION,
    state_bytes,
)
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.allocator import (
    OUTSIDE,
    Memory,
    fragment_share,
    memory_fit,
    reported_bytes,
)
from engine.simulate.memory.memory import rank_memory, stage_memory, stage_states
from tests.each import each

# --- The whole.
SMALL = Plan(world_size=8, tensor_parallel=2, sequence_parallel=True)


RUN = Training(micro_batch_size=1, global_batch_size=8, sequence_length=8192)


def test_parts_add_up():
    found = rank_memory(MODELS["llama-3-8b"], SMALL, RUN)
    parts = found.parameters + found.gradients + found.optimizer + found.activations
    assert found.total == pytest.approx(parts + found.buffers + found.reserve)


@each("framework", ["megatron", "fsdp", "deepspeed"])
def test_a_longer_sequence_never_needs_less(framework):
    run = replace(RUN, framework=framework)
    found = [
        rank_memory(MODELS["llama-3-8b"], SMALL, replace(run, sequence_length=length)).total
        for length in (1024, 2048, 8192, 32768)
    ]
    assert found == sorted(found)


@each("framework", ["megatron", "fsdp", "deepspeed"])
@each("name", ["gpt-3-175b", "llama-3-8b", "mixtral-8x7b", "deepseek-v3"])
def test_recomputation_never_keeps_more(framework, name):
    run = replace(RUN, framework=framework, flash_attention=False)
    plan = SMALL
    found = [
        layer_memory(MODELS[name], plan, replace(run, recompute=one)).kept
        for one in ("full", "selective", "none")
    ]
    assert found == sorted(found)


def test_the_fullest_of_all_stages_is_found():
    model = MODELS["llama-3-405b"]
    plan = Plan(world_size=128, tensor_parallel=8, pipeline_parallel=16, sequence_parallel=True)
    run = replace(RUN, global_batch_size=64)
    layer = layer_memory(model, plan, run)
    every = [stage_memory(model, plan, run, stage, (layer, layer)).total for stage in range(16)]
    assert rank_memory(model, plan, run).total == max(every)


def test_only_what_nvidia_smi_shows_counts_the_context():
    nothing = Memory(
        parameters=0.0,
        gradients=0.0,
        optimizer=0.0,
        activations=0.0,
        buffers=0.0,
        stage=0,
        fragments=0.08,
    )
    found = {
        one: reported_bytes(nothing, replace(RUN, framework=one))
        for one in ("megatron", "fsdp", "deepspeed")
    }
    assert found == {
        "megatron": ALLOWANCES.workspace,
        "fsdp": 0.0,
        "deepspeed": ALLOWANCES.loaded_context + ALLOWANCES.channels,
    }
    assert nothing.total == ALLOWANCES.workspace + OUTSIDE


def test_a_70b_model_does_not_fit_one_node_without_sharding():
    model, plan = MODELS["llama-3-70b"], Plan(world_size=8, tensor_parallel=8, zero_stage=0)
    found = rank_memory(model, plan, RUN)
    assert not memory_fit(found, ACCELERATORS["H100-SXM"].memory).runs


def test_an_8b_model_fits_eight_h100_with_sharding():
    run = replace(RUN, framework="fsdp", recompute="full")
    found = rank_memory(MODELS["llama-3-8b"], Plan(world_size=8, zero_stage=3), run)
    assert memory_fit(found, ACCELERATORS["H100-SXM"].memory).verdict == "fits"


# The BLOOM team's sweep: 181B, micro-batch, TP, PP, DP of what ran out of 80 GB, and one that fit.
SWEEP = [((1, 8, 1, 48), False), ((2, 2, 6, 32), False), ((1, 2, 6, 32), False)]


SWEEP.append(((4, 8, 12, 4), True))


@each(("case", "fitted"), SWEEP)
def test_what_ran_out_of_memory_in_the_bloom_sweep_does_not_fit(case, fitted):
    sequences, tensor, stages, ranks = case
    model = replace(
        MODELS["bloom-176b"], num_layers=72, num_attention_heads=64, num_key_value_heads=64
    )
    plan = Plan(
        world_size=tensor * stages * ranks, tensor_parallel=tensor, pipeline_parallel=stages
    )
    run = Training(
        micro_batch_size=sequences,
        global_batch_size=2016 if ranks == 48 else 2048,
        sequence_length=2048,
        recompute="full",
        flash_attention=False,
        framework="deepspeed",
    )
    assert plan.data_parallel == ranks
    found = rank_memory(model, plan, run)
    fit = memory_fit(found, ACCELERATORS["A100-SXM-80GB"].memory)
    assert fit.runs if fitted else fit.verdict != "fits"


# --- Any valid run: 2,000 of them, the same each time.
SCHEDULES = ("gpipe", "1f1b", "zb-1p", "zb-2p", "zbv", "v-half", "v-min", "dualpipe")


def any_run(source):
    model = MODELS[source.choice(sorted(MODELS))]
    tensor, stages, ranks = (source.choice((1, 2, 4, 8)) for _ in range(3))
    context = source.choice((1, 1, 2, 4))
    world = tensor * stages * ranks * context
    plan = Plan(
        world_size=world,
        tensor_parallel=tensor,
        pipeline_parallel=stages,
        context_parallel=context,
        expert_parallel=source.choice((1, ranks)) if model.num_experts else 1,
        sequence_parallel=source.random() < 0.5,
        zero_stage=source.randrange(4),
    )
    run = Training(
        micro_batch_size=source.choice((1, 2, 3)),
        global_batch_size=48 * ranks,
        sequence_length=source.choice((1024, 4096, 65536)),
        precision=source.choice(("bf16", "fp16", "fp8")),
        recompute=source.choice(("none", "selective", "full")),
        flash_attention=source.random() < 0.7,
        schedule=source.choice(SCHEDULES),
        framework=source.choice(("megatron", "fsdp", "deepspeed")),
        compiled=source.random() < 0.5,
    )
    return model, plan, run


RUNS = [any_run(random.Random(seed)) for seed in range(2000)]


def parts_of(found):
    names = ("parameters", "gradients", "optimizer", "activations", "buffers", "reserve")
    return [getattr(found, name) for name in names]


def test_every_part_of_any_run_is_finite_and_not_negative():
    parts = [part for run in RUNS for part in parts_of(rank_memory(*run))]
    assert all(0 <= part < float("inf") for part in parts)


def test_any_run_needs_more_for_a_longer_sequence():
    def longer(model, plan, run):
        return model, plan, replace(run, sequence_length=2 * run.sequence_length)

    assert all(rank_memory(*longer(*run)).total > rank_memory(*run).total for run in RUNS)


def test_states_of_any_run_are_no_larger_when_more_is_sharded():
    def states(model, plan, run):
        return stage_states(model, plan, run, 0).total

    def sharded(model, plan, run):
        return model, replace(plan, zero_stage=min(3, plan.zero_stage + 1)), run

    assert all(states(*sharded(*run)) <= states(*run) for run in RUNS)


@each(("stage", "kept", "even"), [(1, 4, 3), (2, 2, 7), (3, 0, math.inf)])
def test_what_a_stage_keeps_whole_and_when_its_share_weighs_as_much(stage, kept, even):
    # 2 + 2 + 12 bytes: 12 sharded against 4, 14 against 2, all against nothing.
    types = MIXED_PRECISION
    assert (types.replicated(stage), types.break_even_ranks(stage)) == (kept, even)


def test_what_repeating_modules_saves_of_a_layer_of_deepseek_v3_worked_by_hand():
    # In fp8, per token: two norms' outputs of 7,168 bytes; the latents' norms, 2,048 halves;
    # queries, keys (also joined with their position) and values of 128 heads, 640 halves each; nine
    # experts of 2,048: the output in fp8, and the gate's two inputs kept in 1 byte instead of 2.
    model, plan = MODELS["deepseek-v3"], Plan(world_size=1)
    training = Training(
        micro_batch_size=1, global_batch_size=1, sequence_length=4096, precision="fp8"
    )
    norms, latents, heads, experts = 2 * 7168, 2 * 2048, 2 * 128 * 640, 9 * 2048 * 3
    saved = modules_repeated(model, plan, training, sparse=True)
    assert saved == norms + latents + heads + experts


def test_repeating_modules_keeps_less_than_repeating_nothing_and_more_than_repeating_all():
    model, plan = MODELS["deepseek-v3"], Plan(world_size=1)
    kept = [
        layer_memory(
            model,
            plan,
            Training(
                micro_batch_size=1,
                global_batch_size=1,
                sequence_length=4096,
                precision="fp8",
                recompute=recompute,
            ),
            sparse=True,
        ).kept
        for recompute in ("none", "modules", "full")
    ]
    assert kept == sorted(kept, reverse=True)
    assert kept[1] < 0.6 * kept[0]


def test_mxfp8_adds_a_scale_for_each_32_values_of_both_copies():
    training = replace(RUN, precision="fp8", framework="megatron", quantized_weights=True)
    scaled = replace(training, block_scales=True)
    once = replace(scaled, quantized_once=True)
    assert state_bytes(training).parameter == 2.0
    assert state_bytes(scaled).parameter == 2 * (1 + 1 / 32)
    assert state_bytes(once).parameter == 1.0
    assert linear_input(scaled) == 1 + 1 / 32
    assert linear_input(once) == linear_input(training) == 1.0


def test_one_rank_has_no_streams_of_collectives_that_hold_blocks():
    fsdp = replace(RUN, framework="fsdp")
    share = ALLOWANCES.fragments_alone
    assert share < ALLOWANCES.fragments
    assert fragment_share(fsdp, 1) == share
    assert fragment_share(fsdp, 2) == ALLOWANCES.fragments
    adapters = replace(fsdp, lora_rank=16)
    assert fragment_share(adapters, 1) == fragment_share(adapters, 2)
