"""Published speeds of models whose layers differ: no constant has seen them.

Megatron-Bridge 26.08 at 067f987d, `docs/performance-summary.md`: tokens per second and GPU, and
TFLOP/s, of pre-training with experts balanced by force. What else they set is that of its recipes
(`perf_recipes/nemotronh`, `perf_recipes/deepseek`).
"""

from dataclasses import dataclass
from typing import Any

from engine.core.units import Count, FlopRate, TokenRate

SOURCE = "megatron_bridge"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedRun:
    """A published row.

    Attributes:
        model: key of the catalog.
        gpu: key of the accelerator, four to a node, in racks of NVLink.
        gpus, batch, micro_batch: GPUs, sequences of a step and of a forward pass.
        tensor, expert: ranks of those axes.
        precision: of the products.
        rate: tokens per second and GPU.
        flops: operations per second and GPU, as printed.
        length: tokens of a sequence.
        predicting: passes of the layers that predict a further token.
        again: modules that are recomputed.
        graphs: whether attention, Mamba-2 and routers are captured in CUDA graphs.
        zero_stage: what is sharded; 3 for Megatron-FSDP.
    """

    model: str
    gpu: str
    gpus: Count
    batch: Count
    micro_batch: Count
    tensor: Count
    expert: Count
    precision: str
    rate: TokenRate
    flops: FlopRate
    length: Count = 8192
    predicting: Count = 0
    again: tuple[str, ...] = ()
    graphs: bool = True
    zero_stage: Count = 1


_SUPER: dict[str, Any] = {"predicting": 2}
_ULTRA: dict[str, Any] = {"predicting": 2, "again": ("moe_act",), "graphs": False, "zero_stage": 3}
_V4: dict[str, Any] = {"predicting": 1, "again": ("mla_up_proj",)}


def _row(
    model: str,
    gpu: str,
    sizes: tuple[Count, ...],
    precision: str,
    *rates: float,
    **others: Any,  # noqa: ANN401
) -> MixedRun:
    gpus, batch, micro, tensor, expert, length = sizes
    return MixedRun(
        model=model,
        gpu=gpu,
        gpus=gpus,
        batch=batch,
        micro_batch=micro,
        tensor=tensor,
        expert=expert,
        precision=precision,
        rate=rates[0],
        flops=rates[1] * 1e12,
        length=length,
        **others,
    )


MIXED_RUNS = (
    _row("nemotron-3-nano", "GB300", (8, 512, 4, 1, 8, 8192), "fp8", 39936, 901),
    _row("nemotron-3-super", "GB300", (64, 512, 1, 1, 64, 8192), "fp8", 9856, 831, **_SUPER),
    _row("nemotron-3-super", "GB300", (64, 512, 1, 1, 64, 8192), "fp4", 10240, 864, **_SUPER),
    _row("nemotron-3-super", "GB200", (64, 512, 1, 2, 64, 8192), "fp8", 7040, 600, **_SUPER),
    _row("nemotron-3-super", "GB200", (64, 512, 1, 2, 64, 8192), "fp4", 7168, 610, **_SUPER),
    _row("nemotron-3-ultra", "GB300", (256, 256, 1, 1, 64, 8192), "fp8", 3552, 1281, **_ULTRA),
    _row("nemotron-3-ultra", "GB200", (256, 256, 1, 2, 64, 8192), "fp8", 2528, 923, **_ULTRA),
    _row("deepseek-v4-flash", "GB300", (128, 2048, 1, 1, 64, 4096), "fp8", 8224, 748, **_V4),
    _row("deepseek-v4-flash", "GB200", (128, 2048, 1, 1, 64, 4096), "fp8", 7776, 706, **_V4),
)
