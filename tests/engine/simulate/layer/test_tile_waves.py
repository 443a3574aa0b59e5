"""Tiles in waves: the 133rd tile, hand-counted waves, what fits on a multiprocessor."""

import pytest

from engine.core.units import KiB
from engine.simulate.layer.tile_waves import (
    Tiling,
    last_wave_share,
    run_tiles,
    tiles_per_limit,
    wave_efficiency,
)

RATE = 5e12  # of one multiprocessor


def product(rows, columns, tile=(128, 256), inner=4096):
    return Tiling(rows=rows, columns=columns, inner=inner, tile_rows=tile[0], tile_columns=tile[1])


def test_133_tiles_on_132_multiprocessors_use_50_4_percent():
    assert round(wave_efficiency(133, 132), 3) == 0.504
    assert wave_efficiency(132, 132) == 1


@pytest.mark.parametrize(("tiles", "sms", "share"), [(5, 4, 5 / 8), (8, 4, 1), (1, 132, 1 / 132)])
def test_places_in_use_by_hand(tiles, sms, share):
    assert wave_efficiency(tiles, sms) == pytest.approx(share)


@pytest.mark.parametrize("tiles", [1, 131, 132, 133, 264, 265])
def test_the_last_wave_holds_what_is_left(tiles):
    assert last_wave_share(tiles, 132) == pytest.approx(((tiles - 1) % 132 + 1) / 132)


@pytest.mark.parametrize("places", [1, 2, 3])
@pytest.mark.parametrize("rows", [128, 896, 5000])
def test_every_tile_runs_exactly_once(rows, places):
    tiling = product(rows, 4864)
    played = run_tiles(tiling, 132, places, RATE, 1e-6)
    ran = sum(wave.tiles * n for wave, n in zip(played.waves, played.repeats, strict=True))
    assert ran == tiling.tiles


def test_no_multiprocessor_holds_more_than_its_places():
    played = run_tiles(product(4096, 14_336), 132, 2, RATE, 0.0)
    assert max(max(wave.on) for wave in played.waves) == 2


def test_the_simulated_time_is_the_closed_form_without_filling():
    tiling = product(896, 4864)
    played = run_tiles(tiling, 132, 1, RATE, 0.0)
    busy = tiling.tiles * tiling.each / RATE / 132
    assert busy / played.time == pytest.approx(wave_efficiency(133, 132))


def test_tiles_that_stick_out_compute_in_vain():
    assert product(128, 257).tiles == 2
    assert product(128, 257).each * 2 > product(128, 257).useful


def test_one_of_the_largest_tiles_fits_on_a_hopper_multiprocessor():
    by = tiles_per_limit(product(128, 256), 256 * KiB, 228 * KiB)
    assert (min(by.values()), by["registers"], by["shared memory"]) == (1, 2, 1)


def test_two_smaller_ones_fit():
    assert min(tiles_per_limit(product(128, 256, (128, 64)), 256 * KiB, 228 * KiB).values()) == 2
