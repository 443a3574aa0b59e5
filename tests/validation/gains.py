"""How well the engine predicts a change: pairs of published runs that differ in one setting.

    python -m tests.validation.gains

writes `engine/catalog/gain_errors.py`; a test compares it with what this prints.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from engine.calculators.whole_runs.published_runs.read import Published, published

TARGET = Path(__file__).parents[2] / "engine" / "catalog" / "gain_errors.py"
_SETTINGS = (
    "sequence_parallel",
    "zero_stage",
    "precision",
    "recompute",
    "flash_attention",
    "schedule",
    "overlap_gradient_reduce",
    "overlap_tensor_parallel",
    "overlap_expert_parallel",
    "exchange",
    "framework",
    "compiled",
    "half_gradients",
    "cuda_graphs",
    "fused_experts",
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_pipeline",
    "context_parallel",
    "expert_parallel",
    "shard_group",
    "micro_batch_size",
)

# What two runs that are compared have in common, besides their source.
_ALIKE = (
    "model",
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "ffn_hidden_size",
    "vocab_size",
    "mlp",
    "tied_embeddings",
    "gpu",
    "gpus_per_node",
    "nics_per_node",
    "nic_bandwidth",
    "world_size",
    "sequence_length",
)


def settings(row: Published) -> dict[str, object]:
    """Return what a lever could change."""
    return {key: getattr(row.inputs, key) for key in _SETTINGS}


def pairs() -> Iterator[tuple[Published, Published]]:
    """Yield runs of one source, model, machine, size and batch that differ in one setting."""
    alike: dict[tuple[object, ...], list[Published]] = defaultdict(list)
    for row in published():
        if row.case.trusted:
            alike[(row.source, *(getattr(row.inputs, key) for key in _ALIKE))].append(row)
    for rows in alike.values():
        for one, other in combinations(rows, 2):
            if _differing(one, other) == 1:
                yield one, other


def _differing(one: Published, other: Published) -> int:
    before, after = settings(one), settings(other)
    return sum(before[key] != after[key] for key in before)


def errors() -> list[float]:
    """Return, for every pair, how far the predicted ratio of their speeds is from the measured."""
    return [
        abs(
            math.log(_speed(one, "predicted") / _speed(other, "predicted"))
            - math.log(_speed(one, "measured") / _speed(other, "measured"))
        )
        for one, other in pairs()
    ]


def _speed(row: Published, which: str) -> float:
    return row.inputs.global_batch_size / float(getattr(row, which))


def text() -> str:
    """Return the module."""
    found = sorted(errors())
    return (
        '"""Errors of predicted gains against published ones; by tests.validation.gains."""\n'
        "\n"
        "# Pairs of runs that differ in one setting; median and 80th percentile of the error of\n"
        "# the ratio of their speeds.\n"
        f"PAIRS = {len(found)}\n"
        f"GAIN_MEDIAN = {statistics.median(found):.3f}\n"
        f"GAIN_ERROR = {found[int(0.8 * len(found))]:.3f}\n"
    )


if __name__ == "__main__":
    TARGET.write_text(text(), "utf-8")
    print(text())
