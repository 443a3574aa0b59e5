"""The engine beside kernels, layers and steps that were timed on an H100 and an H200.

No constant was fitted to what is here: the tolerances say how far the engine is off today, rounded
up. The rules of FSDP's memory come from PyTorch's source, but were found with these peaks in sight;
the published ones (test_peaks.py) are another check. Kernels that run alone are faster than in a
training step, whose clocks the limit of power holds down, so large products are expected some
points below the engine's times.
"""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.catalog.models import MODELS
from engine.formulas.parameters import total_parameters
from tests.each import each
from tests.validation.device import tables
from tests.validation.device.compare import classes, lines

FOUND = classes()
# Mean and largest error of a class on the worse of both GPUs.
TOLERANCES = {
    "Llama layers, forward, bf16": (0.13, 0.43),
    "Llama layers, forward, fp8": (0.23, 0.52),
    "Llama layers, input gradient, bf16": (0.14, 1.08),
    "Llama layers, weight gradient, bf16": (0.14, 0.47),
    "Llama layers, weight gradient, fp8": (0.24, 0.61),
    "LoRA memory reserved, all trained": (0.02, 0.03),
    "LoRA memory reserved, compiled": (0.03, 0.07),
    "LoRA memory reserved, eager": (0.02, 0.05),
    "LoRA memory reserved, one unit": (0.06, 0.06),
    "LoRA memory, all trained": (0.01, 0.01),
    "LoRA memory, compiled": (0.01, 0.01),
    "LoRA memory, eager": (0.01, 0.01),
    "LoRA memory, one unit": (0.02, 0.02),
    "LoRA time, all trained": (0.03, 0.03),
    "LoRA time, compiled": (0.20, 0.38),
    "LoRA time, eager": (0.14, 0.40),
    "attention, few heads, backward": (0.32, 0.62),
    "attention, few heads, forward": (0.36, 0.63),
    "attention, grouped queries, backward": (0.11, 0.20),
    "attention, grouped queries, forward": (0.04, 0.08),
    "attention, heads of 64, backward": (0.09, 0.16),
    "attention, heads of 64, forward": (0.15, 0.23),
    "attention, latent, backward": (0.29, 0.39),
    "attention, latent, forward": (0.14, 0.20),
    "attention, length, backward": (0.12, 0.21),
    "attention, length, forward": (0.04, 0.08),
    "attention, long, backward": (0.25, 0.30),
    "attention, long, forward": (0.04, 0.06),
    "attention, not causal, backward": (0.15, 0.25),
    "attention, not causal, forward": (0.04, 0.07),
    "attention, short, backward": (0.31, 0.47),
    "attention, short, forward": (0.15, 0.31),
    "few rows, bf16": (0.63, 1.66),
    "few rows, fp8": (0.65, 1.50),
    "grouped, forward, few rows": (0.44, 1.45),
    "grouped, forward, many rows": (0.25, 1.11),
    "grouped, input gradient, few rows": (0.47, 1.33),
    "grouped, input gradient, many rows": (0.26, 1.10),
    "grouped, weight gradient, few rows": (0.72, 1.41),
    "grouped, weight gradient, many rows": (0.34, 1.10),
    "layer kept, GPT": (0.01, 0.01),
    "layer kept, compiled": (0.01, 0.01),
    "layer kept, eager": (0.01, 0.01),
    "layer kept, one norm": (0.01, 0.01),
    "layer time, GPT": (0.49, 0.50),
    "layer time, compiled": (0.09, 0.15),
    "layer time, eager": (0.04, 0.07),
    "layer time, one norm": (0.15, 0.15),
    "one more row of tiles, bf16": (0.16, 0.41),
    "short inner sum, bf16": (0.40, 0.73),
    "short inner sum, fp8": (0.47, 0.67),
    "square, bf16": (0.27, 0.75),
    "square, fp8": (0.24, 0.55),
    "square, fp8, exact sums": (0.17, 0.44),
    "step memory reserved, compiled": (0.02, 0.03),
    "step memory reserved, eager": (0.02, 0.03),
    "step memory, compiled": (0.01, 0.01),
    "step memory, eager": (0.01, 0.01),
    "step time, compiled": (0.07, 0.28),
    "step time, eager": (0.08, 0.24),
    "unaligned": (0.85, 0.85),
    "vocabulary, bf16": (0.13, 0.17),
    "vocabulary, fp8": (0.25, 0.27),
}
# A class that has become so much better than it says gets a new tolerance.
SLACK = 0.05


def worse(kind):
    return [one for one in FOUND if one.kind == kind]


def test_every_class_has_a_tolerance():
    assert {one.kind for one in FOUND} == set(TOLERANCES)


@each("kind", TOLERANCES)
def test_a_class_is_as_far_off_as_it_is_said_to_be(kind):
    mean, worst = TOLERANCES[kind]
    found = max(one.mean for one in worse(kind))
    assert mean - SLACK <= found <= mean, kind
    assert max(abs(one.worst.error) for one in worse(kind)) <= worst, kind


def pairs(part, kind):
    return [one for one in part() if one.kind.startswith(kind)]


def test_steps_that_no_constant_was_fitted_to_are_near():
    """24 steps of two models on two GPUs, compiled and eager, three kinds of recomputation."""
    found = pairs(tables.steps, "step time")
    assert len(found) == 24
    assert sum(abs(one.error) for one in found) / len(found) <= 0.065


def test_what_a_gpt_layer_keeps_is_the_published_formula():
    """34 sbh + 5 as^2 b (Korthikanti et al. 2022), to a thousandth; recomputed, its input."""
    for one in pairs(tables.layers, "layer kept, GPT"):
        assert one.error == pytest.approx(0, abs=1e-3)
    full = [one for one in pairs(tables.layers, "layer kept") if ", full," in one.name]
    assert len(full) == 3
    assert all(one.error == pytest.approx(0, abs=1e-3) for one in full)


def test_lora_saves_gradient_copy_and_moments_of_frozen_weights():
    """16 bytes of every parameter against 2: the difference between the two peaks of Llama 3 8B."""
    held = {
        row["trained"]: float(row["allocated"])
        for row in tables.table("lora")
        if (row["model"], row["batch"], row["compiled"]) == ("llama-3-8b", "1", "0")
        and row["recompute"] == "full"
        and row["device"] == "H200-SXM"
    }
    frozen = total_parameters(MODELS["llama-3-8b"])
    assert held["full"] - held["lora"] == pytest.approx(14 * frozen, rel=0.06)
    # One unit of FSDP1: a gradient of 2 bytes for all of the blocks, when the logits are gone.
    assert held["together"] - held["lora"] < 2 * frozen


def test_a_vocabulary_that_is_no_multiple_of_eight_is_slower():
    found = {
        (row["device"], row["columns"]): float(row["time"])
        for row in tables.table("products")
        if row["class"] == "vocabulary" and row["precision"] == "bf16"
    }
    for gpu in tables.GPUS.values():
        assert found[gpu, "50257"] > 5 * found[gpu, "50304"]


def test_large_copies_reach_what_the_catalog_says_of_the_memory():
    for row in tables.table("streams"):
        if row["name"] == "device to device" and int(row["size"]) == 1 << 28:
            gpu = ACCELERATORS[row["device"]]
            reached = 2 * int(row["size"]) / float(row["time"])
            assert reached == pytest.approx(
                gpu.memory_bandwidth * achieved_shares(gpu).memory, rel=0.02
            ), row["device"]


def test_a_product_under_the_limit_of_power_reaches_the_constant_of_training():
    """Twelve seconds of one product at 700 W: the constant was fitted to training runs."""
    for machine in tables.machines():
        gpu = ACCELERATORS[tables.GPUS[machine["device"]]]
        rates = sorted(one[1] for one in machine["long product"][-10:])
        assert 1e12 * rates[5] / gpu.peak["bf16"] == pytest.approx(
            achieved_shares(gpu).matmul, abs=0.02
        )


def test_every_table_has_both_devices_and_its_repeats():
    for name in ("products", "attention", "grouped", "sustained", "streams", "steps", "lora"):
        rows = tables.table(name)
        assert {row["device"] for row in rows} == set(tables.GPUS.values()), name
        assert all(int(row["repeats"]) >= 7 for row in rows), name
        assert all(
            0 < float(row["least"]) <= float(row["time"]) <= float(row["most"]) for row in rows
        ), name
    assert all({"date", "torch", "cuda", "driver_version"} <= set(one) for one in tables.machines())


def test_the_table_is_printed_by_class():
    printed = list(lines(FOUND))
    assert len(printed) == len(FOUND)
    assert any("step time, compiled" in line for line in printed)
