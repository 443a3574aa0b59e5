"""The inputs of the roofline, and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_kernels import MEASURED, MeasuredProduct
from engine.core.inputs import Choice, Number, Unit
from engine.core.outputs import Told
from engine.core.units import INTENSITY, Bandwidth, FlopRate, Intensity, Share
from engine.formulas.roofline import attainable, intensity, product_bytes, product_operations, ridge

LOW, HIGH = 1 / 16, 16_384.0
_PER_BYTE = Unit(" FLOP/B", 1.0, quantity=INTENSITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    precision: Annotated[
        str,
        Choice(
            label="Data type",
            options={"bf16": "16 bits", "fp8": "fp8"},
            help="A GPU without fp8 keeps its 16-bit peak.",
        ),
    ] = "bf16"
    intensity: Annotated[
        float,
        Number(
            label="Operations per byte",
            unit=_PER_BYTE,
            low=LOW,
            high=HIGH,
            scale="log",
            symbol="I",
        ),
    ] = 64.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A measured product, and the roof above it at its operations per byte."""

    product: MeasuredProduct
    per_byte: Intensity
    roof: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The roof, the point under it, and what was measured on this GPU.

    `peaks` are those of the data types, the 16-bit one where there is no other; up to `apart`
    operations per byte all roofs are one.
    """

    rate: Annotated[
        FlopRate,
        Told(
            "At most",
            "A",
            color="compute",
            assumes=("Transfers and operations overlap, and starting costs nothing.",),
        ),
    ]
    ridge: Annotated[
        Intensity,
        Told(
            "Compute-bound from",
            "R",
            assumes=("Dense peak and memory bandwidth of the datasheet.",),
        ),
    ]
    share: Annotated[Share, Told("Of the peak", assumes=("The rate above over the peak.",))]
    peak: Annotated[FlopRate, Told(symbol="F", of="gpu")]
    bandwidth: Annotated[Bandwidth, Told(symbol="B", of="gpu")]
    measured: tuple[Kernel, ...]
    peaks: Mapping[str, FlopRate]
    apart: Intensity


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu = ACCELERATORS[inputs.gpu]
    peaks = {name: gpu.peak.get(name, gpu.peak["fp16"]) for name in ("fp16", "bf16", "fp8")}
    quick = inputs.precision == "fp8" and "fp8" in gpu.peak
    peak = gpu.peak["fp8"] if quick else gpu.peak["fp16"]
    rate = attainable(peak, gpu.memory_bandwidth, inputs.intensity)
    return Result(
        rate=rate,
        ridge=ridge(peak, gpu.memory_bandwidth),
        share=rate / peak,
        peak=peak,
        bandwidth=gpu.memory_bandwidth,
        measured=tuple(
            Kernel(
                product=one,
                per_byte=per_byte(one),
                roof=attainable(peaks[one.precision], gpu.memory_bandwidth, per_byte(one)),
            )
            for one in MEASURED
            if one.gpu == inputs.gpu
        ),
        peaks=peaks,
        apart=ridge(peaks["bf16"], gpu.memory_bandwidth),
    )


def per_byte(one: MeasuredProduct) -> Intensity:
    """Return the operations per byte of a measured product whose result has 16 bits."""
    element = 1.0 if one.precision == "fp8" else 2.0
    moved = product_bytes(one.rows, one.columns, one.inner, element, 2.0)
    return intensity(product_operations(one.rows, one.columns, one.inner), moved)
