"""What each kind of layer costs: operations, caches and exchanges against hand-worked numbers."""

import pytest

from engine.catalog.recent_models import EVERY_MODEL
from engine.formulas.token_operations import token_operations
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_kinds import cached_bytes, context_exchanges, kind_costs

MODELS = [
    "qwen3-next-80b-a3b",
    "nemotron-3-super",
    "deepseek-v3.2",
    "kimi-linear-48b-a3b",
    "gemma-3-27b",
    "deepseek-v4-flash",
    "llama-3-70b",
]


@pytest.mark.parametrize("key", MODELS)
@pytest.mark.parametrize("length", [4096, 1 << 20])
def test_the_kinds_add_up_to_the_operations_of_a_token(key, length):
    # The formula counts norms and filters as parameters, which no product has.
    model = EVERY_MODEL[key]
    total = sum(kind.total for kind in kind_costs(model, length, 0.5))
    assert total == pytest.approx(token_operations(model, length, "causal"), rel=5e-3)
    assert sum(kind.layers for kind in kind_costs(model, length, 0.5)) == model.num_layers + 1


def test_a_state_has_one_size_and_full_attention_keeps_every_token():
    # 36 states of 32 x 128 x 128 in fp32 with three tokens of 8,192 channels; 12 layers of 2 heads
    # of 256, keys and values.
    model = EVERY_MODEL["qwen3-next-80b-a3b"]
    states = 36 * (4 * 32 * 128 * 128 + 2 * 3 * 8192)
    assert cached_bytes(model, 8192) == states + 12 * 8192 * 2 * 2 * 256 * 2


def test_a_latent_is_kept_once_and_the_indexer_s_keys_beside_it():
    # DeepSeek-V3.2: 512 + 64 of the latent, 128 of an index key, 61 layers.
    assert cached_bytes(EVERY_MODEL["deepseek-v3.2"], 1000) == 61 * 1000 * 2 * (576 + 128)


def test_a_window_keeps_its_tokens_alone():
    # Gemma 3 27B: 52 layers keep 1,024 tokens of 16 heads of 128, ten keep all.
    kept = cached_bytes(EVERY_MODEL["gemma-3-27b"], 100_000)
    assert kept == 2 * 2 * 16 * 128 * (52 * 1024 + 10 * 100_000)


def exchanges(key, ranks, tensor=1, length=65_536):
    plan = Plan(
        world_size=64, context_parallel=ranks, tensor_parallel=tensor, sequence_parallel=tensor > 1
    )
    training = Training(micro_batch_size=1, global_batch_size=64, sequence_length=length)
    rank = rank_rates(cluster_of("dgx-h100"), training)
    return {one.letter: one for one in context_exchanges(EVERY_MODEL[key], plan, training, rank)}


def test_linear_layers_exchange_heads_and_attention_keys_and_values():
    found = exchanges("qwen3-next-80b-a3b", 8)
    # Queries, keys, values, gates, decays and strengths out, results back: 2 x 2,048 + 2 x 4,096 +
    # 2 x 32 + 4,096 elements of 8,192 tokens, seven eighths of them to others.
    assert found["G"].received == 2 * 8192 * (4096 + 8192 + 64 + 4096) * 7 / 8
    assert found["*"].received == 2 * 65_536 * 7 / 8 * 2 * 2 * 256
    assert (found["G"].way, found["*"].way) == ("heads", "ring")


def test_chosen_keys_are_gathered_as_latents():
    found = exchanges("deepseek-v3.2", 8)["S"]
    assert (found.way, found.received) == ("gather", 2 * 65_536 * 7 / 8 * (576 + 128))


def test_windows_gather_all_keys_by_heads():
    found = exchanges("gemma-3-27b", 4, tensor=8)["W"]
    assert (found.way, found.received) == ("gather", 2 * 65_536 * 3 / 4 * 2 * 2 * 128)


def test_one_rank_exchanges_nothing():
    assert {one.received for one in exchanges("nemotron-3-nano", 1).values()} == {0.0}
