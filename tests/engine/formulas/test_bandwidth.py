"""Bus bandwidth, half sizes and the two constants that a fit finds."""

import pytest

from engine.catalog.hardware import LINKS
from engine.core.units import GB, GiB
from engine.formulas.bandwidth import (
    algorithm_bandwidth,
    bus_bandwidth,
    bus_bandwidth_factor,
    fit_two_points,
    half_bandwidth_size,
)
from engine.formulas.communication import (
    point_to_point_time,
    ring_all_reduce_time,
)
from tests.each import each

GRADIENTS = 7e9 * 2


NDR = LINKS["infiniband_ndr"].bandwidth


ALPHA = 5e-6


@each(
    ("operation", "factor"),
    [
        ("all_reduce", 1.75),
        ("reduce_scatter", 0.875),
        ("all_gather", 0.875),
        ("all_to_all", 0.875),
        ("broadcast", 1),
        ("reduce", 1),
    ],
)
def test_the_bus_bandwidth_factors_of_8_ranks(operation, factor):
    assert bus_bandwidth_factor(operation, 8) == factor


def test_8_gib_in_31_48_ms_on_8_gpus_are_477_gigabytes_per_second_of_bus_bandwidth():
    # 8 H200 with NVLS: 31,484.57 us, printed as 272.83 and 477.45 GB/s.
    bus = bus_bandwidth(8 * GiB, 31_484.57e-6, "all_reduce", 8)
    assert f"{bus / GB:.2f}" == "477.45"


def test_8_gib_in_31_48_ms_are_273_gigabytes_per_second_of_algorithm_bandwidth():
    assert f"{algorithm_bandwidth(8 * GiB, 31_484.57e-6) / GB:.2f}" == "272.83"


def test_the_bus_bandwidth_of_a_ring_without_latency_is_the_bandwidth_of_its_link():
    time = ring_all_reduce_time(GRADIENTS, 8, NDR)
    assert bus_bandwidth(GRADIENTS, time, "all_reduce", 8) == pytest.approx(NDR, rel=1e-14)


def test_an_unknown_operation_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no operation 'scan'; there are all_reduce, reduce_sc"):
        bus_bandwidth_factor("scan", 8)


def test_5_microseconds_at_300_gigabytes_per_second_halve_the_bandwidth_at_1_5_megabytes():
    assert half_bandwidth_size(300 * GB, ALPHA) == pytest.approx(1.5e6)


def test_a_message_of_half_size_reaches_half_of_the_bandwidth():
    size = half_bandwidth_size(NDR, ALPHA)
    assert size / point_to_point_time(size, NDR, ALPHA) == pytest.approx(NDR / 2)


def test_two_points_of_the_model_give_its_latency_back():
    times = [point_to_point_time(size, NDR, ALPHA) for size in (1e6, 1e9)]
    assert fit_two_points(1e6, times[0], 1e9, times[1]).latency == pytest.approx(ALPHA)


def test_two_points_of_the_model_give_its_bandwidth_back():
    times = [point_to_point_time(size, NDR, ALPHA) for size in (1e6, 1e9)]
    assert fit_two_points(1e6, times[0], 1e9, times[1]).bandwidth == pytest.approx(NDR)


def test_a_fit_gives_the_half_size():
    fit = fit_two_points(100.0, 3.0, 200.0, 4.0)  # 100 per unit of time, and 2 before the start
    assert fit.half_size == 200


def test_a_fit_does_not_depend_on_the_order_of_its_points():
    assert fit_two_points(200.0, 4.0, 100.0, 3.0) == fit_two_points(100.0, 3.0, 200.0, 4.0)


def test_proportional_points_have_no_latency():
    assert fit_two_points(0.1, 0.3, 0.7, 2.1).latency == pytest.approx(0, abs=1e-15)


def test_rounding_makes_no_latency_negative():
    # In binary, 0.1 - 0.2 / 2 with 0.2 = 0.30000000000000004 - 0.1 is a hair below zero.
    assert fit_two_points(1.0, 0.1, 3.0, 0.30000000000000004).latency == 0


def test_sixty_and_ninety_percent_of_a_bandwidth_fit_no_published_5_microseconds():
    # 128 MB at 60 % and 1 GB at 90 % of 300 GB/s: the latency comes out fifty times larger.
    fit = fit_two_points(128e6, 128e6 / 180e9, 1e9, 1e9 / 270e9)
    assert fit.latency > 50 * ALPHA


@each(
    ("points", "message"),
    [
        ((1e6, 1.0, 1e6, 2.0), "both sizes are 1e\\+06 bytes"),
        ((1e6, 1.0, 1e9, 1.0), "no positive bandwidth fits"),
        ((1e9, 1.0, 1e6, 2.0), "1e\\+09 bytes take no longer than 1e\\+06 bytes"),
        ((1e6, 1.0, 2e6, 3.0), "the latency would be -1 s"),
    ],
)
def test_points_that_no_line_fits_are_refused(points, message):
    with pytest.raises(ValueError, match=message):
        fit_two_points(*points)
