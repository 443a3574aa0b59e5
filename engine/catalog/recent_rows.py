"""Rows of recent models: sizes of the files that their authors released, and of what they are cut.

Each size is held against the keys of the published configuration by a test, and the totals against
the published numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.core.units import Count, Parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentRow:
    """A model.

    Attributes:
        key: of the catalog.
        name: as its authors write it.
        shape: layers, hidden size, query heads, key-value heads, feed-forward size, vocabulary.
        others: what else differs from a Llama.
        layers: what tells its layers apart (`engine.catalog.mixers.mix.LayerSizes`).
        where: repository of the file, as read on `READ`.
        total: parameters of the language model as published.
        active: of them at work on a token, as published, rounded; 0: all.
    """

    key: str
    name: str
    shape: tuple[Count, Count, Count, Count, Count, Count]
    others: Mapping[str, Any]
    layers: Mapping[str, Any]
    where: str
    total: Parameters
    active: Parameters = 0.0


READ = "2026-11-29"
_TIED = {"tied_embeddings": True}


def _of(experts: int, each: int, width: int, shared: int = 1, **others: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "num_experts": experts,
        "experts_per_token": each,
        "expert_ffn_hidden_size": width,
        "num_shared_experts": shared,
        **others,
    }


def _latents(head: int, query: int = 0, value: int = 128) -> dict[str, Any]:
    return {
        "attention": "mla",
        "head_size": head,
        "query_latent_size": query,
        "key_value_latent_size": 512,
        "rotary_head_size": 64,
        "value_head_size": value,
    }


def _deltas(values: int) -> dict[str, Any]:
    """Three layers of gated DeltaNet with so many heads of values, then gated attention."""
    return {
        "order": "GGG*",
        "gated": True,
        "key_heads": 16,
        "value_heads": values,
        "key_size": 128,
        "value_size": 128,
        "kernel": 4,
    }


def _kimi(order: str, heads: int, rank: int, **others: Any) -> dict[str, Any]:  # noqa: ANN401
    sizes = {"key_heads": heads, "value_heads": heads, "key_size": 128, "value_size": 128}
    return {"order": order, "gate_rank": rank, "kernel": 4, **sizes, **others}


def _indexed(heads: int, tokens: int = 2048) -> dict[str, Any]:
    return {"order": "S", "index_heads": heads, "index_size": 128, "index_tokens": tokens}


def _mamba(order: str, heads: int, **others: Any) -> dict[str, Any]:  # noqa: ANN401
    sizes = {"state_heads": heads, "state_head_size": 64, "state_size": 128, "state_groups": 8}
    return {"order": order, "kernel": 4, **sizes, **others}


def _compressed(order: str, rank: int, groups: int, tokens: int) -> dict[str, Any]:
    """Attention to a window of 128 and to compressed keys, in four residual streams."""
    index = {"index_heads": 64, "index_size": 128, "index_tokens": tokens}
    output = {"query_rank": rank, "output_rank": 1024, "output_groups": groups}
    return {"order": order, "window": 128, "streams": 4, "prediction": "W", **output, **index}


_HEAD = {"head_size": 256}
_NANO = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
_SUPER = "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME"
_ULTRA = (
    "MEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEME"
    "MEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
)
_FIVE = "WWWWW*"

# A row is a line or two.
# ruff: noqa: E501
# fmt: off
RECENT_ROWS: tuple[RecentRow, ...] = (
    RecentRow(key="qwen3-next-80b-a3b", name="Qwen3-Next 80B-A3B", shape=(48, 2048, 16, 2, 5120, 151936), others=_HEAD | _of(512, 10, 512), layers=_deltas(32),
        where="Qwen/Qwen3-Next-80B-A3B-Instruct", total=79.7e9, active=3.9e9),
    RecentRow(key="qwen3.5-0.8b", name="Qwen3.5 0.8B", shape=(24, 1024, 8, 2, 3584, 248320), others=_TIED | _HEAD, layers=_deltas(16), where="Qwen/Qwen3.5-0.8B", total=0.75e9),
    RecentRow(key="qwen3.5-2b", name="Qwen3.5 2B", shape=(24, 2048, 8, 2, 6144, 248320), others=_TIED | _HEAD, layers=_deltas(16), where="Qwen/Qwen3.5-2B", total=1.88e9),
    RecentRow(key="qwen3.5-4b", name="Qwen3.5 4B", shape=(32, 2560, 16, 4, 9216, 248320), others=_TIED | _HEAD, layers=_deltas(32), where="Qwen/Qwen3.5-4B", total=4.2e9),
    RecentRow(key="qwen3.5-9b", name="Qwen3.5 9B", shape=(32, 4096, 16, 4, 12288, 248320), others=_HEAD, layers=_deltas(32), where="Qwen/Qwen3.5-9B", total=9e9),
    RecentRow(key="qwen3.5-27b", name="Qwen3.5 27B", shape=(64, 5120, 24, 4, 17408, 248320), others=_HEAD, layers=_deltas(48), where="Qwen/Qwen3.5-27B", total=27e9),
    RecentRow(key="qwen3.5-35b-a3b", name="Qwen3.5 35B-A3B", shape=(40, 2048, 16, 2, 512, 248320), others=_HEAD | _of(256, 8, 512), layers=_deltas(32), where="Qwen/Qwen3.5-35B-A3B", total=35e9, active=3e9),
    RecentRow(key="qwen3.5-122b-a10b", name="Qwen3.5 122B-A10B", shape=(48, 3072, 32, 2, 1024, 248320), others=_HEAD | _of(256, 8, 1024), layers=_deltas(64), where="Qwen/Qwen3.5-122B-A10B", total=122e9, active=10e9),
    RecentRow(key="qwen3.5-397b-a17b", name="Qwen3.5 397B-A17B", shape=(60, 4096, 32, 2, 1024, 248320), others=_HEAD | _of(512, 10, 1024), layers=_deltas(64), where="Qwen/Qwen3.5-397B-A17B", total=397e9, active=17e9),
    RecentRow(key="kimi-linear-48b-a3b", name="Kimi Linear 48B-A3B", shape=(27, 2304, 32, 32, 9216, 163840), others=_of(256, 8, 1024, num_dense_layers=1) | _latents(192), layers=_kimi("KKK*" * 6 + "KK*", 32, 128),
        where="moonshotai/Kimi-Linear-48B-A3B-Base", total=49.1e9, active=3e9),
    RecentRow(key="kimi-k2.5", name="Kimi K2.5", shape=(61, 7168, 64, 64, 18432, 163840), others=_of(384, 8, 2048, num_dense_layers=1) | _latents(192, 1536), layers={}, where="moonshotai/Kimi-K2.5", total=1.026e12, active=32e9),
    RecentRow(key="kimi-k3", name="Kimi K3", shape=(93, 7168, 96, 96, 33792, 163840), others=_of(896, 16, 3072, 2, num_dense_layers=1) | _latents(192, 1536),
        layers=_kimi("KKK*" * 22 + "KKK**", 96, 0, gated=True, expert_hidden_size=3584), where="moonshotai/Kimi-K3", total=2.78e12, active=104e9),
    RecentRow(key="deepseek-v3.2", name="DeepSeek-V3.2", shape=(61, 7168, 128, 128, 18432, 129280), others=_of(256, 8, 2048, num_dense_layers=3, nodes_per_token=4, num_prediction_layers=1) | _latents(192, 1536), layers=_indexed(64),
        where="deepseek-ai/DeepSeek-V3.2", total=671e9, active=37e9),
    RecentRow(key="deepseek-v4-flash", name="DeepSeek-V4-Flash", shape=(43, 4096, 64, 1, 2048, 129280), others={"head_size": 512, "num_prediction_layers": 1} | _of(256, 6, 2048), layers=_compressed("WW" + "CH" * 20 + "C", 1024, 8, 512),
        where="deepseek-ai/DeepSeek-V4-Flash", total=284e9, active=13e9),
    RecentRow(key="deepseek-v4-pro", name="DeepSeek-V4-Pro", shape=(61, 7168, 128, 1, 3072, 129280), others={"head_size": 512, "num_prediction_layers": 1} | _of(384, 6, 3072), layers=_compressed("H" + "HC" * 30, 1536, 16, 1024),
        where="deepseek-ai/DeepSeek-V4-Pro", total=1.6e12, active=49e9),
    RecentRow(key="glm-5", name="GLM-5", shape=(78, 6144, 64, 64, 12288, 154880), others=_of(256, 8, 2048, num_dense_layers=3, num_prediction_layers=1) | _latents(256, 2048, 256), layers=_indexed(32),
        where="zai-org/GLM-5", total=744e9, active=40e9),
    RecentRow(key="minimax-m2", name="MiniMax-M2", shape=(62, 3072, 48, 8, 1536, 200064), others={"head_size": 128} | _of(256, 8, 1536, 0), layers={}, where="MiniMaxAI/MiniMax-M2", total=229e9, active=10e9),
    RecentRow(key="nemotron-h-8b", name="Nemotron-H 8B", shape=(52, 4096, 32, 8, 21504, 131072), others={"mlp": "gelu", "head_size": 128}, layers=_mamba("M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-", 128), where="nvidia/Nemotron-H-8B-Base-8K", total=8.1e9),
    RecentRow(key="nemotron-3-nano", name="Nemotron 3 Nano 30B-A3B", shape=(52, 2688, 32, 2, 1856, 131072), others={"mlp": "gelu", "head_size": 128} | _of(128, 6, 1856, 2), layers=_mamba(_NANO, 64),
        where="nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", total=31.6e9, active=3.6e9),
    RecentRow(key="nemotron-3-super", name="Nemotron 3 Super 120B-A12B", shape=(88, 4096, 32, 2, 2688, 131072), others={"mlp": "gelu", "head_size": 128} | _of(512, 22, 2688, 2), layers=_mamba(_SUPER, 128, expert_hidden_size=1024),
        where="nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", total=120.6e9, active=12.7e9),
    RecentRow(key="nemotron-3-ultra", name="Nemotron 3 Ultra 550B-A55B", shape=(108, 8192, 64, 2, 5120, 131072), others={"mlp": "gelu", "head_size": 128} | _of(512, 22, 5120, 2), layers=_mamba(_ULTRA, 256, expert_hidden_size=2048),
        where="nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", total=550e9, active=55e9),
    RecentRow(key="gemma-3-27b", name="Gemma 3 27B", shape=(62, 5376, 32, 16, 21504, 262208), others=_TIED | {"head_size": 128}, layers={"order": (_FIVE * 11)[:62], "window": 1024}, where="google/gemma-3-27b-pt", total=27.0e9),
    RecentRow(key="gemma-4-31b", name="Gemma 4 31B", shape=(60, 5376, 32, 4, 21504, 262144), others=_TIED | {"head_size": 512}, layers={"order": _FIVE, "window": 1024, "window_head_size": 256, "window_key_value_heads": 16, "shared": True},
        where="google/gemma-4-31B-it", total=30.7e9),
    RecentRow(key="gemma-4-26b-a4b", name="Gemma 4 26B-A4B", shape=(30, 2816, 16, 2, 2112, 262144), others=_TIED | {"head_size": 512} | _of(128, 8, 704, 3), layers={"order": _FIVE, "window": 1024, "window_head_size": 256, "window_key_value_heads": 8, "shared": True},
        where="google/gemma-4-26B-A4B-it", total=25.2e9, active=3.8e9),
    RecentRow(key="olmo-3-7b", name="OLMo 3 7B", shape=(32, 4096, 32, 32, 11008, 100278), others={}, layers={"order": "WWW*", "window": 4096}, where="allenai/Olmo-3-1025-7B", total=7.3e9),
    RecentRow(key="olmo-3-32b", name="OLMo 3 32B", shape=(64, 5120, 40, 8, 27648, 100278), others={}, layers={"order": "WWW*", "window": 4096}, where="allenai/Olmo-3-1125-32B", total=32.2e9),
    RecentRow(key="ministral-3-3b", name="Ministral 3 3B", shape=(26, 3072, 32, 8, 9216, 131072), others=_TIED | {"head_size": 128}, layers={}, where="mistralai/Ministral-3-3B-Base-2512", total=3.4e9),
    RecentRow(key="ministral-3-8b", name="Ministral 3 8B", shape=(34, 4096, 32, 8, 14336, 131072), others={"head_size": 128}, layers={}, where="mistralai/Ministral-3-8B-Base-2512", total=8.5e9),
    RecentRow(key="ministral-3-14b", name="Ministral 3 14B", shape=(40, 5120, 32, 8, 16384, 131072), others={"head_size": 128}, layers={}, where="mistralai/Ministral-3-14B-Base-2512", total=13.5e9),
    # Sizes of the classes of Transformers 5.24.0, which name these repositories; the name of the
    # larger says 1T and A52B, and no finer total is published.
    RecentRow(key="mistral-small-4-119b", name="Mistral Small 4 119B", shape=(36, 4096, 32, 32, 12288, 131072), others=_of(128, 4, 2048) | _latents(128, 1024) | {"key_value_latent_size": 256}, layers={},
        where="mistralai/Mistral-Small-4-119B-2603", total=119e9),
    RecentRow(key="mistral-large-4-1t", name="Mistral Large 4 1T-A52B", shape=(72, 6144, 64, 64, 24576, 204800), others=_of(128, 4, 6144, num_dense_layers=1) | _latents(128), layers=_indexed(32),
        where="mistralai/Mistral-Large-4-1T-A52B", total=1.05e12, active=52e9),
)
# fmt: on
