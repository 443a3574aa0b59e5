"""The programs of streams agree with the cost model of a step."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core import registry
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_exchange import tensor_parallel_time
from engine.simulate.step.sharding_time import (
    data_parallel_exchange,
    data_parallel_time,
    rank_weights,
)
from engine.simulate.streams.stream_account import step_account
from engine.simulate.streams.streams import run_program
from engine.simulate.streams.workload import Workload, ring_group
from tests.each import each

PACKAGE = "engine.simulate.programs"


RING = ring_group(8, 50e9)


PLAIN = Workload(
    layers=6,
    forward=2e-3,
    backward=4e-3,
    parameters=5e7,
    data=RING,
    replicas=ring_group(4, 10e9, 5e-6),
    bucket=1e8,
    tensors=4,
)


def ops(name, work):
    return registry.module(PACKAGE, name).program(work)


def step(name, work):
    return step_account(run_program(ops(name, work)))


MODEL = MODELS["llama-3-8b"]


CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9
)


TRAINING = Training(
    micro_batch_size=1, global_batch_size=64, sequence_length=4096, framework="fsdp"
)


SHARDED = Plan(world_size=64, zero_stage=3)


def of_cost_model(computation):
    """What the cost model adds to a step of FSDP for its communication."""
    rank = rank_rates(CLUSTER, TRAINING)
    weights = rank_weights(MODEL, SHARDED)
    third = computation / 3
    sent = weights, data_parallel_exchange(SHARDED, TRAINING, rank, weights)
    return data_parallel_time(MODEL, SHARDED, TRAINING, rank, sent, third, 2 * third)


def of_streams(computation, slow_down=0.0):
    """The same by simulation: two gathers in bf16 and a scatter in fp32 of every layer."""
    per_byte = of_cost_model(0.0) / MODEL.num_layers / 8
    wire = replace(RING, scatter=lambda size: size * per_byte)
    work = Workload(
        layers=MODEL.num_layers,
        forward=computation / 3 / MODEL.num_layers,
        backward=2 * computation / 3 / MODEL.num_layers,
        parameters=1.0,
        gradient=4.0,
        data=wire,
        slow_down=slow_down,
    )
    return step("fully_sharded", work)


@each("sequence_parallel", [False, True])
def test_blocking_tensor_parallelism_exposes_what_the_cost_model_says(sequence_parallel):
    plan = Plan(world_size=64, tensor_parallel=8, sequence_parallel=sequence_parallel)
    rank = rank_rates(CLUSTER, TRAINING)
    time = tensor_parallel_time(MODEL, plan, TRAINING, rank, 1.0, 0.0, sparse=False)
    work = replace(PLAIN, tensor_gather=time / 4, layers=MODEL.num_layers)
    assert step("tensor_parallel", work).exposed == pytest.approx(time * MODEL.num_layers)


@each("chunks", [2, 4, 8])
def test_async_tensor_parallelism_exposes_the_first_and_the_last_piece(chunks):
    work = replace(PLAIN, tensor_gather=4e-4, tensor_chunks=chunks)
    blocking_step = step("tensor_parallel", work).exposed
    assert step("tensor_parallel_async", work).exposed == pytest.approx(blocking_step / chunks)


def pieces(gather, product, chunks):
    """The end of a product whose pieces each wait for a piece of its gather, one by one."""
    arrived = done = 0.0
    for _ in range(chunks):
        arrived += gather / chunks
        done = max(arrived, done) + product / chunks
    return done


@each("product", [1e-5, 2e-4, 4e-4, 5e-3])
@each("chunks", [2, 3, 8])
def test_pieces_drawn_as_one_end_when_single_pieces_do(product, chunks):
    work = replace(PLAIN, layers=1, forward=product, tensor_gather=4e-4, tensor_chunks=chunks)
    spans = {span.op.key: span for span in run_program(ops("tensor_parallel_async", work))}
    assert spans["F0.0"].end == pytest.approx(pieces(4e-4, product, chunks))
