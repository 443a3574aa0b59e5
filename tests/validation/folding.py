"""One mixture under full sharding and under plans in three dimensions, as NVIDIA measured both.

    python -m tests.validation.folding

prints measured and predicted utilization. No constant is fitted to these rows. Source: Liu et al.
2025, tables 1 and 3 (arXiv:2504.14960): nodes of 8 H100 with 400 Gb/s per GPU, sequences of 4,096,
256 of them a step, BF16, capacity factor 1, so that all experts have the same work. It states
neither micro-batch nor recomputation nor pieces per stage. Taken are one sequence, none, and pieces
of one layer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.catalog.models import MODELS
from engine.core.units import Count, Share
from engine.estimate import estimate
from engine.run.file import read_run

_SEQUENCE, _SEQUENCES = 4096, 256
_MIXTRAL = {
    "num_layers": 56,
    "hidden_size": 6144,
    "num_attention_heads": 48,
    "num_key_value_heads": 8,
    "ffn_hidden_size": 16384,
    "vocab_size": 32768,
    "mlp": "swiglu",
    "tied_embeddings": False,
}
_LLAMA = {
    "num_layers": 80,
    "hidden_size": 8192,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "ffn_hidden_size": 28672,
    "vocab_size": 128256,
    "mlp": "swiglu",
    "tied_embeddings": False,
}
_FINE = {"num_experts": 64, "experts_per_token": 8, "expert_ffn_hidden_size": 2048}
_COARSE = {"num_experts": 8, "experts_per_token": 2, "expert_ffn_hidden_size": 28672}
# Name -> GPUs, model. Two of the models were made for the article.
JOBS: Mapping[str, tuple[Count, str | dict[str, Any]]] = {
    "Mixtral 8x22B": (128, "mixtral-8x22b"),
    "Qwen2 57B-A14B": (64, "qwen2-57b-a14b"),
    "Mixtral 8x22B G8T8": (128, _MIXTRAL | _FINE),
    "Llama 3 8x70B": (256, _LLAMA | _COARSE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured plan: which job, how it was split, and its share of the peak (0: no room)."""

    job: str
    way: str
    tensor: Count
    expert: Count
    pipeline: Count
    expert_tensor: Count
    stage: Count
    mfu: Share

    @property
    def sharded(self) -> bool:
        """Full sharding."""
        return self.way.startswith("FSDP")


# Tensor, expert, pipeline, expert tensor parallelism, stage of sharding, utilization in percent.
# Without folding the experts are cut by tensor parallelism like all else.
_WAYS = ("FSDP", "FSDP + EP", "TP + EP + DP", "three dimensions", "folded")
_TABLE: Mapping[str, tuple[tuple[int | float, ...] | None, ...]] = {
    "Mixtral 8x22B": (
        (8, 1, 1, 8, 3, 4.3),
        (2, 8, 1, 2, 3, 23.4),
        (4, 8, 1, 4, 1, 36.6),
        (2, 4, 8, 2, 1, 46.3),
        (2, 8, 8, 1, 1, 49.3),
    ),
    "Qwen2 57B-A14B": (
        (2, 1, 1, 2, 3, 9.9),
        (1, 8, 1, 1, 3, 25.4),
        (4, 4, 1, 4, 1, 23.1),
        (2, 4, 4, 2, 1, 35.3),
        (2, 4, 4, 1, 1, 39.0),
    ),
    "Mixtral 8x22B G8T8": (
        (8, 1, 1, 8, 3, 2.2),
        (4, 8, 1, 4, 3, 9.0),
        (8, 8, 1, 8, 1, 8.7),
        (2, 8, 8, 2, 1, 17.1),
        (4, 8, 8, 1, 1, 28.8),
    ),
    "Llama 3 8x70B": (
        None,
        (8, 8, 1, 8, 3, 19.6),
        (8, 8, 1, 8, 1, 0.0),
        (8, 4, 8, 8, 1, 38.8),
        (8, 8, 16, 1, 1, 41.6),
    ),
}


def rows(job: str) -> list[Row]:
    """Return the plans of a job."""
    found = []
    for way, plan in zip(_WAYS, _TABLE[job], strict=True):
        if plan is None:
            continue
        *sizes, percent = plan
        tensor, expert, pipeline, expert_tensor, stage = map(int, sizes)
        found.append(
            Row(
                job=job,
                way=way,
                tensor=tensor,
                expert=expert,
                pipeline=pipeline,
                expert_tensor=expert_tensor,
                stage=stage,
                mfu=percent / 100,
            )
        )
    return found


def predicted(row: Row) -> dict[str, Any]:
    """Return what the estimate says of a plan."""
    world, model = JOBS[row.job]
    layers = MODELS[model].num_layers if isinstance(model, str) else model["num_layers"]
    document = {
        "model": model,
        "sequence_length": _SEQUENCE,
        "cluster": {
            "gpu": "H100-SXM",
            "gpus_per_node": 8,
            "nics_per_node": 8,
            "nic_bandwidth": 50e9,
        },
        "parallelism": {
            "world_size": world,
            "tensor_parallel": row.tensor,
            "pipeline_parallel": row.pipeline,
            "virtual_pipeline": layers // row.pipeline if row.pipeline > 1 else 1,
            "expert_parallel": row.expert,
            "expert_tensor_parallel": row.expert_tensor,
            "zero_stage": row.stage,
        },
        "training": {
            "micro_batch_size": 1,
            "global_batch_size": _SEQUENCES,
            "precision": "bf16",
            "recompute": "none",
            "framework": "fsdp" if row.sharded else "megatron",
        },
    }
    return estimate(read_run(document))


def main() -> None:
    """Print one line per plan."""
    for job in JOBS:
        for row in rows(job):
            found = predicted(row)
            room = "" if found["fits"] else "  does not fit"
            print(f"{job:20s} {row.way:18s} {row.mfu:6.1%} {found['mfu']:6.1%}{room}")


if __name__ == "__main__":
    main()
