"""Inputs and presets of a training job's cost and time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.publications import LLAMA_3_405B
from engine.catalog.reader_defaults import GPU_SPREAD, USUAL_MFU
from engine.core import units
from engine.core.inputs import BILLIONS, PERCENT, TRILLIONS, Choice, Number, Scalar, Unit
from engine.core.outputs import Symbol
from engine.core.units import HOUR
from engine.form.price import PRICE
from engine.form.saving_inputs import (
    LLAMA3_GPUS,
    LLAMA3_MTBF,
    BoardPower,
    Checkpoint,
    GpuMtbf,
    Interval,
    Overhead,
    Restart,
    Seed,
    Slower,
)

PER_SECOND = Unit(" tokens/s", 1.0, {"k": 1e3}, quantity=units.TOKEN_RATE)
GPUS = {key: gpu.name for key, gpu in ACCELERATORS.items()}

# BLOOM: 156 TFLOP/s with every activation computed twice, so three quarters of it useful; 1 to 2
# failures a week, a checkpoint every three hours. DeepSeek-V3: 180,000 GPU hours per 10^12 tokens.
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "BLOOM 176B on 384 A100": {
        "tokens": 366e9,
        "num_gpus": 384,
        "parameters": 176.2e9,
        "gpu": "A100-SXM-80GB",
        "speed_from": "utilization",
        "utilization": 0.375,
        "gpu_mtbf": 43_000 * HOUR,
        "power": 400.0,
        "overhead": 1.2,
        "interval": 3 * HOUR,
        "checkpoint": 40.0,
    },
    "DeepSeek-V3 on 2,048 H800": {
        "tokens": 14.8e12,
        "num_gpus": 2048,
        "speed_from": "measured",
        "parameters": 37e9,
        "gpu": "H800-SXM",
        "rate": 1543.0,
    },
    "One GPU half as fast": {"slower": 0.5},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Inputs of a training job."""

    tokens: Annotated[
        float, Number(label="Tokens", unit=TRILLIONS, low=1e9, high=1e14, scale="log", symbol="D")
    ] = LLAMA_3_405B.tokens
    num_gpus: Annotated[
        int, Number(label="GPUs", low=1, high=131_072, scale="log2", whole=True, symbol="n")
    ] = LLAMA3_GPUS
    parameters: Annotated[
        float,
        Number(
            label="Parameters",
            unit=BILLIONS,
            low=1e7,
            high=1e13,
            scale="log",
            symbol="P",
            help="Of a mixture of experts, those that work on one token.",
        ),
    ] = LLAMA_3_405B.parameters
    gpu: Annotated[str, Choice(label="GPU", options=GPUS)] = "H100-SXM"
    utilization: Annotated[
        float,
        Number(
            label="MFU",
            unit=PERCENT,
            low=0.01,
            high=1.0,
            step=0.01,
            symbol="u",
            help="Counts where the speed is taken from it. Of the dense 16-bit peak, six "
            "operations per parameter and token; waiting for other GPUs is in it.",
        ),
    ] = USUAL_MFU
    interval: Interval = HOUR
    checkpoint: Checkpoint = 60.0
    restart: Restart = 600.0
    gpu_mtbf: GpuMtbf = LLAMA3_MTBF
    deviation: Annotated[
        float,
        Number(
            label="Jitter of a step",
            unit=PERCENT,
            low=0.0,
            high=0.2,
            step=0.001,
            symbol="\N{GREEK SMALL LETTER SIGMA}",
            help="Standard deviation from GPU to GPU. Any speed at this scale has it already.",
        ),
        Symbol("s"),
    ] = GPU_SPREAD
    slower: Slower = 0.0
    price: Annotated[float, PRICE] = 2 / HOUR
    power: BoardPower = 700.0
    overhead: Overhead = 1.1
    speed_from: Annotated[
        str,
        Choice(
            label="Speed from",
            options={
                "model": "the step model: its MFU of Llama 3 405B's plan",
                "utilization": "MFU, typed",
                "measured": "measured tokens/s",
            },
        ),
    ] = "model"
    rate: Annotated[
        float,
        Number(
            label="Measured speed per GPU",
            unit=PER_SECOND,
            low=0.1,
            high=1e7,
            scale="log",
            symbol="r",
            advanced=True,
            help="Counts where the speed is taken from a measurement.",
        ),
    ] = 175.0
    seed: Seed = 1
