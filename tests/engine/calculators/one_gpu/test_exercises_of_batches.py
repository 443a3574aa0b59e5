"""The exercises of path A from recomputation on: what each answer says, worked by hand."""

import math

import pytest

from tests.engine.calculators.asked import solved

LLAMA_8B, LLAMA_70B = 8.0303e9, 70.554e9
H100 = 989e12
MEMORY = 79.11 * 2**30


def close(value, rel=1e-3):
    return pytest.approx(value, rel=rel)


# Activation recomputation

LLAMA_70B_LAYERS = {
    "model": "llama-3-70b",
    "world_size": 64,
    "tensor_parallel": 8,
    "framework": "megatron",
    "micro_batch_size": 1,
}


def test_without_sequence_parallelism_four_tensors_of_a_layer_stay_whole():
    split = solved("recompute_board", **LLAMA_70B_LAYERS)
    whole = solved("recompute_board", **LLAMA_70B_LAYERS, sequence_parallel=False)
    # Of a token in 16 bits: inputs and outputs of two norms; queries, once more rotated, and the
    # attended; keys, once more rotated, and values; gate, up and product. A sum for each of 64
    # heads in 32 bits.
    norms = 2 * 4 * 8192
    others = 2 * (3 * 8192 + 3 * 1024 + 3 * 28_672) + 4 * 64
    tokens = 80 * 8192
    assert split.kept == close(tokens * (norms + others) / 8)
    assert whole.kept == close(tokens * (norms + others / 8))
    assert (whole.kept - split.kept) / 80 == close((8 - 1) * 8192 * 8192)


@pytest.mark.parametrize(
    ("length", "placed"),
    [(8192, {}), (131_072, {"sequence_length": 131_072, "micro_batch_size": 1})],
)
def test_gate_and_up_run_again_for_a_smaller_share_of_a_longer_sequence(length, placed):
    dropped = {"keep_gate": False, "keep_up": False, "keep_product": False}
    found = solved("recompute_board", **dropped, **placed).extra
    again = 32 * 2 * 2 * 4096 * 14_336
    matrices = 2 * (32 * (4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14_336) + 4096 * 128_256)
    attention = 32 * 4 * 4096 * length / 2
    assert found == close(again / (3 * (matrices + attention)))
    # Its complement: the longer the sequence, the more of a step is attention.
    assert attention / (matrices + attention) == close({8192: 0.1252, 131_072: 0.6960}[length])


# The largest batch


def may_be_filled(margin):
    """What the margin leaves of what programs can allocate on an H100."""
    return MEMORY * (1 - margin)


def test_two_measurements_give_the_largest_micro_batch():
    one, two = (solved("largest_batch", micro_batch_size=n).total for n in (1, 2))
    for margin in (0.05, 0.025):
        found = solved("largest_batch", margin=margin)
        assert found.per_sequence == close(two - one)
        assert found.fixed == close(one - (two - one))
        assert found.usable == close(may_be_filled(margin))
        assert found.largest == math.floor((may_be_filled(margin) - one) / (two - one)) + 1


LLAMA_70B_BATCH = {"model": "llama-3-70b", "world_size": 64, "sequence_length": 8192}


def test_what_a_sequence_of_70b_adds_and_what_is_fixed_are_more_than_a_gpu_has():
    found = solved("largest_batch", **LLAMA_70B_BATCH)
    assert found.fixed > 16 * LLAMA_70B / 64
    assert found.per_sequence + found.fixed > MEMORY
    assert found.largest == 0


def test_recomputing_every_layer_makes_room_for_a_sequence_of_70b():
    found = solved("largest_batch", **LLAMA_70B_BATCH, recompute="full")
    # The states, and the input of every layer.
    assert found.fixed > 16 * LLAMA_70B / 64
    assert found.per_sequence > 80 * 2 * 8192 * 8192
    assert found.largest == (may_be_filled(0.05) - found.fixed) // found.per_sequence > 0


def test_tensor_parallelism_of_8_makes_room_for_more_on_an_eighth_of_the_ranks():
    plain = solved("largest_batch", **LLAMA_70B_BATCH)
    found = solved("largest_batch", **LLAMA_70B_BATCH, tensor_parallel=8)
    # Not all that a sequence adds is divided.
    assert plain.per_sequence / 8 < found.per_sequence < plain.per_sequence / 4
    assert found.largest == (may_be_filled(0.05) - found.fixed) // found.per_sequence > 1
    assert (plain.ranks, found.ranks) == (64, 64 / 8)


# Gradient accumulation

TOKENS = (9, 6, 1, 1, 2, 1, 3, 1)


def means(count):
    return solved("accumulation_steps", num_microbatches=count, lengths="uneven", weighting="means")


def mean_of_means(texts):
    """The gradient of a mean of means over groups of the eight texts, off from the right one.

    Of each text its mean gradient is known: eight times its part of the step of eight.
    """
    gradients = [[8 * one for one in part.gradient] for part in means("8").step.parts]
    weights, right = [0.0] * 8, [own / sum(TOKENS) for own in TOKENS]
    for group in texts:
        of_group = sum(TOKENS[at] for at in group)
        for at in group:
            weights[at] = TOKENS[at] / of_group / len(texts)

    def added(shares):
        return [
            sum(share * one for share, one in zip(shares, column, strict=True))
            for column in zip(*gradients, strict=True)
        ]

    return math.dist(added(weights), added(right)) / math.hypot(*added(right))


def test_one_text_at_a_time_the_mean_of_means_is_off_by_four_fifths():
    assert [part.tokens for part in means("8").step.parts] == list(TOKENS)
    assert means("8").off == close(mean_of_means([(at,) for at in range(8)]))
    assert means("8").off == close(0.826)


def test_a_token_of_a_text_with_one_token_weighs_as_much_as_nine_of_the_longest():
    found = means("8")
    weight = {part.tokens: part.weight for part in found.step.parts}
    assert weight[1] == close(1 / 8)
    assert weight[9] == close(1 / 8 / 9)
    assert found.heaviest == close(9)


def test_larger_micro_batches_even_the_numbers_of_tokens_out():
    assert means("2").off == close(mean_of_means([(0, 1, 2, 3), (4, 5, 6, 7)]))
    assert means("2").off < means("8").off
    assert means("2").heaviest == close((9 + 6 + 1 + 1) / (2 + 1 + 3 + 1))
    assert means("2").heaviest < means("8").heaviest


@pytest.mark.parametrize("count", ["2", "8"])
def test_only_dividing_by_the_tokens_of_the_step_removes_the_error(count):
    assert means(count).off > 0
    found = solved("accumulation_steps", num_microbatches=count, lengths="uneven")
    assert found.off == 0


def test_sixteen_micro_batches_send_their_gradients_and_parameters_16_times_or_once():
    sent = {
        scheme: solved("accumulation_cost", scheme=scheme, num_microbatches=16).sent
        for scheme in ("fsdp", "fsdp_once", "fsdp_keep", "zero1")
    }
    around = 63 / 64 * LLAMA_8B
    # Gradients in 4 bytes; parameters in 2, for the forward and for the backward pass.
    assert sent["fsdp"] == close(around * 16 * (4 + 2 * 2))
    assert sent["fsdp_once"] == close(around * (4 + 16 * 2 * 2))
    assert sent["fsdp_keep"] == close(around * (4 + 2))
    assert sent["fsdp_keep"] == close(sent["zero1"])


def test_whole_parameters_and_gradients_cost_up_to_six_bytes_per_parameter():
    held = {
        scheme: solved("accumulation_cost", scheme=scheme, num_microbatches=16).held
        for scheme in ("fsdp", "fsdp_once", "fsdp_keep")
    }
    whole = 63 / 64 * LLAMA_8B
    assert held["fsdp_once"] - held["fsdp"] == close(4 * whole)
    # Of the parameters, some layers are whole anyway, while they are gathered.
    assert 4 * whole < held["fsdp_keep"] - held["fsdp"] < (4 + 2) * whole
    assert held["fsdp"] > 16 * LLAMA_8B / 64


# The gradient noise scale


def test_a_quarter_of_the_steps_costs_four_times_the_tokens():
    small, large = (solved("noise_scale", batch=b) for b in (5e5, 8e6))
    assert small.steps == close(10_000 * (1 + 2e6 / 5e5))
    assert large.steps == close(10_000 * (1 + 2e6 / 8e6))
    assert small.tokens == close(10_000 * (2e6 + 5e5))
    assert large.tokens == close(10_000 * (2e6 + 8e6))
    assert large.steps / small.steps == close(1 / 4)
    assert large.tokens / small.tokens == close(4)


def test_one_port_of_100_gigabits_for_eight_gpus_feeds_a_32nd_of_the_gpus():
    slow, fast = (solved("noise_scale", port=port) for port in (1_562_500_000.0, 50e9))
    # 100 Gb/s, and eight times 400 Gb/s, are what a node sends.
    assert slow.per_gpu == close(H100 / (100e9 / 8))
    assert slow.gpus == math.floor(1e6 / (H100 / (100e9 / 8)))
    assert fast.gpus == math.floor(1e6 / (H100 / (8 * 400e9 / 8)))
    assert fast.gpus / slow.gpus == close(8 * 400 / 100, rel=0.06)  # rounded down to whole GPUs
