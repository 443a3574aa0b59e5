"""Grouped products of experts that others have timed."""

from dataclasses import dataclass

from engine.core.units import Count, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredGroup:
    """A grouped product in bf16 on B200: `experts` products [rows, inner] x [inner, columns].

    `share` is the rate over the dense peak of 2.25 PFLOP/s, as measured.
    """

    experts: Count
    rows: Count
    columns: Count
    inner: Count
    share: Share


GPU, SOURCE = "B200", "simumax"
# The first product of an expert of DeepSeek-V3 (gate and up together), forward; 32,768 rows in all.
MEASURED_GROUPS = (
    MeasuredGroup(experts=256, rows=128, columns=4096, inner=7168, share=0.20811),
    MeasuredGroup(experts=128, rows=256, columns=4096, inner=7168, share=0.27144),
    MeasuredGroup(experts=64, rows=512, columns=4096, inner=7168, share=0.36701),
    MeasuredGroup(experts=32, rows=1024, columns=4096, inner=7168, share=0.45711),
)
