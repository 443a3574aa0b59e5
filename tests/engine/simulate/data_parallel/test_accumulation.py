"""Accumulation at scale: the passes that were counted, the bytes of the exact training."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.formulas.parameters import total_parameters
from engine.formulas.volumes import zero_bytes_sent
from engine.run.parallelism import Cluster
from engine.simulate.data_parallel.accumulation import (
    AccumulationJob,
    accumulated_passes,
    accumulation_bytes_sent,
    accumulation_memory,
    accumulation_token_rate,
)

CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9
)
STEP = AccumulationJob(
    model=MODELS["llama-3-8b"],
    cluster=CLUSTER,
    ranks=64,
    sequence_length=4096,
    batch=1,
    count=4,
    scheme="zero1",
)


@pytest.mark.parametrize(
    ("scheme", "passes"),
    [
        # Counted in PyTorch 2.13 with 4 micro-batches: gathers and reductions of a layer.
        ("fsdp", (4, 8)),
        ("fsdp_keep", (1, 1)),
        # An all-reduce is two passes; counted: 4 without and 1 with no_sync.
        ("ddp_sync", (8, 0)),
        ("ddp", (2, 0)),
        ("fsdp_once", (1, 8)),
    ],
)
def test_the_passes_are_those_that_were_counted(scheme, passes):
    assert accumulated_passes(scheme, 4) == passes


@pytest.mark.parametrize(("scheme", "stage"), [("ddp", 0), ("zero1", 1), ("zero2", 2), ("fsdp", 3)])
def test_the_bytes_are_those_of_zero(scheme, stage):
    size = total_parameters(STEP.model)
    expected = zero_bytes_sent(4 * size, 2 * size, stage, 64, 4)
    assert accumulation_bytes_sent(replace(STEP, scheme=scheme)) == pytest.approx(expected)


@pytest.mark.parametrize("scheme", ["ddp", "zero1", "fsdp_keep"])
def test_what_waits_sends_the_same_for_any_number_of_micro_batches(scheme):
    step = replace(STEP, scheme=scheme)
    assert accumulation_bytes_sent(step) == accumulation_bytes_sent(replace(step, count=64))


@pytest.mark.parametrize("scheme", ["ddp_sync", "fsdp"])
def test_what_cannot_wait_sends_as_much_for_every_token(scheme):
    step = replace(STEP, scheme=scheme)
    assert accumulation_bytes_sent(replace(step, count=64)) == pytest.approx(
        16 * accumulation_bytes_sent(step)
    )


@pytest.mark.parametrize("scheme", ["ddp", "zero1", "zero2", "fsdp"])
def test_memory_does_not_depend_on_the_number_of_micro_batches(scheme):
    step = replace(STEP, scheme=scheme)
    assert accumulation_memory(step) == accumulation_memory(replace(step, count=64))


def test_one_batch_needs_the_activations_of_all_micro_batches():
    # What does not grow with the batch, such as placeholders of weight gradients, cancels.
    one, two, four = (
        accumulation_memory(replace(STEP, count=count), at_once=True).activations
        for count in (1, 2, 4)
    )
    assert one == accumulation_memory(STEP).activations
    assert four - two == pytest.approx(2 * (two - one))
    assert two - one > 0.9 * one


def test_more_micro_batches_are_never_slower():
    rates = [accumulation_token_rate(replace(STEP, count=1 << power)) for power in range(7)]
    assert rates == sorted(rates)
