"""Further published models, a row each: the sizes of the file that their authors released.

A row: key, name, layers, hidden size, query heads, key-value heads, feed-forward size, vocabulary,
what differs from a Llama, key of the bibliography (empty: the model's file). Where each file is,
and the published number of parameters, stand in `model_row_sources.py`.
"""

from collections.abc import Mapping
from typing import Any

Row = tuple[str, str, int, int, int, int, int, int, Mapping[str, Any], str]

_TIED = {"tied_embeddings": True}
_GPT = {"mlp": "gelu", "tied_embeddings": True, "biases": True}
_SC21 = _GPT | {"learned_positions": 2048}
_MPT = {"mlp": "gelu", "tied_embeddings": True}
_GPT2 = _GPT | {"learned_positions": 1024}
_OPT = _GPT | {"learned_positions": 2050}


def _of(experts: int, each: int, width: int, **others: int) -> dict[str, Any]:
    return {
        "num_experts": experts,
        "experts_per_token": each,
        "expert_ffn_hidden_size": width,
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


# A row is a line.
# ruff: noqa: E501
# fmt: off
DENSE_ROWS: tuple[Row, ...] = (
    ("gpt-1.7b", "GPT 1.7B", 24, 2304, 24, 24, 9216, 51200, _SC21, "narayanan2021"),
    ("gpt-3.6b", "GPT 3.6B", 30, 3072, 32, 32, 12288, 51200, _SC21, "narayanan2021"),
    ("gpt-7.5b", "GPT 7.5B", 36, 4096, 32, 32, 16384, 51200, _SC21, "narayanan2021"),
    ("gpt-18b", "GPT 18.4B", 40, 6144, 48, 48, 24576, 51200, _SC21, "narayanan2021"),
    ("gpt-39b", "GPT 39.1B", 48, 8192, 64, 64, 32768, 51200, _SC21, "narayanan2021"),
    ("gpt-76b", "GPT 76.1B", 60, 10240, 80, 80, 40960, 51200, _SC21, "narayanan2021"),
    ("gpt-146b", "GPT 145.6B", 80, 12288, 96, 96, 49152, 51200, _SC21, "narayanan2021"),
    ("gpt-310b", "GPT 310.1B", 96, 16384, 128, 128, 65536, 51200, _SC21, "narayanan2021"),
    ("gpt-1.5b", "GPT 1.5B", 22, 2304, 24, 24, 9216, 50304, _MPT, "qi2024"),
    ("gpt-14.6b", "GPT 14.6B", 46, 5120, 40, 40, 20480, 50304, _MPT, "qi2024"),
    # The candidate for BLOOM that its authors tried most plans of.
    ("bloom-181b", "BLOOM candidate 181B", 72, 14336, 64, 64, 57344, 250880, _MPT, "bigscience2022"),
    ("mpt-125m", "MPT 125M", 12, 768, 12, 12, 3072, 50368, _MPT, "mosaicml2023"),
    ("mpt-350m", "MPT 350M", 24, 1024, 16, 16, 4096, 50368, _MPT, "mosaicml2023"),
    ("mpt-760m", "MPT 760M", 24, 1536, 12, 12, 6144, 50368, _MPT, "mosaicml2023"),
    ("mpt-1b", "MPT 1B", 24, 2048, 16, 16, 8192, 50368, _MPT, "mosaicml2023"),
    ("mpt-3b", "MPT 3B", 32, 2560, 20, 20, 10240, 50368, _MPT, "mosaicml2023"),
    ("mpt-13b", "MPT 13B", 40, 5120, 40, 40, 20480, 50368, _MPT, "mosaicml2023"),
    ("mpt-30b", "MPT 30B", 48, 7168, 56, 56, 28672, 50368, _MPT, "mosaicml2023"),
    ("mpt-70b", "MPT 70B", 80, 8192, 64, 64, 32768, 50368, _MPT, "mosaicml2023"),
    ("gpt-2", "GPT-2", 12, 768, 12, 12, 3072, 50257, _GPT2, ""),
    ("gpt-2-xl", "GPT-2 XL", 48, 1600, 25, 25, 6400, 50257, _GPT2, ""),
    ("gpt-neox-20b", "GPT-NeoX 20B", 44, 6144, 64, 64, 24576, 50432, {"mlp": "gelu", "biases": True}, ""),
    ("opt-13b", "OPT 13B", 40, 5120, 40, 40, 20480, 50272, _OPT, ""),
    ("opt-66b", "OPT 66B", 64, 9216, 72, 72, 36864, 50272, _OPT, ""),
    ("falcon-40b", "Falcon 40B", 60, 8192, 128, 8, 32768, 65024, _MPT, ""),
    ("falcon-180b", "Falcon 180B", 80, 14848, 232, 8, 59392, 65024, _MPT, ""),
    ("starcoder2-15b", "StarCoder2 15B", 40, 6144, 48, 4, 24576, 49152, {"mlp": "gelu", "biases": True}, ""),
    ("nemotron-4-15b", "Nemotron-4 15B", 32, 6144, 48, 8, 24576, 256000, {"mlp": "gelu"}, ""),
    ("nemotron-4-340b", "Nemotron-4 340B", 96, 18432, 96, 8, 73728, 256000, {"mlp": "gelu"}, ""),
    ("llama-7b", "Llama 7B", 32, 4096, 32, 32, 11008, 32000, {}, ""),
    ("llama-13b", "Llama 13B", 40, 5120, 40, 40, 13824, 32000, {}, ""),
    ("llama-33b", "Llama 33B", 60, 6656, 52, 52, 17920, 32000, {}, ""),
    ("llama-65b", "Llama 65B", 80, 8192, 64, 64, 22016, 32000, {}, ""),
    ("code-llama-34b", "Code Llama 34B", 48, 8192, 64, 8, 22016, 32000, {}, ""),
    ("llama-3.2-1b", "Llama 3.2 1B", 16, 2048, 32, 8, 8192, 128256, _TIED, ""),
    ("llama-3.2-3b", "Llama 3.2 3B", 28, 3072, 24, 8, 8192, 128256, _TIED, ""),
    ("mistral-7b", "Mistral 7B", 32, 4096, 32, 8, 14336, 32000, {}, ""),
    ("mistral-nemo-12b", "Mistral Nemo 12B", 40, 5120, 32, 8, 14336, 131072, {"head_size": 128}, ""),
    ("mistral-small-24b", "Mistral Small 24B", 40, 5120, 32, 8, 32768, 131072, {"head_size": 128}, ""),
    ("mistral-large-123b", "Mistral Large 2", 88, 12288, 96, 8, 28672, 32768, {}, ""),
    ("qwen2.5-0.5b", "Qwen2.5 0.5B", 24, 896, 14, 2, 4864, 151936, _TIED, ""),
    ("qwen2.5-1.5b", "Qwen2.5 1.5B", 28, 1536, 12, 2, 8960, 151936, _TIED, ""),
    ("qwen2.5-3b", "Qwen2.5 3B", 36, 2048, 16, 2, 11008, 151936, _TIED, ""),
    ("qwen2.5-7b", "Qwen2.5 7B", 28, 3584, 28, 4, 18944, 152064, {}, ""),
    ("qwen2.5-14b", "Qwen2.5 14B", 48, 5120, 40, 8, 13824, 152064, {}, ""),
    ("qwen2.5-32b", "Qwen2.5 32B", 64, 5120, 40, 8, 27648, 152064, {}, ""),
    ("qwen2.5-72b", "Qwen2.5 72B", 80, 8192, 64, 8, 29568, 152064, {}, ""),
    ("qwen3-4b", "Qwen3 4B", 36, 2560, 32, 8, 9728, 151936, _TIED | {"head_size": 128}, "yang2025"),
    ("qwen3-8b", "Qwen3 8B", 36, 4096, 32, 8, 12288, 151936, {"head_size": 128}, "yang2025"),
    ("qwen3-14b", "Qwen3 14B", 40, 5120, 40, 8, 17408, 151936, {"head_size": 128}, "yang2025"),
    ("qwen3-32b", "Qwen3 32B", 64, 5120, 64, 8, 25600, 151936, {"head_size": 128}, "yang2025"),
    ("gemma-7b", "Gemma 7B", 28, 3072, 16, 16, 24576, 256000, _TIED | {"head_size": 256}, ""),
    ("gemma-2-9b", "Gemma 2 9B", 42, 3584, 16, 8, 14336, 256000, _TIED | {"head_size": 256, "sliding_window": 4096}, ""),
    ("gemma-2-27b", "Gemma 2 27B", 46, 4608, 32, 16, 36864, 256000, _TIED | {"head_size": 128, "sliding_window": 4096}, ""),
    ("phi-3-mini", "Phi-3 mini", 32, 3072, 32, 32, 8192, 32064, {}, ""),
    ("phi-4", "Phi-4", 40, 5120, 40, 10, 17920, 100352, {}, ""),
    ("olmo-1b", "OLMo 1B", 16, 2048, 16, 16, 8192, 50304, _TIED, ""),
    ("olmo-7b", "OLMo 7B", 32, 4096, 32, 32, 11008, 50304, {}, ""),
    ("olmo-2-7b", "OLMo 2 7B", 32, 4096, 32, 32, 11008, 100352, {}, ""),
    ("olmo-2-13b", "OLMo 2 13B", 40, 5120, 40, 40, 13824, 100352, {}, ""),
    ("olmo-2-32b", "OLMo 2 32B", 64, 5120, 40, 8, 27648, 100352, {}, ""),
    ("yi-34b", "Yi 34B", 60, 7168, 56, 8, 20480, 64000, {}, ""),
    ("deepseek-67b", "DeepSeek LLM 67B", 95, 8192, 64, 8, 22016, 102400, {}, ""),
    ("command-r-plus", "Command R+", 64, 12288, 96, 8, 33792, 256000, _TIED, ""),
    ("palm-540b", "PaLM 540B", 118, 18432, 48, 1, 73728, 256000, _TIED | {"head_size": 256}, "chowdhery2022"),
)
SPARSE_ROWS: tuple[Row, ...] = (
    ("mixtral-8x7b", "Mixtral 8x7B", 32, 4096, 32, 8, 14336, 32000, _of(8, 2, 14336), "jiang2024"),
    ("mixtral-8x22b", "Mixtral 8x22B", 56, 6144, 48, 8, 16384, 32768, _of(8, 2, 16384), "jiang2024"),
    ("qwen2-57b-a14b", "Qwen2 57B-A14B", 28, 3584, 28, 4, 18944, 151936, _of(64, 8, 2560, num_shared_experts=8), "yang2024"),
    ("qwen3-30b-a3b", "Qwen3 30B-A3B", 48, 2048, 32, 4, 6144, 151936, _of(128, 8, 768) | {"head_size": 128}, "yang2025"),
    ("qwen3-235b-a22b", "Qwen3 235B-A22B", 94, 4096, 64, 4, 12288, 151936, _of(128, 8, 1536) | {"head_size": 128}, "yang2025"),
    ("gpt-oss-120b", "GPT-OSS 120B", 36, 2880, 64, 8, 2880, 201088, _of(128, 4, 2880) | {"head_size": 64, "sliding_window": 128, "biases": True}, "openai2025"),
    ("deepseek-v3", "DeepSeek-V3", 61, 7168, 128, 128, 18432, 129280, _of(256, 8, 2048, num_shared_experts=1, num_dense_layers=3, nodes_per_token=4, num_prediction_layers=1) | _latents(192, 1536), "deepseek2024"),
    ("kimi-k2", "Kimi K2", 61, 7168, 64, 64, 18432, 163840, _of(384, 8, 2048, num_shared_experts=1, num_dense_layers=1) | _latents(192, 1536), "kimi2025"),
    ("grok-1", "Grok-1", 64, 6144, 48, 8, 32768, 131072, _TIED | _of(8, 2, 32768), ""),
    ("llama-4-scout", "Llama 4 Scout", 48, 5120, 40, 8, 16384, 202048, _of(16, 1, 8192, num_shared_experts=1), ""),
    ("llama-4-maverick", "Llama 4 Maverick", 48, 5120, 40, 8, 16384, 202048, _of(128, 1, 8192, num_shared_experts=1, dense_layer_every=2), ""),
    ("deepseek-moe-16b", "DeepSeekMoE 16B", 28, 2048, 16, 16, 10944, 102400, _of(64, 6, 1408, num_shared_experts=2, num_dense_layers=1), ""),
    ("deepseek-v2", "DeepSeek-V2", 60, 5120, 128, 128, 12288, 102400, _of(160, 6, 1536, num_shared_experts=2, num_dense_layers=1, nodes_per_token=3) | _latents(192, 1536), ""),
    ("deepseek-v2-lite", "DeepSeek-V2 Lite", 27, 2048, 16, 16, 10944, 102400, _of(64, 6, 1408, num_shared_experts=2, num_dense_layers=1) | _latents(192), ""),
    ("moonlight-16b", "Moonlight 16B-A3B", 27, 2048, 16, 16, 11264, 163840, _of(64, 6, 1408, num_shared_experts=2, num_dense_layers=1) | _latents(192), ""),
    ("qwen3-coder-480b-a35b", "Qwen3-Coder 480B-A35B", 62, 6144, 96, 8, 8192, 151936, _of(160, 8, 2560) | {"head_size": 128}, ""),
    ("qwen1.5-moe-a2.7b", "Qwen1.5-MoE A2.7B", 24, 2048, 16, 16, 5632, 151936, _of(60, 4, 1408, num_shared_experts=4), ""),
    ("gpt-oss-20b", "GPT-OSS 20B", 24, 2880, 64, 8, 2880, 201088, _of(32, 4, 2880) | {"head_size": 64, "sliding_window": 128, "biases": True}, "openai2025"),
    ("dbrx", "DBRX", 40, 6144, 48, 8, 10752, 100352, _of(16, 4, 10752), ""),
    ("olmoe-7b", "OLMoE 1B-7B", 16, 2048, 16, 16, 1024, 50304, _of(64, 8, 1024), ""),
    ("phi-3.5-moe", "Phi-3.5 MoE", 32, 4096, 32, 8, 6400, 32064, _of(16, 2, 6400), ""),
    ("glm-4.5-air", "GLM-4.5 Air", 46, 4096, 96, 8, 10944, 151552, _of(128, 8, 1408, num_shared_experts=1, num_dense_layers=1) | {"head_size": 128, "num_prediction_layers": 1}, ""),
    ("glm-4.5", "GLM-4.5", 92, 5120, 96, 8, 12288, 151552, _of(160, 8, 1536, num_shared_experts=1, num_dense_layers=3) | {"head_size": 128, "num_prediction_layers": 1}, ""),
)
# fmt: on
