"""Fits of constants: known ones are recovered, and published tables give the catalog's."""

import json
import random
from dataclasses import fields, replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import AchievedShares, achieved_shares
from engine.catalog.measured_kernels import MEASURED
from engine.form.nccl_samples import SAMPLES
from engine.run.logs.calibration import Timings, read_calibration
from engine.run.logs.cluster_text import read_cluster_text
from engine.run.machines import cluster_of
from engine.simulate.measured.calibration import (
    KNOWN_CONSTANTS,
    SYNTHETIC_CLUSTER,
    UNDER_POWER,
    calibrate,
    fit_products,
    script_output,
    synthetic_text,
)
from engine.simulate.measured.measured_cluster import all_timings, machine_of_text
from tests.each import each

NAMES = [field.name for field in fields(AchievedShares)]


def fitted(scatter=(1.0,), constants=KNOWN_CONSTANTS):
    text = json.dumps(script_output(constants, scatter=scatter))
    return calibrate(read_calibration(text), SYNTHETIC_CLUSTER).values


@each("name", NAMES)
def test_times_that_the_formulas_made_return_their_constants(name):
    assert fitted()[name].value == pytest.approx(getattr(KNOWN_CONSTANTS, name), rel=1e-6)


def test_noisy_times_return_the_constants_within_the_errors_they_state():
    """60 clusters with other constants and 3 % of noise: at most one in fifty beyond 3 errors."""
    chance = random.Random(11)
    beyond = count = 0
    for _ in range(60):
        values = {
            name: getattr(KNOWN_CONSTANTS, name) * chance.uniform(0.8, 1.15) for name in NAMES
        }
        known = replace(KNOWN_CONSTANTS, **values)
        found = fitted([chance.gauss(1, 0.03) for _ in range(997)], known)
        for name in NAMES:
            off = found[name].value / getattr(known, name) - 1
            beyond += abs(off) > 3 * found[name].error
            count += 1
    assert count == 480
    assert beyond <= count / 50


def test_a_few_wild_rows_change_little():
    chance = random.Random(3)
    scatter = [4.0 if chance.random() < 0.08 else chance.gauss(1, 0.01) for _ in range(997)]
    found = fitted(scatter)
    for name in ("matmul", "memory", "scale_up", "network"):
        assert found[name].value == pytest.approx(getattr(KNOWN_CONSTANTS, name), rel=0.05), name


def test_the_sample_that_is_made_up_comes_near_to_what_it_was_made_with():
    found = calibrate(read_calibration(synthetic_text()), SYNTHETIC_CLUSTER).values
    for name in NAMES:
        assert found[name].value == pytest.approx(getattr(KNOWN_CONSTANTS, name), rel=0.02), name


def published_products(gpu, source):
    return [
        (one.rows, one.columns, one.inner, 2 * one.rows * one.columns * one.inner / one.rate)
        for one in MEASURED
        if (one.gpu, one.source) == (gpu, source) and one.precision != "fp8"
    ]


PRODUCTS = {"A100-SXM-80GB": "azure_gpu_guide", "A100-PCIe-80GB": "simumax", "B200": "simumax"}


@each("gpu", PRODUCTS)
def test_published_products_give_what_training_runs_give(gpu):
    """Of the A100 and the B200 the catalog's constants are fitted to training runs alone."""
    row = ACCELERATORS[gpu]
    rate, _, _ = fit_products(published_products(gpu, PRODUCTS[gpu]), row.sms)
    share = rate / row.peak["fp16"] * UNDER_POWER
    assert share == pytest.approx(achieved_shares(row).matmul, rel=0.03)


TABLES = {"h100": "scale_up", "a100": "scale_up"}


@each("key", TABLES)
def test_published_tables_of_nccl_tests_give_the_links(key):
    text = read_cluster_text(SAMPLES[key].text)
    machine = machine_of_text(text)
    found = calibrate(all_timings(text, machine), cluster_of(machine)).values
    table = achieved_shares(cluster_of(machine).gpu)
    assert found["scale_up"].value == pytest.approx(table.scale_up, rel=0.03)


def test_a_broken_network_is_fitted_as_broken():
    text = read_cluster_text(SAMPLES["broken"].text)
    found = calibrate(all_timings(text, "dgx-h100"), cluster_of("dgx-h100")).values
    assert found["network"].value < 0.05


def test_what_was_not_timed_is_not_fitted():
    whole = read_calibration(json.dumps(script_output()))
    assert calibrate(Timings(device="x"), SYNTHETIC_CLUSTER).measured == ()
    only = Timings(device="x", copies=whole.copies)
    assert [name for name, _ in calibrate(only, SYNTHETIC_CLUSTER).measured] == ["memory"]
    one = Timings(device="x", products=whole.products[:1], copies=whole.copies[:1])
    assert calibrate(one, SYNTHETIC_CLUSTER).measured == ()


def test_flash_attention_alone_counts_as_older_instructions_on_a_hopper():
    whole = read_calibration(json.dumps(script_output()))
    flash = tuple(replace(one, kernel="flash") for one in whole.attention)
    found = calibrate(replace(whole, attention=flash), SYNTHETIC_CLUSTER).values
    assert found["attention_forward"].value == pytest.approx(
        KNOWN_CONSTANTS.attention_forward / 0.6
    )
