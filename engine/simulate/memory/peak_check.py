"""Peak rate and operation count that explain a printed MFU."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.flop_conventions import CONVENTIONS, Counting
from engine.catalog.models import Model
from engine.core.units import FlopRate, Operations, Share, TokenRate, Tokens
from engine.formulas.token_operations import token_operations, utilization

# A printed MFU is rounded, and so is a printed speed.
TOLERANCE: Share = 0.02
# GPUs whose peaks are hard-coded in published code, the most frequent first.
OTHERS = ("A100-SXM-80GB", "H100-SXM", "H100-PCIe", "B200", "GB200", "V100-SXM-32GB")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakFigure:
    """A peak rate by which a printed MFU may have been divided.

    Attributes:
        key: "dense", "sparse", "other", "half".
        name: GPU, data type, and sparsity.
        rate: operations per second.
    """

    key: str
    name: str
    rate: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A peak and an operation count, with the MFU that they give.

    Attributes:
        peak: peak in the denominator.
        counting: counting of the operations.
        mfu: resulting MFU.
        off: relative difference from the printed MFU.
    """

    peak: PeakFigure
    counting: Counting
    mfu: Share
    off: float


def right_peak(gpu: Gpu, precision: str) -> PeakFigure:
    """Return the dense peak of a data type; of 16 bits where the GPU has no such units."""
    rate, used = gpu.peak.get(precision), precision
    if rate is None:
        used = "fp16" if "bf16" not in gpu.peak else "bf16"
        rate = gpu.peak[used]
    return PeakFigure(key="dense", name=f"{gpu.name}, dense {used}", rate=rate)


def candidate_peaks(gpu: Gpu, precision: str) -> tuple[PeakFigure, ...]:
    """Return the peaks of datasheets and of published code, the right one first.

    Structured sparsity doubles a printed peak from Ampere on; TF32 is half of 16 bits.
    """
    right = right_peak(gpu, precision)
    figures = [right]
    if "bf16" in gpu.peak:
        double = right.rate * 2
        words = right.name.replace("dense ", "") + " with 2:4 sparsity"
        if precision != "fp8" and math.isclose(gpu.peak.get("fp8", 0.0), double, rel_tol=0.01):
            words += " (or dense fp8, the same figure)"
        figures.append(PeakFigure(key="sparse", name=words, rate=double))
        tf32 = gpu.peak["bf16"] / 2
        figures.append(PeakFigure(key="half", name=f"{gpu.name}, dense tf32", rate=tf32))
    figures += [figure for figure in _other_peaks(gpu) if not _is_close(figure.rate, right.rate)]
    return tuple(figures)


def _other_peaks(gpu: Gpu) -> Iterator[PeakFigure]:
    for key in OTHERS:
        other = ACCELERATORS[key]
        if other.name != gpu.name and "fp16" in other.peak:
            yield PeakFigure(
                key="other", name=f"{other.name}, dense 16-bit", rate=other.peak["fp16"]
            )


def _is_close(first: FlopRate, second: FlopRate) -> bool:
    return math.isclose(first, second, rel_tol=TOLERANCE)


def explanations(
    model: Model,
    sequence_length: Tokens,
    rate: TokenRate,
    printed: Share,
    candidates: tuple[PeakFigure, ...],
) -> tuple[Explanation, ...]:
    """Return all combinations of peak and counting, the closest to the printed MFU first.

    Of equally close ones (within rounding), one with the right peak comes first.
    """
    results = [
        _explain(peak, counting, token_operations(model, sequence_length, counting), rate, printed)
        for peak in candidates
        for counting in CONVENTIONS
    ]
    right = candidates[0]
    return tuple(
        sorted(
            results, key=lambda result: (max(abs(result.off), TOLERANCE), result.peak is not right)
        )
    )


def _explain(
    peak: PeakFigure, counting: Counting, operations: Operations, rate: TokenRate, printed: Share
) -> Explanation:
    gives = utilization(operations, rate, peak.rate)
    return Explanation(peak=peak, counting=counting, mfu=gives, off=gives / printed - 1)
