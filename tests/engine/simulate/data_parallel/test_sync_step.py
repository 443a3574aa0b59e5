"""The gradient sync lab's step is the estimate's; what a reader may force changes the exchange."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS
from engine.core.units import Gbit, MiB
from engine.formulas.parameters import total_parameters
from engine.run.software import DDP_BUCKET
from engine.simulate.data_parallel.dense_shape import dense_shape
from engine.simulate.data_parallel.sync_streams import (
    SyncJob,
    break_even,
    gradient_all_reduce,
    reached_share,
    required_port,
    sync_run,
    sync_step,
    unasked,
)
from engine.simulate.step.step_time import step_time

# The published example: eight nodes of one GPU and one port of 400 Gb/s.
EIGHT = SyncJob(
    parameters=7e9,
    element=2.0,
    gpu="h100",
    world_size=8,
    gpus_per_node=1,
    ports_per_node=1,
    port=400 * Gbit,
    algorithm="auto",
    bucket=DDP_BUCKET,
    overlap=True,
    zero1=False,
    tokens=4096,
    accumulation=1,
)
NODES = replace(EIGHT, world_size=64, gpus_per_node=8, ports_per_node=8)


def estimate(job):
    run = sync_run(job)
    return step_time(run.model, run.cluster, run.plan, run.training).total


@pytest.mark.parametrize("parameters", [1e7, 1.3e9, 8.03e9, 7e10, 2e12])
@pytest.mark.parametrize("ranks", [2, 8, 100, 1024, 16_384])
def test_the_step_is_the_estimates(parameters, ranks):
    jobs = (
        replace(NODES, parameters=parameters, world_size=ranks, **changes)
        for changes in (
            {},
            {"element": 4.0, "port": 100 * Gbit, "ports_per_node": 1},
            {"overlap": False, "tokens": 512.0},
            {"zero1": True, "tokens": 16_384.0, "accumulation": 4},
        )
    )
    for job in jobs:
        assert sync_step(job).parts.total == pytest.approx(estimate(job), rel=1e-9)


def test_what_no_software_does_unasked_is_told_apart():
    ring = replace(NODES, algorithm="ring", world_size=1024, bucket=100 * MiB, element=1.0)
    assert unasked(ring) == replace(NODES, world_size=1024)
    assert sync_step(ring).parts.total != sync_step(unasked(ring)).parts.total


def test_a_ring_that_nccl_would_choose_is_the_same_ring():
    assert sync_step(replace(EIGHT, algorithm="ring")) == sync_step(EIGHT)


def test_gradients_of_one_byte_take_half_the_bytes_of_two():
    full, half = (sync_step(replace(EIGHT, element=one, overlap=False)) for one in (2.0, 1.0))
    assert half.exchange.scatter == pytest.approx(full.exchange.scatter / 2, rel=1e-3)
    assert half.parts.compute == full.parts.compute


def test_the_backward_pass_hides_the_all_reduce_from_the_break_even_on():
    tokens, whole = break_even(EIGHT), gradient_all_reduce(EIGHT).collective
    below, at = (sync_step(replace(EIGHT, tokens=one)).backward for one in (tokens - 1, tokens))
    assert below < whole <= at


def test_a_single_bucket_hides_nothing_whatever_the_tokens():
    assert break_even(replace(NODES, parameters=1e7)) == float("inf")


def test_the_share_of_the_peak_counts_six_operations_per_parameter_and_token():
    step = sync_step(EIGHT)
    reached = 6 * 7e9 * 4096 / (step.parts.compute * 989.4e12)
    assert reached_share(EIGHT, step, 989.4e12) == pytest.approx(reached)
    assert 0.4 < reached < 0.6


def test_a_port_needs_the_bytes_over_the_backward_pass():
    # 2 * 7/8 * 14 GB in 232 ms are 845 Gb/s, 0.88 of what the port must have.
    assert required_port(EIGHT, "ring", 0.23183) / Gbit == pytest.approx(845.4 / 0.88, abs=0.1)


def test_the_exchange_by_name_counts_every_bucket_and_the_embedding():
    job = replace(NODES, algorithm="tree")
    step = sync_step(job)
    exchange, last = step.exchange, 2 * step.weights.embedding
    each = (2 * step.weights.total - last) / exchange.units
    from_wires = gradient_all_reduce(replace(job, parameters=each / 2)).collective
    assert exchange.scatter - exchange.last_reduce == pytest.approx(exchange.units * from_wires)


@pytest.mark.parametrize("parameters", [1e7, 3e8, 1e9, 7e9, 13e9, 3e10, 175e9, 2e12])
def test_a_dense_shape_has_as_many_parameters(parameters):
    assert total_parameters(dense_shape(parameters)) == pytest.approx(parameters, rel=2e-4)


@pytest.mark.parametrize("key", ["llama-2-7b", "llama-3-8b", "llama-3-70b", "llama-3-405b"])
def test_the_shape_of_a_llama_is_that_llama(key):
    assert dense_shape(total_parameters(MODELS[key])) == MODELS[key]


def test_a_wider_model_has_whole_heads():
    shape = dense_shape(1e12)
    assert shape.hidden_size == 128 * shape.num_attention_heads
    assert shape.num_attention_heads % shape.num_key_value_heads == 0
