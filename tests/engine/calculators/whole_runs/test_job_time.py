"""The calculator of a run: its parts add up, and its figures are the published ones."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.calculators.whole_runs.job_time.calculator import solve
from engine.core.numbers import DEFAULT, format_value
from engine.core.text import render_text, with_published_digits
from engine.core.ticks import ticks
from engine.core.units import DAY, HOUR
from engine.form.saving_inputs import LLAMA3_FAILURES, LLAMA3_GPUS, LLAMA3_MTBF, LLAMA3_WINDOW

job_time = load("job_time")
START = job_time.inputs()
HOPELESS = replace(START, num_gpus=131_072, gpu_mtbf=1e3 * HOUR, interval=DAY)


def views(**changes):
    return job_time.compute(replace(START, **changes))


def text(found, output):
    return format_value(found[output].value, found[output].quantity)


@pytest.mark.parametrize(
    ("output", "expected"),
    [("mtbf", "3.09 h"), ("young", "19.3 min"), ("daly", "18.6 min")],
)
def test_the_known_numbers(output, expected):
    assert text(views(), output) == expected


def test_a_typed_mfu_is_reached():
    assert text(views(speed_from="utilization", utilization=0.43), "reached") == "43.0 %"


def test_the_default_rate_of_failures_is_llama_3s():
    counted = LLAMA3_WINDOW * LLAMA3_GPUS / LLAMA3_FAILURES
    assert counted == pytest.approx(LLAMA3_MTBF, abs=HOUR / 2)


@pytest.mark.parametrize(
    "changes", [{}, {"interval": 600.0}, {"slower": 0.3}, {"num_gpus": 8}, {"restart": 3 * HOUR}]
)
def test_the_parts_of_the_run_add_up(changes):
    found = solve(replace(START, **changes))
    parts = found.steps + found.checkpoints + found.redone + found.restarts
    assert parts == pytest.approx(found.wall_time)


def test_the_waterfall_ends_with_the_run():
    found = views()
    last = found["waterfall"].bars[-1]
    total = sum(segment.value for segment in last.segments)
    assert total == pytest.approx(found["wall_time"].value)


def test_saving_at_dalys_interval_is_better():
    assert views(interval=views()["daly"].value)["wall_time"].value < views()["wall_time"].value


def test_a_run_that_never_ends_says_so():
    assert job_time.compute(HOPELESS)["verdict"].text == "Never done"


def test_a_run_that_never_ends_has_no_finite_cost():
    assert text(job_time.compute(HOPELESS), "cost") == "no finite value"


def test_the_waterfall_of_a_run_that_never_ends_stops_at_the_checkpoints():
    assert len(job_time.compute(HOPELESS)["waterfall"].bars) == 4


def test_one_gpu_half_as_fast_doubles_the_run():
    ratio = views(slower=0.5)["wall_time"].value / views()["wall_time"].value
    assert ratio == pytest.approx(2, rel=0.002)


def test_a_measured_speed_takes_the_place_of_the_mfu():
    assert views(speed_from="measured", rate=100.0)["token_rate"].value == 100


def test_a_speed_above_the_peak_is_remarked():
    found = views(speed_from="measured", rate=1000.0)
    assert render_text(found["reached"].note) == "more than there is: check the speed"


def test_all_eight_gpus_of_a_step_end_together():
    ends = [
        sum(segment.value for segment in bar.segments) for bar in views(slower=0.2)["waiting"].bars
    ]
    assert ends == pytest.approx([ends[0]] * 8)


def test_the_slow_one_of_eight_does_not_wait():
    assert views(slower=0.2)["waiting"].bars[0].segments[1].value == 0


def test_twice_the_gpus_take_more_than_half_the_time():
    # More GPUs fail more often: the last hours are the dearest.
    ratio = views(num_gpus=32_768)["wall_time"].value / views()["wall_time"].value
    assert 0.5 < ratio < 1


def test_too_many_gpus_finish_later():
    many = views(num_gpus=131_072, interval=4 * HOUR)["wall_time"].value
    assert many > views(num_gpus=16_384, interval=4 * HOUR)["wall_time"].value


@pytest.mark.parametrize(
    ("preset", "reported"),
    [("BLOOM 176B on 384 A100", 1_082_990), ("DeepSeek-V3 on 2,048 H800", 2_664_000)],
)
def test_the_work_of_a_preset_is_within_the_reported_gpu_hours(preset, reported):
    found = solve(job_time.inputs(**job_time.presets[preset]))
    hours = found.work / HOUR
    assert 0.8 * reported < hours < 1.001 * reported


def test_a_log_axis_of_minutes_and_hours_is_marked_by_the_clock():
    found = [mark for _, mark in ticks(views()["goodput_curve"].x, DEFAULT)]
    assert found == ["1 min", "10 min", "1 h", "6 h", "1 day"]


def test_the_formula_gives_the_time_of_the_run():
    symbols = {key: value for key, (value, _) in views(slower=0.1)["formula"].symbols.items()}
    steps = symbols["D"] / (symbols["n"] * symbols["r"])
    assert steps * symbols["m"] / symbols["g"] == pytest.approx(symbols["Tr"])


SHORT = {"tokens": 1e9, "parameters": 1e7, "num_gpus": 131_072}


def test_a_run_of_milliseconds_takes_no_longer_than_its_steps():
    assert views(**SHORT)["wall_time"].value == pytest.approx(
        views(**SHORT)["work_time"].value, rel=0.06
    )


def test_a_run_of_milliseconds_says_that_it_is_short():
    assert views(**SHORT)["verdict"].text == "Short"


def test_one_gpu_is_one_gpu():
    assert render_text(views(num_gpus=1)["gpu_hours"].note) == "one GPU for the whole run"


def test_interruptions_are_told_from_unexpected_ones():
    said = [render_text(text) for text in views()["mtbf"].receipt.assumptions]
    assert any("of 466 interruptions" in text and "419 were unexpected" in text for text in said)


def test_metas_effective_time_stands_beside_ours():
    assert "90.0 %" in render_text(views()["goodput"].receipt.published.text)


def test_the_model_cards_hours_stand_beside_ours():
    text = render_text(with_published_digits(views()["wall_time"].receipt.published.text))
    assert "30.84M GPU h" in text
    assert "78.43 days" in text


def test_another_run_has_nothing_published():
    assert views(num_gpus=8192)["goodput"].receipt.published is None
