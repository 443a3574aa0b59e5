"""Documents of random runs: any combination of sizes, plans and switches that is possible."""

import random
from collections.abc import Mapping
from typing import Any

from engine.catalog.accelerators import ACCELERATORS

Document = dict[str, Any]
_POWERS = (1, 2, 4, 8)
_SCHEDULES = ("1f1b", "gpipe", "zb-1p", "zb-2p", "zbv", "v-half", "v-min", "dualpipe")


def any_document(source: random.Random) -> Document:
    """A possible run: every size divides what it must divide."""
    tensor, pipeline = source.choice(_POWERS), source.choice((1, 1, 2, 4, 8))
    context = source.choice((1, 1, 1, 2, 4))
    data = source.choice((1, 2, 4, 8, 16, 64))
    virtual = source.choice((1, 1, 2, 3)) if pipeline > 1 else 1
    micro = source.choice((1, 1, 2, 4))
    experts = source.choice((0, 0, 8, 64))
    model = _model(source, experts, pipeline * virtual)
    expert_ranks = source.choice((1, 2, 4, 8)) if experts else 1
    ranks = data * context * tensor
    if ranks % expert_ranks:
        expert_ranks = 1
    shards = data * context
    return {
        "model": model,
        "sequence_length": source.choice((512, 2048, 4096, 8192, 32768)),
        "cluster": _cluster(source),
        "parallelism": {
            "world_size": ranks * pipeline,
            "tensor_parallel": tensor,
            "pipeline_parallel": pipeline,
            "virtual_pipeline": virtual,
            "context_parallel": context,
            "expert_parallel": expert_ranks,
            "sequence_parallel": source.random() < 0.5,
            "zero_stage": source.choice((0, 1, 2, 3)),
            "shard_group": source.choice((0, 0, shards, 1)),
        },
        "training": {
            "micro_batch_size": micro,
            "global_batch_size": micro * data * pipeline * source.choice((1, 2, 8)),
            "precision": source.choice(("bf16", "fp16", "fp8")),
            "recompute": source.choice(("none", "selective", "full")),
            "flash_attention": source.random() < 0.7,
            "schedule": "interleaved" if virtual > 1 else source.choice(_SCHEDULES),
            "overlap_gradient_reduce": source.random() < 0.7,
            "overlap_tensor_parallel": source.random() < 0.3,
            "framework": source.choice(("megatron", "fsdp", "deepspeed")),
            "compiled": source.random() < 0.6,
        },
    }


def _model(source: random.Random, experts: int, pieces: int) -> Document:
    heads = source.choice((8, 16, 32, 64))
    hidden = heads * source.choice((64, 128))
    return {
        "num_layers": pieces * source.choice((1, 2, 4)),
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": heads // source.choice((1, 2, 8)),
        "ffn_hidden_size": hidden * source.choice((3, 4)),
        "vocab_size": source.choice((32000, 51200, 128256)),
        "mlp": source.choice(("gelu", "swiglu")),
        "tied_embeddings": source.random() < 0.5,
        "num_experts": experts,
        "experts_per_token": source.choice((1, 2, 8)) if experts else 0,
        "num_shared_experts": source.choice((0, 0, 1)) if experts else 0,
        "expert_ffn_hidden_size": hidden // 2 if experts else 0,
        "num_dense_layers": source.choice((0, 1)) if experts else 0,
    }


def _cluster(source: random.Random) -> Document:
    return {
        "gpu": source.choice(sorted(ACCELERATORS)),
        "gpus_per_node": source.choice((1, 4, 8, 8, 8, 72)),
        "nics_per_node": source.choice((1, 4, 8)),
        "nic_bandwidth": source.choice((1.25e9, 12.5e9, 50e9, 100e9)),
    }


def changed(document: Mapping[str, Any], section: str, **values: Any) -> Document:
    """The document with other values in one section."""
    return {**document, section: {**document[section], **values}}
