"""Tokens, GPU hours, money and energy of whole runs against what was published of them."""

import csv
from pathlib import Path

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.core.numbers import format_value
from engine.core.units import (
    DAY,
    ENERGY,
    GPU_TIME,
    HOUR,
    KWH,
    MEGA,
    MONEY,
    POWER,
    PRICE,
    TERA,
    TOKEN_RATE,
)
from engine.draw.csv import unit_name
from engine.formulas.run import cost, energy, gpu_time, token_rate, utilization, work_time
from tests.each import each

TABLE = Path(__file__).parents[2] / "validation" / "whole_run_gpu_hours.csv"
PEAKS = {
    "A100": ACCELERATORS["A100-SXM-80GB"].peak["bf16"],
    "H100": ACCELERATORS["H100-SXM"].peak["bf16"],
    "H800": ACCELERATORS["H800-SXM"].peak["bf16"],
    "TPU v4": 275 * TERA,
    "TPU v3": 123 * TERA,
}


def rows():
    with TABLE.open(encoding="utf-8") as file:
        return [pytest.param(row, id=row["run"].partition(" (")[0]) for row in csv.DictReader(file)]


def peak_of(row):
    return next(peak for name, peak in PEAKS.items() if row["accelerator"].startswith(name))


@each("row", rows())
def test_gpu_hours_follow_from_the_rate_of_the_whole_run(row):
    rate = float(row["derived_tokens_per_s_per_accel"])
    hours = gpu_time(64, work_time(float(row["tokens"]), 64, rate)) / HOUR
    # The table rounds the rate to a tenth of a token, the reports their hours to 10 or 3 digits.
    assert hours == pytest.approx(float(row["accel_hours"]), rel=3e-3)


@each("row", rows())
def test_the_utilization_of_the_whole_run_is_that_of_the_table(row):
    rate = float(row["tokens"]) / float(row["accel_hours"]) / HOUR
    share = utilization(float(row["params_or_active"]), rate, peak_of(row))
    assert 100 * share == pytest.approx(float(row["derived_6ND_mfu_pct"]), abs=0.15)


# Reported speed of a step, and hours of the whole run. What is missing is the time in which no
# step ran, so the forecast may only be too low; how much is stated, not fitted.
FORECASTS = [
    # Touvron et al. 2023 (LLaMA): 380 tokens/s per GPU; they computed their hours from it.
    ("LLaMA-65B", 1.4e12, 380.0, 1_022_362, 0.00, 0.01),
    # DeepSeek-V3: 180,000 GPU hours per trillion tokens, likewise.
    ("DeepSeek-V3", 14.8e12, 1e12 / (180_000 * HOUR), 2_664_000, 0.00, 0.001),
    # Llama 3.1 405B: 41 % of the peak on 16,384 GPUs, more than 90 % of the time effective.
    ("Llama 3.1 405B", 15.6e12, token_rate(405e9, 0.41, 989 * TERA), 30_840_000, 0.10, 0.17),
    # BLOOM: 156 TFLOP/s at best, a quarter of them recomputation.
    ("BLOOM", 366e9, token_rate(176.2e9, 0.375, 312 * TERA), 1_082_990, 0.10, 0.18),
]


@each(("name", "tokens", "rate", "hours", "least", "most"), FORECASTS)
def test_the_speed_of_a_step_forecasts_the_hours_of_the_run(name, tokens, rate, hours, least, most):
    missing = 1 - work_time(tokens, 1, rate) / HOUR / hours
    assert least - 0.005 <= missing <= most, name


def test_llama_65b_takes_21_days_on_2048_gpus():
    assert work_time(1.4e12, 2048, 380.0) / DAY == pytest.approx(21, abs=0.5)


def test_deepseek_v3_takes_3_7_days_per_trillion_tokens():
    assert work_time(1e12, 2048, 1e12 / (180_000 * HOUR)) / DAY == pytest.approx(3.7, abs=0.05)


def test_deepseek_v3_costs_5_328_million_at_two_per_gpu_hour():
    assert format_value(cost(2_664_000 * HOUR, 2 / HOUR), MONEY) == "5.33 million"


def test_bloom_draws_433_196_kilowatt_hours():
    # Luccioni et al. 2023, 1,082,990 GPU hours at 400 W.
    assert energy(1_082_990 * HOUR, 400.0, 1.0) / KWH == pytest.approx(433_196)


def test_the_building_adds_to_the_energy():
    assert energy(HOUR, 1000.0, 1.2) / KWH == pytest.approx(1.2)


def test_rate_and_utilization_are_inverse():
    assert utilization(7e9, token_rate(7e9, 0.4, 312 * TERA), 312 * TERA) == pytest.approx(0.4)


@each(
    ("value", "quantity", "text"),
    [
        (30.84 * MEGA * HOUR, GPU_TIME, "30.8M GPU h"),
        (82_432 * HOUR, GPU_TIME, "82,432 GPU h"),
        (433_196 * KWH, ENERGY, "433 MWh"),
        (0.5 * KWH, ENERGY, "0.500 kWh"),
        (0.0, GPU_TIME, "0 GPU h"),
        (12.6e6, POWER, "12.6 MW"),
        (61.7e6, MONEY, "61.7 million"),
        (2 / HOUR, PRICE, "2.00 per hour"),
        (380.0, TOKEN_RATE, "380 tokens/s"),
    ],
)
def test_quantities_of_a_run_are_written_in_their_units(value, quantity, text):
    assert format_value(value, quantity) == text


@each(
    ("quantity", "unit"),
    [(ENERGY, "joule"), (POWER, "joule/second"), (PRICE, "money/second"), (GPU_TIME, "second")],
)
def test_headings_of_data_name_the_units_of_a_run(quantity, unit):
    assert unit_name(quantity) == unit
