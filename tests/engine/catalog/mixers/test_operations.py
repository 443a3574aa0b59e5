"""Operations of models whose layers differ, against the sums that Megatron-LM prints as FLOP.

The formulas are those of `num_floating_point_operations` (Megatron-LM at d98e8a64, August 2026) and
of Megatron-Bridge's `flop_utils.py` (067f987d), for one token forward.
"""

import pytest

from engine.catalog.recent_models import RECENT_MODELS
from engine.formulas.token_operations import token_operations

LENGTH = 8192


def attention(hidden, heads, groups, head, length, keys=None):
    share = heads * head / hidden
    linear = 4 * hidden * share * (hidden + hidden * groups / heads)
    return linear + 2 * (keys or length) * hidden * share


def mamba(hidden, state, groups, heads):
    inner = 2 * hidden
    into = 2 * hidden * (2 * inner + 2 * groups * state + heads)
    return into + 7 * inner * state + 2 * inner * hidden


def delta(hidden, key_heads, value_heads, size=128, kernel=4):
    keys, values = key_heads * size, value_heads * size
    state = value_heads * size**2 * 4
    into = hidden * (2 * keys + 2 * values + 2 * value_heads)
    return 2 * (into + kernel * (2 * keys + values) + state + hidden * values)


def experts(hidden, width, each, shared, latent=0, matrices=2):
    routed = 2 * matrices * (latent or hidden) * width * each + 4 * hidden * latent
    return routed + 2 * matrices * hidden * shared


def test_nemotron_h_has_the_operations_of_megatron():
    # 24 layers of Mamba-2, 4 of attention, 24 feed-forward parts of 21,504.
    expected = 24 * mamba(4096, 128, 8, 128) + 4 * attention(4096, 32, 8, 128, LENGTH)
    expected += 24 * 4 * 4096 * 21504 + 2 * 4096 * 131072
    found = token_operations(RECENT_MODELS["nemotron-h-8b"], LENGTH, "causal")
    assert found == pytest.approx(3 * expected, rel=2e-3)


def test_nemotron_3_super_has_the_operations_of_megatron():
    # 40 layers of Mamba-2, 8 of attention, 40 of experts that work in 1,024 of 4,096.
    expected = 40 * mamba(4096, 128, 8, 128) + 8 * attention(4096, 32, 2, 128, LENGTH)
    expected += 40 * experts(4096, 2688, 22, 5376, latent=1024) + 2 * 4096 * 131072
    router = 40 * 2 * 4096 * 512  # which Megatron leaves out
    found = token_operations(RECENT_MODELS["nemotron-3-super"], LENGTH, "causal")
    assert found == pytest.approx(3 * (expected + router), rel=2e-3)


def test_qwen3_next_has_the_operations_of_megatron():
    # 36 layers of gated DeltaNet, 12 of attention with a gate of 16 heads of 256.
    gate = 2 * 2048 * 16 * 256
    expected = 36 * delta(2048, 16, 32) + 12 * (attention(2048, 16, 2, 256, LENGTH) + gate)
    expected += 48 * experts(2048, 512, 10, 512, matrices=3) + 2 * 2048 * 151936
    router = 48 * 2 * 2048 * 512
    found = token_operations(RECENT_MODELS["qwen3-next-80b-a3b"], LENGTH, "causal")
    assert found == pytest.approx(3 * (expected + router), rel=2e-3)


def test_windows_have_the_operations_of_megatron_bridge():
    # A query of a layer with a window sees 1,024 - 1,024 x 1,023 / (2 x 8,192) keys in the mean.
    inside = 1024 - 1024 * 1023 / (2 * LENGTH)
    windowed = attention(5376, 32, 16, 128, LENGTH, keys=2 * inside)
    expected = 52 * windowed + 10 * attention(5376, 32, 16, 128, LENGTH)
    expected += 62 * 6 * 5376 * 21504 + 2 * 5376 * 262208
    found = token_operations(RECENT_MODELS["gemma-3-27b"], LENGTH, "causal")
    assert found == pytest.approx(3 * expected, rel=2e-3)


def test_chosen_keys_have_the_operations_of_megatron_bridge():
    model = RECENT_MODELS["deepseek-v3.2"]
    ((kind, _), *_) = model.mix.kinds
    # Keys and values in the latent space: 512 and 64 of a key, 512 of a value, for 128 heads.
    chosen = 2048 - 2048 * 2047 / (2 * LENGTH)
    core = 128 * (512 + 64 + 512) * chosen
    index = 64 * (128 + 1) * (LENGTH + 1) / 2
    assert kind.mixer.operations(kind, LENGTH, 0.5) == pytest.approx(2 * (core + index))


def compressed(length, ratio, heads=64, head=512, window=128, top=512):
    """Keys and values of one layer of DeepSeek-V4-Flash, and its indexer, in multiply-adds."""
    chosen = min(top, length // 4)
    index = 64 * 128 * length / 4 / 2  # half the pairs, where Megatron-Bridge counts all
    keys = {0: window, 4: window + chosen * (1 - chosen * 4 / (2 * length)), 128: window}[ratio]
    core = heads * head * length / 128 if ratio == 128 else 0
    return heads * keys * head * 2 + core + (index if ratio == 4 else 0)


@pytest.mark.parametrize("length", [4096, 65536])
def test_compressed_keys_have_the_operations_of_megatron_bridge(length):
    model = RECENT_MODELS["deepseek-v4-flash"]
    counts = dict(
        zip([kind for kind, _ in model.mix.kinds], model.mix.count(range(43)), strict=True)
    )
    found = sum(n * kind.mixer.operations(kind, length, 0.5) for kind, n in counts.items())
    expected = 2 * (
        2 * compressed(length, 0) + 21 * compressed(length, 4) + 20 * compressed(length, 128)
    )
    # Their window counts the first tokens, which see less of it, in full.
    assert found == pytest.approx(expected, rel=0.01)


def test_projections_of_deepseek_v4_have_the_operations_of_megatron_bridge():
    model = RECENT_MODELS["deepseek-v4-flash"]
    hidden, heads, head, rank = 4096, 64, 512, 1024
    common = rank * (hidden + heads * head) + hidden * head
    common += heads * head * 1024 + 8 * 1024 * hidden
    more = {0: 0, 128: 2 * hidden * head}
    more[4] = 4 * hidden * head + 4 * hidden * 128 + rank * 64 * 128 + hidden * 64
    streams = 2 * 24 * 4 * hidden  # which they leave out
    for kind, _ in model.mix.kinds:
        elements = sum(rows * columns for _, rows, columns, _ in kind.mixer.matrices(kind))
        assert elements == common + more[kind.mixer.ratio] + streams


@pytest.mark.parametrize("key", ["qwen3-next-80b-a3b", "nemotron-3-nano", "kimi-linear-48b-a3b"])
def test_a_longer_sequence_costs_the_layers_with_attention_alone(key):
    model = RECENT_MODELS[key]
    short, long = (token_operations(model, length, "causal") for length in (8192, 1 << 20))
    pairs = [kind for kind, _ in model.mix.kinds if kind.mixer is None or kind.mixer.attends]
    counts = dict(
        zip([kind for kind, _ in model.mix.kinds], model.mix.count(range(999)), strict=True)
    )
    head = (
        model.head_size + (model.value_head_size or model.head_size)
    ) * model.num_attention_heads
    more = sum(counts[kind] for kind in pairs) * head * ((1 << 20) - 8192) / 2
    assert long - short == pytest.approx(6 * more, rel=1e-9)
