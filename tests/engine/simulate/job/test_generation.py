"""A prompt and its tokens by two ways: bytes by the formulas, collectives of every other page."""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.formulas.inference import even_tokens, weights_over_activations
from engine.formulas.parameters import dense_layer_parameters
from engine.run.parallelism import Cluster, Training
from engine.simulate.collectives.collective import collective_time
from engine.simulate.job.generation import (
    ServingJob,
    forward_pass,
    generate,
    generation_token_rate,
    memory_per_gpu,
)
from engine.simulate.layer.device_model import rank_group, rank_rates
from tests.each import each

LLAMA = MODELS["llama-3-70b"]
LAYER = dense_layer_parameters(LLAMA).total


def serving(batch=1, prompt=1024, ranks=8, new_tokens=16):
    cluster = Cluster(
        gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9
    )
    training = Training(micro_batch_size=1, global_batch_size=1, sequence_length=prompt)
    return ServingJob(
        model=LLAMA,
        rank=rank_rates(cluster, training),
        ranks=ranks,
        batch=batch,
        prompt=prompt,
        new_tokens=new_tokens,
    )


# Derived by hand from the shapes: P_layer / 4h.
@each(
    ("model", "tokens", "printed"),
    [
        ("llama-2-7b", 1, "12,352"),
        ("llama-3-70b", 1, "26,112"),
        ("llama-2-7b", 4096, "3"),
        ("llama-3-70b", 4096, "6"),
    ],
)
def test_weights_are_so_many_times_as_many_bytes(model, tokens, printed):
    one = MODELS[model]
    found = weights_over_activations(dense_layer_parameters(one).total, tokens, one.hidden_size)
    assert f"{found:,.0f}" == printed


def test_at_the_even_number_of_tokens_both_send_as_much():
    tokens = even_tokens(LAYER, LLAMA.hidden_size)
    assert weights_over_activations(LAYER, tokens, LLAMA.hidden_size) == pytest.approx(1)


@each("ranks", [2, 8, 16])
def test_the_passes_send_what_the_formulas_say(ranks):
    one = serving(ranks=ranks)
    zero, tensor = (forward_pass(one, way, 1, 1024) for way in ("zero", "tensor"))
    expected = weights_over_activations(LAYER, 1, LLAMA.hidden_size)
    assert zero.sent / tensor.sent == pytest.approx(expected)


def test_a_token_waits_for_two_all_reduces_in_each_layer():
    one = serving()
    found = forward_pass(one, "tensor", 1, 1024)
    each_sum = collective_time(one.rank, rank_group(one.rank, 8, 1), 2.0 * LLAMA.hidden_size)
    assert found.time - found.computing == pytest.approx(2 * LLAMA.num_layers * each_sum)


def test_one_token_reads_all_weights_of_its_gpu():
    one = serving()
    found = forward_pass(one, "tensor", 1, 1)
    weights = 2.0 * LLAMA.num_layers * LAYER / 8 / one.rank.memory
    assert found.computing == pytest.approx(weights, rel=1e-3)


def test_a_token_is_faster_by_tensor_parallelism_whatever_the_batch():
    for batch in (1, 8, 64, 512):
        one = serving(batch=batch, prompt=512)
        assert forward_pass(one, "tensor", 1, 512).time < forward_pass(one, "zero", 1, 512).time


def test_many_prompts_are_faster_by_gathered_weights():
    one = serving(batch=64)
    assert forward_pass(one, "zero", 1024, 1024).time < forward_pass(one, "tensor", 1024, 1024).time


def test_one_prompt_is_not():
    one = serving(batch=1)
    assert forward_pass(one, "zero", 1024, 1024).time > forward_pass(one, "tensor", 1024, 1024).time


def test_gathering_takes_as_long_for_one_sequence_as_for_eight():
    one, eight = (forward_pass(serving(batch=b), "zero", 1, 1024) for b in (1, 8))
    assert one.time == eight.time


@each("way", ["zero", "tensor"])
def test_the_clock_ends_with_all_tokens_and_all_bytes(way):
    found = generate(serving(), way)
    end = found.ends[-1]
    assert found.passes_done(end) == len(found.passes) == 16
    assert found.bytes_sent(end) == pytest.approx(sum(one.sent for one in found.passes))
    assert 0 < found.passes_done(end / 2) < 16


def test_the_first_pass_gives_the_first_token():
    found = generate(serving(new_tokens=1), "tensor")
    assert len(found.passes) == 1


def test_gathered_weights_are_held_beside_the_share():
    one = serving(batch=8)
    assert memory_per_gpu(one, "zero") - memory_per_gpu(one, "tensor") == pytest.approx(
        2 * 2.0 * LAYER
    )


def test_more_sequences_give_more_tokens_per_second():
    rates = [generation_token_rate(serving(batch=b), "tensor") for b in (1, 8, 64)]
    assert rates == sorted(rates)
