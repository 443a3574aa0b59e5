"""The keys of a run file with their types, allowed values and defaults."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import Mlp
from engine.run.parallelism import (
    MODULES,
    Cluster,
    Exchange,
    Framework,
    GradientPrecision,
    LoraLayers,
    Optimizer,
    Plan,
    Precision,
    Recompute,
    Schedule,
    Training,
    Transport,
)
from engine.run.values import LARGEST, Kind, Spec

# Defaults: that of the record; what follows from other keys where this one is left out.
RECORD, DERIVED = "record", None


def _spec(record: type[Any], keys: Mapping[str, tuple[Kind, Any]]) -> Spec:
    """Return a spec whose defaults are those of a record, but where a key says otherwise."""
    defaults = {field.name: field.default for field in fields(record)}
    return Spec(
        {
            key: (kind, defaults[key] if default is RECORD else default)
            for key, (kind, default) in keys.items()
        }
    )


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
CLUSTER = _spec(
    Cluster,
    {
        "gpu": (tuple(sorted(ACCELERATORS)), ...),
        "gpus_per_node": ((1, 1 << 14), ...),
        "nics_per_node": ((1, 1 << 14), ...),
        "nic_bandwidth": (0.0, ...),
        "transport": (get_args(Transport), RECORD),
        "nvlink_domain": ((0, 1 << 14), RECORD),
        "price_per_hour": (0.0, DERIVED),
    },
)
# A GPU like one of the catalog, but for these.
GPU = Spec(
    {
        "like": (tuple(sorted(ACCELERATORS)), ...),
        "memory": (0.0, None),
        "memory_bandwidth": (0.0, None),
        "power_limit": (0.0, None),
    }
)
PLAN = _spec(
    Plan,
    {
        "world_size": (_COUNT, ...),
        "tensor_parallel": (_COUNT, RECORD),
        "pipeline_parallel": (_COUNT, RECORD),
        "virtual_pipeline": (_COUNT, RECORD),
        "context_parallel": (_COUNT, RECORD),
        "expert_parallel": (_COUNT, RECORD),
        "expert_tensor_parallel": (_COUNT, RECORD),
        "sequence_parallel": (bool, DERIVED),
        "zero_stage": ((0, 3), RECORD),
        "shard_group": ((0, LARGEST), RECORD),
    },
)
TRAINING = _spec(
    Training,
    {
        "micro_batch_size": (_COUNT, ...),
        "global_batch_size": (_COUNT, ...),
        "precision": (get_args(Precision), ...),
        "recompute": (get_args(Recompute), RECORD),
        "flash_attention": (bool, RECORD),
        "schedule": (get_args(Schedule), DERIVED),
        "overlap_gradient_reduce": (bool, RECORD),
        "overlap_tensor_parallel": (bool, RECORD),
        "overlap_expert_parallel": (bool, DERIVED),
        "framework": (get_args(Framework), RECORD),
        "compiled": (bool, RECORD),
        "gradient_precision": (get_args(GradientPrecision)[1:], RECORD),
        "optimizer": (get_args(Optimizer), RECORD),
        "cuda_graphs": (bool, RECORD),
        "fused_experts": (bool, RECORD),
        "exchange": (get_args(Exchange), RECORD),
        "even_routing": (bool, RECORD),
        "recompute_layers": ((0, 1 << 16), RECORD),
        "fp8_activation_inputs": (bool, RECORD),
        "lora_rank": ((0, 1 << 16), RECORD),
        "lora_layers": (get_args(LoraLayers), RECORD),
        "nf4_weights": (bool, RECORD),
        "quantized_weights": (bool, RECORD),
        "quantized_once": (bool, RECORD),
        "keeps_quantized_products": (bool, RECORD),
        "eager_loss": (bool, RECORD),
        "fused_norms": (bool, RECORD),
    },
)
SECTIONS = ("model", "sequence_length", "cluster", "parallelism", "training")
RECOMPUTED: tuple[str, ...] = MODULES


def spec_without(spec: Spec, *keys: str) -> Spec:
    """Return a spec without some of its keys, which are read separately."""
    return Spec({key: kind for key, kind in spec.items() if key not in keys})
