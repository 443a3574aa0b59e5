"""Against published kernel benchmarks: cuBLASLt, FlashAttention, torch matmul."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.formulas.compute import (
    BLOCK,
    MULTIPLY_ADD,
    flash_attention_time,
    matmul_time,
    pass_time,
    unfused_attention_time,
    waves,
)

A100, H100 = ACCELERATORS["A100-SXM-80GB"], ACCELERATORS["H100-SXM"]


def rate(gpu, precision, rows, columns, inner):
    """FLOP/s of one product on a GPU."""
    reached = achieved_shares(gpu)
    share = reached.matmul_fp8 if precision == "fp8" else reached.matmul
    time = matmul_time(rows, columns, inner, 1, gpu.peak[precision] * share, gpu.sms, reached.fill)
    return MULTIPLY_ADD * rows * columns * inner / time


# Azure's AI benchmarking guide: cuBLASLt, random operands, TFLOP/s.
CUBLAS = [
    (A100, "fp16", (4096, 4096, 4096), 228.0),
    (A100, "fp16", (8192, 8192, 8192), 253.7),
    (A100, "fp16", (16384, 16384, 16384), 256.5),
    (A100, "fp16", (6144, 12288, 12288), 250.8),
    (H100, "fp8", (8192, 8192, 8192), 1290.1),
    (H100, "fp8", (16384, 16384, 16384), 1377.3),
    (H100, "fp8", (6144, 12288, 12288), 1351.4),
]


# A benchmark of one kernel runs at higher clocks than training sustains, most so in fp8.
@pytest.mark.parametrize(("gpu", "precision", "shape", "published"), CUBLAS)
def test_a_product_is_within_15_percent_of_its_benchmark(gpu, precision, shape, published):
    assert rate(gpu, precision, *shape) == pytest.approx(published * 1e12, rel=0.15)


def test_a_thin_product_reaches_less_than_a_square_one():
    assert rate(A100, "fp16", 4096, 576, 5120) < 0.8 * rate(A100, "fp16", 4096, 4096, 5120)


def test_one_tile_more_than_a_wave_costs_half_a_wave():
    assert waves(109, 108) == pytest.approx(109 / 108 + (2 - 109 / 108) / 2)


def test_whole_waves_are_not_rounded():
    assert waves(216, 108) == 2


def test_products_in_one_kernel_share_the_last_wave():
    apart = 8 * matmul_time(512, 512, 4096, 1, 200e12, 108, 0.0)
    assert matmul_time(512, 512, 4096, 8, 200e12, 108, 0.0) < apart


def test_a_fused_attention_matches_the_measured_flash_attention_of_an_a100():
    # Azure's guide: FlashAttention-2, heads of 64, batch 2, 8192 tokens: 179.5 TFLOP/s.
    reached = achieved_shares(A100)
    speed = A100.peak["fp16"] * reached.attention_forward
    time = flash_attention_time(2 * 32, 8192, 8192, 64, speed, A100.sms)
    operations = 2 * MULTIPLY_ADD * 2 * 32 * 8192 * 8192 / 2 * 64
    assert operations / time == pytest.approx(179.5e12, rel=0.05)


def test_a_causal_mask_halves_long_attention():
    short = flash_attention_time(1024, 4096, 4096, 128, 1e14, 108)
    long = flash_attention_time(1024, 8192, 8192, 128, 1e14, 108)
    assert long / short == pytest.approx(2 * (8192 + BLOCK) / (4096 + BLOCK), rel=2e-3)


def test_a_head_of_108_misses_the_matrix_units():
    aligned = unfused_attention_time(32, 2048, 2048, 112, 1e14)
    assert unfused_attention_time(32, 2048, 2048, 108, 1e14) > 9 * aligned


def test_a_pass_streams_at_the_bandwidth():
    # BabelStream on an A100 copies at 1.61 TB/s, dots at 1.75 TB/s.
    speed = A100.memory_bandwidth * achieved_shares(A100).memory
    assert 1e12 / pass_time(1.0, speed) == pytest.approx(1.70e24, rel=0.05)


def test_an_unknown_gpu_takes_the_constants_of_the_h100():
    assert achieved_shares(replace(A100, name="custom")) == achieved_shares(H100)
