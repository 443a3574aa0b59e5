"""Matrix products and streaming kernels that others have timed, each with its source."""

from dataclasses import dataclass

from engine.core.units import TB, TERA, Bandwidth, Count, FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredProduct:
    """A matrix product [m, k] x [k, n].

    Attributes:
        gpu: key of `ACCELERATORS`.
        precision: of its factors; the result has 16 bits.
        rows: m.
        columns: n.
        inner: k.
        rate: as measured.
        source: key of the bibliography; empty: timed for this catalog.
    """

    gpu: str
    precision: str
    rows: Count
    columns: Count
    inner: Count
    rate: FlopRate
    source: str


# GPU, data type, m, n, k, TFLOP/s: cuBLASLt with random numbers (Azure), the best of many shapes
# (Bekman), and products of language models (SimuMax; ten of its table, by operations per byte).
_ROWS: tuple[tuple[str, str, Count, Count, Count, float, str], ...] = (
    ("A100-PCIe-80GB", "bf16", 4_096, 1_024, 8_192, 152.3, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 1_536, 24_576, 230.2, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 4_096, 512, 190.4, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 4_096, 14_336, 236.4, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 4_096, 64_256, 234.9, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 5_120, 3_072, 223.9, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 7_168, 4_096, 221.8, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 7_168, 16_384, 231.6, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 8_192, 28_672, 231.2, "simumax"),
    ("A100-PCIe-80GB", "bf16", 4_096, 8_192, 128_256, 232.4, "simumax"),
    ("A100-SXM-80GB", "bf16", 1_024, 10_240, 5_120, 271.2, "bekman_accelerators"),
    ("A100-SXM-80GB", "fp16", 1_024, 1_024, 1_024, 119.4, "azure_gpu_guide"),
    ("A100-SXM-80GB", "fp16", 1_024, 2_145, 1_024, 132.8, "azure_gpu_guide"),
    ("A100-SXM-80GB", "fp16", 2_048, 2_048, 2_048, 221.8, "azure_gpu_guide"),
    ("A100-SXM-80GB", "fp16", 4_096, 4_096, 4_096, 228, "azure_gpu_guide"),
    ("A100-SXM-80GB", "fp16", 6_144, 12_288, 12_288, 250.8, "azure_gpu_guide"),
    ("A100-SXM-80GB", "fp16", 8_192, 8_192, 8_192, 253.7, "azure_gpu_guide"),
    ("A100-SXM-80GB", "fp16", 16_384, 16_384, 16_384, 256.5, "azure_gpu_guide"),
    ("A100-SXM-80GB", "fp16", 802_816, 192, 768, 157.8, "azure_gpu_guide"),
    ("B200", "bf16", 1_280, 8_192, 4_096, 1248.6, "simumax"),
    ("B200", "bf16", 1_792, 16_128, 3_072, 1745, "bekman_accelerators"),
    ("B200", "bf16", 2_048, 8_192, 5_120, 1037.2, "simumax"),
    ("B200", "bf16", 4_096, 160, 5_120, 414.3, "simumax"),
    ("B200", "bf16", 4_096, 4_096, 6_144, 1423.5, "simumax"),
    ("B200", "bf16", 4_096, 8_192, 28_672, 1090.5, "simumax"),
    ("B200", "bf16", 4_096, 14_336, 4_096, 1058.6, "simumax"),
    ("B200", "bf16", 8_192, 16_384, 10_240, 1060, "simumax"),
    ("B200", "bf16", 24_576, 5_120, 4_096, 1073.3, "simumax"),
    ("B200", "bf16", 32_768, 5_120, 8_192, 1056.8, "simumax"),
    ("B200", "bf16", 32_768, 16_384, 64_128, 1039.7, "simumax"),
    ("B200", "fp8", 15_360, 4_096, 3_072, 3432.5, "bekman_accelerators"),
    ("H100-SXM", "bf16", 2_048, 2_048, 13_312, 794.5, "bekman_accelerators"),
    ("H100-SXM", "fp8", 1_024, 1_024, 1_024, 274.1, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 1_024, 2_145, 1_024, 410.7, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 1_024, 9_216, 14_336, 1402.6, "bekman_accelerators"),
    ("H100-SXM", "fp8", 2_048, 2_048, 2_048, 1011.3, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 4_096, 4_096, 4_096, 1216.9, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 6_144, 12_288, 12_288, 1351.4, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 8_192, 8_192, 8_192, 1290.1, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 16_384, 16_384, 16_384, 1377.3, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 32_768, 32_768, 32_768, 1382.2, "azure_gpu_guide"),
    ("H100-SXM", "fp8", 802_816, 192, 768, 663.8, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 1_024, 1_024, 1_024, 290.8, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 1_024, 2_145, 1_024, 407.9, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 2_048, 2_048, 2_048, 1013.4, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 4_096, 4_096, 4_096, 1249.1, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 6_144, 12_288, 12_288, 1318, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 8_192, 8_192, 8_192, 1300.6, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 16_384, 16_384, 16_384, 1366.3, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 32_768, 32_768, 32_768, 1349.5, "azure_gpu_guide"),
    ("H200-SXM", "fp8", 802_816, 192, 768, 717.5, "azure_gpu_guide"),
)

MEASURED: tuple[MeasuredProduct, ...] = tuple(
    MeasuredProduct(
        gpu=gpu,
        precision=precision,
        rows=rows,
        columns=columns,
        inner=inner,
        rate=rate * TERA,
        source=source,
    )
    for gpu, precision, rows, columns, inner, rate, source in _ROWS
)

# Square products on one H100 SXM, timed for this catalog: medians of seven repeats on random
# numbers, each product alone (`tests/validation/device/products.py`; PyTorch 2.11, CUDA 13.0).
OWN_DATE = "2026-11-23"
_OWN: tuple[tuple[str, Count, float], ...] = (
    ("bf16", 1_024, 6.3258e-06),
    ("bf16", 2_048, 2.6804e-05),
    ("bf16", 4_096, 1.968e-04),
    ("bf16", 8_192, 1.5911e-03),
    ("bf16", 16_384, 1.2198e-02),
)
OWN_SQUARES: tuple[MeasuredProduct, ...] = tuple(
    MeasuredProduct(
        gpu="H100-SXM",
        precision=precision,
        rows=side,
        columns=side,
        inner=side,
        rate=2 * side**3 / time,
        source="",
    )
    for precision, side, time in _OWN
)

# BabelStream's triad in double precision: two operations for every 24 bytes (Azure's guide).
STREAMED: dict[str, Bandwidth] = {
    "A100-SXM-80GB": 1.70 * TB,
    "H100-SXM": 2.97 * TB,
    "H200-SXM": 4.15 * TB,
}
