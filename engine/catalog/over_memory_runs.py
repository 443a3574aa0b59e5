"""Published plans that exceed memory by the model although they ran, by cause.

The reasons were read in the recipes of the software, not fitted: what a recipe sets, and the
published table does not record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from engine.catalog.beyond_table import TEXT
from engine.core.units import Ratio

# NVIDIA-NeMo/Megatron-Bridge, scripts/performance/configs/*/*_workload_base_configs.py and
# src/megatron/bridge/training/mixed_precision.py, read in November 2026.
CAUSES: Mapping[str, tuple[str, str]] = {
    "offload": (
        "Activations on the host",
        "The recipes for these GPUs move the activations of a quarter or half of the layers to the "
        "host (cpu_offloading_num_layers). The model keeps all on the GPU.",
    ),
    "plan": (
        "A plan that no recipe has",
        "The table of one release gives a larger micro-batch, or no pipeline, where every other "
        "release and the recipes have a plan that needs far less. We suspect the table.",
    ),
    "unknown": (
        "No cause found",
        "We do not know which blocks this run recomputes.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OverMemoryRun:
    """A published plan that does not fit by the model.

    Attributes:
        filled: predicted memory of the process, free blocks given back, over that of the GPU.
        cause: of `CAUSES`.
    """

    filled: Ratio
    cause: str


@cache
def over_memory_runs() -> dict[str, OverMemoryRun]:
    """Return row -> predicted excess of memory and its cause (`beyond_table.tsv`)."""
    lines = (line.split("\t") for line in TEXT.splitlines())
    return {row: OverMemoryRun(filled=float(filled), cause=cause) for row, filled, cause in lines}
