"""Which peak and which count of operations a printed MFU was made with."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.models import Model
from engine.core.units import FlopRate, Operations, Share, TokenRate, Tokens
from engine.formulas.token_operations import COUNTINGS, Counting, token_operations, utilization

# A printed MFU is rounded, and so is a printed speed.
ALIKE: Share = 0.02
# GPUs whose peaks are found in other people's code, by how often.
OTHERS = ("A100-SXM-80GB", "H100-SXM", "H100-PCIe", "B200", "GB200", "V100-SXM-32GB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """A figure that somebody may have divided by.

    Attributes:
        key: "dense", "sparse", "other", "half".
        name: of the GPU, the data type, and whether sparsity is in it.
        rate: operations per second.
    """

    key: str
    name: str
    rate: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A way to get at the printed MFU.

    Attributes:
        peak: that was divided by.
        counting: of the operations.
        gives: the MFU that this way gives.
        off: by how much that differs from what was printed, as a factor minus 1.
    """

    peak: Peak
    counting: Counting
    gives: Share
    off: float


def right_peak(gpu: Gpu, precision: str) -> Peak:
    """Return the dense peak of a data type; of 16 bits where the GPU has no such units."""
    rate, used = gpu.peak.get(precision), precision
    if rate is None:
        used = "fp16" if "bf16" not in gpu.peak else "bf16"
        rate = gpu.peak[used]
    return Peak(key="dense", name=f"{gpu.name}, dense {used}", rate=rate)


def peaks(gpu: Gpu, precision: str) -> tuple[Peak, ...]:
    """Return the figures that stand in datasheets and in other people's code, the right one first.

    Structured sparsity doubles a printed peak from Ampere on; TF32 is half of 16 bits.
    """
    right = right_peak(gpu, precision)
    found = [right]
    if "bf16" in gpu.peak:
        double = right.rate * 2
        words = right.name.replace("dense ", "") + " with 2:4 sparsity"
        if precision != "fp8" and math.isclose(gpu.peak.get("fp8", 0.0), double, rel_tol=0.01):
            words += " (or dense fp8, the same figure)"
        found.append(Peak(key="sparse", name=words, rate=double))
        tf32 = gpu.peak["bf16"] / 2
        found.append(Peak(key="half", name=f"{gpu.name}, dense tf32", rate=tf32))
    found += [one for one in _others(gpu) if not _alike(one.rate, right.rate)]
    return tuple(found)


def _others(gpu: Gpu) -> Iterator[Peak]:
    for key in OTHERS:
        other = ACCELERATORS[key]
        if other.name != gpu.name and "fp16" in other.peak:
            yield Peak(key="other", name=f"{other.name}, dense 16-bit", rate=other.peak["fp16"])


def _alike(one: FlopRate, other: FlopRate) -> bool:
    return math.isclose(one, other, rel_tol=ALIKE)


def explanations(
    model: Model,
    sequence_length: Tokens,
    rate: TokenRate,
    printed: Share,
    candidates: tuple[Peak, ...],
) -> tuple[Explanation, ...]:
    """Return every way to count and to divide, the one closest to the printed MFU first.

    Of ways that come equally close (within rounding), one with the right peak goes first.
    """
    found = [
        _explained(
            peak, counting, token_operations(model, sequence_length, counting), rate, printed
        )
        for peak in candidates
        for counting in COUNTINGS
    ]
    right = candidates[0]
    return tuple(sorted(found, key=lambda one: (max(abs(one.off), ALIKE), one.peak is not right)))


def _explained(
    peak: Peak, counting: Counting, operations: Operations, rate: TokenRate, printed: Share
) -> Explanation:
    gives = utilization(operations, rate, peak.rate)
    return Explanation(peak=peak, counting=counting, gives=gives, off=gives / printed - 1)
