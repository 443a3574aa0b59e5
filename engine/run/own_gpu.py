"""An accelerator of the reader's own: peak by precision, memory, bandwidth, links.

What no datasheet could say is refused, most often a unit that was left out: TFLOP/s for FLOP/s, GB
for bytes. Products reach the shares of an H100, and the range says that this is a guess.
"""

from collections.abc import Mapping
from typing import Any, TypeGuard

from engine.catalog.accelerators import Gpu
from engine.core.units import GB, TERA, Bandwidth, Bytes, FlopRate, Ratio, Seconds
from engine.run.values import format_value, in_si, report_unknown_keys

NAME = "your own accelerator"
PRECISIONS = ("bf16", "fp16", "fp8", "fp4")
# Key: lowest, highest and default value, in SI units; a default of 0 stands for a missing key.
RANGES: Mapping[str, tuple[float, float, float]] = {
    "memory": (1 * GB, 10_000 * GB, 0.0),
    "memory_bandwidth": (10 * GB, 1e6 * GB, 0.0),
    "scale_up": (1 * GB, 1e5 * GB, 0.0),
    "pcie": (1 * GB, 1e4 * GB, 31.5 * GB),
}
PEAK: tuple[FlopRate, FlopRate] = (1 * TERA, 1e6 * TERA)
KEYS = ("peak", *RANGES)
_NEEDED = ("memory", "memory_bandwidth")
# All of the memory is read in so long; from an L4 to an H20 it is 13 to 80 ms.
READ: tuple[Seconds, Seconds] = (1e-3, 1.0)
# Operations for each byte of memory; 37 to 2,300 in the catalog.
INTENSITY: tuple[Ratio, Ratio] = (5.0, 20_000.0)
# The peak of a smaller type over that of 16 bits; 1 to 17 in the catalog.
SMALLER: tuple[Ratio, Ratio] = (0.9, 20.0)


def read_own_gpu(section: Mapping[Any, Any], problems: list[str]) -> Gpu | None:
    """Return the accelerator of an object of `cluster.gpu`; append what is wrong to `problems`."""
    before = len(problems)
    report_unknown_keys("cluster.gpu.", section, KEYS, problems)
    peak = _read_peak(section.get("peak", ...), problems)
    values = {key: _read_number(key, section, problems) for key in RANGES}
    if len(problems) > before:
        return None
    problems += _contradictions(peak, values["memory"], values["memory_bandwidth"])
    return None if len(problems) > before else own_gpu(peak, **values)


def own_gpu(
    peak: Mapping[str, FlopRate],
    memory: Bytes,
    memory_bandwidth: Bandwidth,
    scale_up: Bandwidth,
    pcie: Bandwidth,
) -> Gpu:
    """Return an accelerator; 16 bits are one type, and its products are tiled as on an H100."""
    half = peak.get("bf16") or peak["fp16"]
    return Gpu(
        name=NAME,
        memory=memory,
        memory_bandwidth=memory_bandwidth,
        peak={"bf16": half, "fp16": half, **peak},
        sms=132,
        scale_up=scale_up,
        source="",
        date="",
        pcie=pcie,
    )


def _read_peak(section: object, problems: list[str]) -> dict[str, FlopRate]:
    path, (low, high) = "cluster.gpu.peak", PEAK
    if not isinstance(section, Mapping) or not section.keys() & {"bf16", "fp16"}:
        shown = "missing" if section is ... else format_value(section)
        problems.append(
            f"{path}: {shown}; allowed: an object with {', '.join(PRECISIONS)} in FLOP/s, without "
            "sparsity, bf16 or fp16 among them"
        )
        return {}
    report_unknown_keys(f"{path}.", section, PRECISIONS, problems)
    for key in PRECISIONS:
        if key in section and not _within(section[key], low, high):
            problems.append(
                f"{path}.{key}: {format_value(section[key])}; allowed: {low:g} to {high:g} FLOP/s"
            )
    return dict(section)


def _read_number(key: str, section: Mapping[Any, Any], problems: list[str]) -> float:
    low, high, default = RANGES[key]
    if key not in section and key not in _NEEDED:
        return default
    stated = section.get(key, ...)
    value = in_si(key, stated)
    if not _within(value, low, high) and not (key == "scale_up" and value == 0):
        shown = "missing" if stated is ... else format_value(stated)
        unit = "bytes" if key == "memory" else "bytes/s"
        none = "0, or " if key == "scale_up" else ""
        problems.append(f"cluster.gpu.{key}: {shown}; allowed: {none}{low:g} to {high:g} {unit}")
        return default
    return float(value)


def _within(value: object, low: float, high: float) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _about_within(value: float, low: float, high: float) -> bool:
    """Return whether a ratio lies between two others, which a rounded number may just miss."""
    return low * (1 - 1e-9) <= value <= high * (1 + 1e-9)


def _contradictions(peak: Mapping[str, FlopRate], memory: Bytes, bandwidth: Bandwidth) -> list[str]:
    """Return what no accelerator has, of values that are each possible."""
    half = peak.get("bf16") or peak["fp16"]
    problems = []
    if not _about_within(memory / bandwidth, *READ):
        problems.append(
            f"cluster.gpu.memory_bandwidth: {bandwidth:g}; allowed: such that {memory:g} bytes are "
            f"read in {READ[0]:g} to {READ[1]:g} s, not in {memory / bandwidth:.3g}"
        )
    if not _about_within(half / bandwidth, *INTENSITY):
        problems.append(
            f"cluster.gpu.peak: {half:g} FLOP/s in 16 bits; allowed: {INTENSITY[0]:g} to "
            f"{INTENSITY[1]:,.0f} operations for each byte of {bandwidth:g} bytes/s, not "
            f"{half / bandwidth:.3g}"
        )
    low, high = SMALLER
    problems += [
        f"cluster.gpu.peak.{key}: {peak[key]:g}; allowed: {low:g} to {high:g} times the peak in 16 "
        f"bits, not {peak[key] / half:.3g} times"
        for key in ("fp8", "fp4")
        if key in peak and not _about_within(peak[key] / half, low, high)
    ]
    return problems
