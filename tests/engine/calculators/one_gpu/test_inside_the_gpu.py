"""Inside the GPU: one tile too many, occupancy against speed, measured products."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.calculators.one_gpu.tile_scheduler import square_products, tiles_and_rate
from engine.core.numbers import Display
from engine.core.text import render_text

scheduler, waves, traced = (
    load(name) for name in ("tile_scheduler", "wave_quantization", "kernel_trace")
)


def solved(**changes):
    return scheduler.solve(replace(scheduler.inputs(), **changes))


def test_one_tile_more_halves_the_rate():
    exact = solved(rows=1408, columns=3072)
    assert (exact.tiles, solved().tiles) == (132, 133)
    assert solved().rate / exact.rate == pytest.approx(0.504, abs=0.002)


def test_more_occupancy_can_be_slower():
    large = solved(rows=1024, columns=4096)
    small = solved(rows=1024, columns=4096, tile_columns=64, places=2)
    assert small.occupancy == 2 * large.occupancy
    assert small.rate < large.rate


def test_a_wave_of_one_tile_is_told_so():
    grid = scheduler.compute(scheduler.inputs())["grid"]
    assert render_text(grid.frames[1].caption, Display()).startswith("Wave 2 of 2, from")
    assert ": 1 tile, and 131" in render_text(grid.frames[1].caption, Display())


def test_places_beyond_what_fits_are_refused():
    views = scheduler.compute(replace(scheduler.inputs(), places=8))
    assert views["verdict"].text == "Not so many at once"
    assert solved(places=8).places == 1


LARGE = [one for one in square_products() if one.precision == "fp8" or one.rows >= 2048]


@pytest.mark.parametrize("one", LARGE, ids=lambda one: f"{one.rows}-{one.precision}")
def test_measured_products_are_within_the_model_s_range(one):
    # A benchmark runs above what training reaches: by a tenth to a fifth, the smallest more.
    assert 1.05 < one.rate / tiles_and_rate(one)[1] < 1.45


def test_the_library_takes_smaller_tiles_where_the_model_does_not():
    (small,) = (one for one in square_products() if one.precision == "bf16" and one.rows == 1024)
    large = max(one.rate for one in square_products() if one.precision == "bf16")
    assert small.rate / tiles_and_rate(small)[1] == pytest.approx(2.68, abs=0.01)
    assert small.rate / large == pytest.approx(0.47, abs=0.01)


def test_waves_explain_why_small_products_are_slow():
    found = [one for one in square_products() if one.precision == "fp8"]
    by_side = {one.rows: (one.rate, tiles_and_rate(one)[1]) for one in found}
    measured, predicted = (
        [by_side[side][at] / by_side[16_384][at] for side in (1024, 2048)] for at in (0, 1)
    )
    assert measured == pytest.approx(predicted, abs=0.1)


def test_the_scene_tells_the_idle_multiprocessors():
    scene = scheduler.compute(scheduler.inputs())["grid"]
    scene = scene() if callable(scene) else scene
    assert len(scene.frames) == 3
    assert "131 multiprocessors are idle" in render_text(scene.frames[1].caption)


def test_at_133_tiles_half_of_the_gpu_is_in_use():
    found = waves.solve(replace(waves.inputs(), tiles=133))
    assert (found.waves, round(found.efficiency, 3)) == (2, 0.504)


def test_utilization_is_high_where_little_of_the_peak_is_used():
    found = traced.solve(replace(traced.inputs(), tokens=1, launch=0.1e-6))
    assert found.busy > 0.9
    assert found.used < 0.02


def test_one_token_waits_for_the_cpu():
    views = traced.compute(replace(traced.inputs(), tokens=1, launch=50e-6))
    assert views["verdict"].text == "Waiting for the CPU"


def test_the_trace_is_annotated_with_why_kernels_start():
    found = traced.compute(traced.inputs())
    marks = [span for span in found["timeline"].spans if span.lane == "notes"]
    assert [span.label for span in marks] == [row[0] for row in found["notes"].rows]
    assert {span.label for span in marks} == {"launch-bound", "CPU ahead"}
    assert [rule.label for rule in found["timeline"].rules] == ["all launched"]
    # A short stretch has no room for its name.
    assert {span.label: span.color for span in marks}.items() <= dict(
        found["timeline"].keys
    ).items()


def test_slow_launches_bind_the_whole_layer():
    found = traced.compute(replace(traced.inputs(), launch=100e-6))
    assert [row[0] for row in found["notes"].rows] == ["launch-bound"]
