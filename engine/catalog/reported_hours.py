"""Whole training runs and the GPU hours that their authors give, failures and all."""

from dataclasses import dataclass

from engine.core.units import HOUR, GpuTime, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun:
    """A published run.

    Attributes:
        model: key of `MODELS`.
        gpu: key of `ACCELERATORS`.
        tokens: that were trained on.
        gpu_time: as published.
        source: key of the bibliography.
    """

    model: str
    gpu: str
    tokens: Tokens
    gpu_time: GpuTime
    source: str


WHOLE_RUNS: tuple[WholeRun, ...] = (
    WholeRun(
        model="llama-2-7b",
        gpu="A100-SXM-80GB",
        tokens=2e12,
        gpu_time=184_320 * HOUR,
        source="touvron2023",
    ),
    WholeRun(
        model="llama-2-70b",
        gpu="A100-SXM-80GB",
        tokens=2e12,
        gpu_time=1_720_320 * HOUR,
        source="touvron2023",
    ),
    WholeRun(
        model="llama-3-405b",
        gpu="H100-SXM",
        tokens=15.6e12,
        gpu_time=30.84e6 * HOUR,
        source="llama31_card",
    ),
    WholeRun(
        model="deepseek-v3",
        gpu="H800-SXM",
        tokens=14.8e12,
        gpu_time=2.664e6 * HOUR,
        source="deepseek2024",
    ),
)
