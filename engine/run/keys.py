"""The keys of a run file with their types, allowed values and defaults."""

from typing import get_args

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import Mlp
from engine.run.parallelism import (
    MODULES,
    Framework,
    GradientPrecision,
    Optimizer,
    Precision,
    Recompute,
    Schedule,
    Transport,
)
from engine.run.values import LARGEST, Spec

_COUNT = (1, LARGEST)
_LAYERS = 4096
_SIZE = (0, 1 << 20)

MODEL = Spec(
    {
        "num_layers": ((1, _LAYERS), ...),
        "hidden_size": ((1, 1 << 20), ...),
        "num_attention_heads": ((1, 1 << 16), ...),
        "num_key_value_heads": ((1, 1 << 16), None),
        "ffn_hidden_size": ((1, 1 << 24), ...),
        "vocab_size": ((1, 1 << 24), ...),
        "mlp": (get_args(Mlp), ...),
        "tied_embeddings": (bool, ...),
        "num_experts": ((0, 1 << 16), 0),
        "experts_per_token": ((0, 1 << 16), 0),
        "num_shared_experts": ((0, 1 << 10), 0),
        "expert_ffn_hidden_size": ((0, 1 << 24), 0),
        "num_dense_layers": ((0, _LAYERS), 0),
        "dense_layer_every": ((0, _LAYERS), 0),
        "nodes_per_token": ((0, 1 << 16), 0),
        "num_prediction_layers": ((0, 16), 0),
        "head_size": (_SIZE, 0),
        "attention": (("gqa", "mla"), "gqa"),
        "query_latent_size": (_SIZE, 0),
        "key_value_latent_size": (_SIZE, 0),
        "rotary_head_size": (_SIZE, 0),
        "value_head_size": (_SIZE, 0),
        "sliding_window": ((0, 1 << 30), 0),
        "learned_positions": ((0, 1 << 30), 0),
        "biases": (bool, False),
    }
)
CLUSTER = Spec(
    {
        "gpu": (tuple(sorted(ACCELERATORS)), ...),
        "gpus_per_node": ((1, 1024), ...),
        "nics_per_node": ((1, 1024), ...),
        "nic_bandwidth": (0.0, ...),
        "transport": (get_args(Transport), "infiniband"),
        "price_per_hour": (0.0, None),
    }
)
# A GPU of one's own: like one of the catalog, but for these.
GPU = Spec(
    {
        "like": (tuple(sorted(ACCELERATORS)), ...),
        "memory": (0.0, None),
        "memory_bandwidth": (0.0, None),
        "power_limit": (0.0, None),
    }
)
PLAN = Spec(
    {
        "world_size": (_COUNT, ...),
        "tensor_parallel": (_COUNT, 1),
        "pipeline_parallel": (_COUNT, 1),
        "virtual_pipeline": (_COUNT, 1),
        "context_parallel": (_COUNT, 1),
        "expert_parallel": (_COUNT, 1),
        "expert_tensor_parallel": (_COUNT, 1),
        "sequence_parallel": (bool, None),
        "zero_stage": ((0, 3), 1),
        "shard_group": ((0, LARGEST), 0),
    }
)
TRAINING = Spec(
    {
        "micro_batch_size": (_COUNT, ...),
        "global_batch_size": (_COUNT, ...),
        "precision": (get_args(Precision), ...),
        "recompute": (get_args(Recompute), "none"),
        "flash_attention": (bool, True),
        "schedule": (get_args(Schedule), None),
        "overlap_gradient_reduce": (bool, True),
        "overlap_tensor_parallel": (bool, False),
        "framework": (get_args(Framework), "megatron"),
        "compiled": (bool, True),
        "gradient_precision": (get_args(GradientPrecision)[1:], ""),
        "optimizer": (get_args(Optimizer), "adam"),
        "cuda_graphs": (bool, False),
        "even_routing": (bool, True),
        "lora_rank": ((0, 1 << 16), 0),
        "quantized_weights": (bool, False),
        "quantized_once": (bool, False),
    }
)
SECTIONS = ("model", "sequence_length", "cluster", "parallelism", "training")
RECOMPUTED: tuple[str, ...] = MODULES


def spec_without(spec: Spec, *keys: str) -> Spec:
    """Return a spec without some of its keys, which are read separately."""
    return Spec({key: kind for key, kind in spec.items() if key not in keys})
