"""Tensor parallelism: a layer's tiles, a published run over ranks, a layer in pieces."""

import pytest

from engine.catalog.models import MODELS
from engine.catalog.tensor_scaling import MODEL_3B, SEQUENCE, TENSOR_RUNS
from engine.formulas.activations import layer_memory
from engine.formulas.gpt import korthikanti_activations
from engine.formulas.parameters import total_parameters
from engine.formulas.step_operations import model_operations
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.tensor_tiles import activation_split
from engine.simulate.overlap.async_layer import play_layer, tensor_job, tensor_run
from engine.simulate.step.tensor_scaling import (
    model_tensor_run,
    modeled_token_rates,
    published_tensor_run,
    speed_loss,
)


def tiles(model, tensor, split=False, **changes):
    plan = Plan(world_size=tensor, tensor_parallel=tensor, sequence_parallel=split)
    training = Training(micro_batch_size=1, global_batch_size=1, sequence_length=2048, **changes)
    return activation_split(MODELS[model], plan, training), plan, training


@pytest.mark.parametrize("model", ["llama-3-70b", "gpt-3-175b"])
@pytest.mark.parametrize("tensor", [2, 8])
@pytest.mark.parametrize("split", [False, True])
def test_tiles_add_up_to_what_a_layer_keeps(model, tensor, split):
    found, plan, training = tiles(model, tensor, split)
    assert found.total == pytest.approx(layer_memory(MODELS[model], plan, training).kept)


def test_sequence_parallelism_divides_what_is_around_and_nothing_else():
    whole, split = tiles("llama-3-70b", 8)[0], tiles("llama-3-70b", 8, split=True)[0]
    assert split.around == pytest.approx(whole.around / 8)
    assert split.inside == pytest.approx(whole.inside)
    # Inputs and outputs of two norms, two bytes each.
    assert whole.around == 4 * 2 * 2048 * 8192


def test_without_fused_attention_tiles_are_those_of_korthikanti_2022():
    found, _, _ = tiles("gpt-3-175b", 8, flash_attention=False)
    published = korthikanti_activations(2048, 12288, 96, 2048, 8)
    # 10 of its 34 bytes per number are whole on every rank.
    assert found.around == pytest.approx(10 * 2048 * 12288)
    assert found.total == pytest.approx(published, rel=0.01)


def test_the_published_model_has_the_size_and_the_operations_that_were_reported():
    assert total_parameters(MODEL_3B) == pytest.approx(3.57e9, rel=0.005)
    # 363.66 TFLOP/s at 14,167.25 tokens per second per GPU.
    plan = Training(micro_batch_size=1, global_batch_size=1, sequence_length=SEQUENCE)
    reported = 363.66e12 / TENSOR_RUNS[0].rate
    counted = model_operations(MODEL_3B, plan) / SEQUENCE
    assert counted == pytest.approx(reported, rel=0.02)


def test_every_published_run_fits_as_modelled():
    assert all(model_tensor_run(one, "efa-v2").fit.runs for one in TENSOR_RUNS)


def test_the_model_is_within_a_tenth_inside_the_node_and_a_quarter_outside():
    for one, rate in zip(TENSOR_RUNS, modeled_token_rates("efa-v2"), strict=True):
        assert rate == pytest.approx(one.rate, rel=0.1 if one.ranks <= 8 else 0.25)


def test_most_of_the_measured_loss_is_the_size_of_the_group():
    measured = speed_loss(published_tensor_run(8).rate, published_tensor_run(16).rate)
    assert measured == pytest.approx(0.434, abs=5e-4)
    eight = model_tensor_run(published_tensor_run(8), "efa-v2").token_rate
    apart = speed_loss(eight, model_tensor_run(published_tensor_run(16), "efa-v2").token_rate)
    joined = speed_loss(
        eight, model_tensor_run(published_tensor_run(16), "efa-v2", gpus_per_node=16).token_rate
    )
    assert measured / 2 < joined < apart < measured


@pytest.mark.parametrize("gpu", ["h100", "b200"])
def test_a_layer_in_pieces_waits_for_its_first_and_last_pieces_only(gpu):
    job = tensor_job(tensor_run("llama-3-70b", gpu, 8, 4096, overlap=True))
    blocking = play_layer(job, 1)
    assert blocking.account.length == pytest.approx(job.blocking.total)
    assert blocking.account.exposed == pytest.approx(4 * blocking.gather)
    for pieces in (2, 4, 8, 16):
        found = play_layer(job, pieces)
        assert found.account.exposed == pytest.approx(4 * blocking.gather / pieces)
        assert found.account.compute == pytest.approx(blocking.account.compute)


def test_the_layers_of_a_step_and_what_is_left_out_are_the_estimate():
    for overlap in (False, True):
        job = tensor_job(tensor_run("llama-3-8b", "h100", 4, 8192, overlap=overlap))
        parts = job.estimate
        rest = parts.optimizer + parts.other + parts.data_parallel
        assert job.left_out > rest
        layers = parts.tensor_parallel + parts.compute
        assert 32 * job.layer.total < layers < 1.2 * 32 * job.layer.total
