"""The roofline's pages: what was measured lies under it, and fusion moves what it should."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.calculators.one_gpu.roofline_point import operations_per_byte
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_kernels import MEASURED, STREAMED
from engine.formulas.roofline import attainable

point, product, layer = (
    load(name) for name in ("roofline_point", "product_roofline", "layer_roofline")
)


@pytest.mark.parametrize("one", MEASURED, ids=lambda one: f"{one.gpu}-{one.rows}-{one.columns}")
def test_every_measured_product_is_under_the_roof(one):
    gpu = ACCELERATORS[one.gpu]
    assert one.rate < attainable(
        gpu.peak[one.precision], gpu.memory_bandwidth, operations_per_byte(one)
    )


def test_no_stream_is_faster_than_the_memory():
    assert all(rate < ACCELERATORS[key].memory_bandwidth for key, rate in STREAMED.items())


def test_the_ridge_says_which_limit_binds():
    found = [point.compute(replace(point.inputs(), intensity=i))["limit"].text for i in (294, 296)]
    assert found == ["Memory-bound", "Compute-bound"]


def test_345_tokens_fill_the_tensor_cores_of_an_h100():
    assert round(product.solve(product.inputs()).enough) == 345


def test_fusion_halves_what_waits_for_memory():
    before, after = (layer.solve(replace(layer.inputs(), fused=on)) for on in (False, True))
    assert after.waiting < before.waiting / 2
    assert after.time < before.time
    assert after.saved == 0


def test_unfused_attention_makes_the_memory_decide():
    views = layer.compute(replace(layer.inputs(), flash=False))
    assert views["verdict"].text == "The memory decides"


def test_one_token_is_memory_bound_everywhere():
    assert layer.solve(replace(layer.inputs(), tokens=1)).waiting == pytest.approx(1.0)
