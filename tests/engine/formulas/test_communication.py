import math
import re
import tomllib
from pathlib import Path

import pytest

from engine.catalog.hardware import LINKS, MEASURED
from engine.core import registry
from engine.core.equation import Equation
from engine.core.units import GB, Gbit, GiB
from engine.formulas.bandwidth import (
    ring_tree_crossover_size,
)
from engine.formulas.communication import (
    in_network_all_reduce_time,
    in_network_bytes_sent,
    in_network_gain,
    point_to_point_time,
    ring_all_gather_time,
    ring_all_reduce_time,
    ring_bytes_sent,
    ring_reduce_scatter_time,
    star_all_reduce_time,
    star_bytes_sent,
    tree_all_reduce_time,
    tree_bytes_sent,
    tree_depth,
)
from engine.formulas.hierarchy import (
    flat_ring_bandwidth,
    hierarchical_all_reduce_time,
    hierarchical_bytes_sent,
    node_bandwidth,
)
from tests.each import each

GRADIENTS = 7e9 * 2


NDR = LINKS["infiniband_ndr"].bandwidth


ALPHA = 5e-6


EQUATIONS = [
    value
    for name in registry.module_names("engine.formulas")
    for value in vars(registry.module("engine.formulas", name)).values()
    if isinstance(value, Equation)
]


def milliseconds(seconds):
    return f"{seconds * 1e3:.1f} ms"


def test_a_message_takes_its_latency_plus_its_size_over_the_bandwidth():
    # 64 MiB at 50 GB/s are 1.34 ms on the wire.
    time = point_to_point_time(64 * 2**20, 50 * GB, ALPHA)
    assert f"{time * 1e3:.3f}" == "1.347"


def test_an_empty_message_takes_the_latency():
    assert point_to_point_time(0, 50 * GB, ALPHA) == ALPHA


def test_7_billion_bf16_gradients_take_490_ms_on_8_gpus_with_400_gigabits_each():
    assert milliseconds(ring_all_reduce_time(GRADIENTS, 8, NDR)) == "490.0 ms"


def test_the_same_ring_takes_66_9_ms_over_nvlink_as_measured():
    nvlink = 366 * GB
    assert milliseconds(ring_all_reduce_time(GRADIENTS, 8, nvlink)) == "66.9 ms"


def test_the_measured_ring_row_rounds_to_366_gigabytes_per_second():
    assert round(MEASURED["h200_ring"].bus_bandwidth / GB) == 366


def test_dividing_gibibytes_by_gigabytes_per_second_gives_the_published_456_3_ms():
    wrong = ring_all_reduce_time(GRADIENTS / GiB, 8, 50)
    assert milliseconds(wrong) == "456.3 ms"


def test_fourteen_steps_of_5_microseconds_add_0_07_ms():
    with_latency = ring_all_reduce_time(GRADIENTS, 8, NDR, ALPHA)
    assert with_latency - ring_all_reduce_time(GRADIENTS, 8, NDR) == pytest.approx(70e-6)


def test_a_flat_ring_of_16384_ranks_waits_164_ms_for_latency_alone():
    assert milliseconds(ring_all_reduce_time(0, 16384, NDR, ALPHA)) == "163.8 ms"


def test_each_of_8_ranks_sends_24_5_gigabytes_of_14_in_a_ring():
    assert ring_bytes_sent(GRADIENTS, 8) == 24.5 * GB


def test_each_of_8_ranks_sends_612_5_of_350_gigabytes():
    assert ring_bytes_sent(350 * GB, 8) == 612.5 * GB


def test_what_a_ring_sends_tends_to_twice_the_buffer():
    assert ring_bytes_sent(1.0, 10**9) == pytest.approx(2)


def test_all_reduce_is_reduce_scatter_plus_all_gather():
    halves = ring_reduce_scatter_time(GRADIENTS, 8, NDR, ALPHA) + ring_all_gather_time(
        GRADIENTS, 8, NDR, ALPHA
    )
    assert halves == pytest.approx(ring_all_reduce_time(GRADIENTS, 8, NDR, ALPHA), rel=1e-14)


def test_a_reduce_scatter_of_500_million_bf16_gradients_takes_2_39_ms_over_nvlink():
    assert f"{ring_reduce_scatter_time(1e9, 8, 366 * GB) * 1e3:.2f}" == "2.39"


def test_a_tree_takes_560_ms_where_a_ring_takes_490():
    assert milliseconds(tree_all_reduce_time(GRADIENTS, 8, NDR)) == "560.0 ms"


def test_a_tree_of_1024_ranks_is_ten_hops_deep():
    assert tree_depth(1024) == 10


def test_a_tree_of_1025_ranks_is_eleven_hops_deep():
    assert tree_depth(1025) == 11


def test_the_latency_of_a_tree_is_up_and_down_its_depth():
    assert tree_all_reduce_time(0, 1024, NDR, ALPHA) == pytest.approx(20 * ALPHA)


def test_ring_and_tree_cross_at_912_megabytes_on_64_ranks():
    assert ring_tree_crossover_size(64, 50 * GB, ALPHA) == pytest.approx(912e6)


def test_ring_and_tree_take_the_same_time_where_they_cross():
    size = ring_tree_crossover_size(100, NDR, ALPHA)
    assert ring_all_reduce_time(size, 100, NDR, ALPHA) == pytest.approx(
        tree_all_reduce_time(size, 100, NDR, ALPHA), rel=1e-12
    )


def test_ring_and_tree_never_cross_on_two_ranks():
    assert ring_tree_crossover_size(2, NDR, ALPHA) == 0


def test_the_root_of_a_star_sends_98_gigabytes_and_receives_as_much():
    assert 2 * star_bytes_sent(GRADIENTS, 8) == 196 * GB


def test_a_star_takes_the_196_gigabytes_of_its_root_over_one_port():
    assert star_all_reduce_time(GRADIENTS, 8, NDR) == pytest.approx(196 / 50)


def test_a_star_of_two_ranks_is_twice_as_slow_as_a_ring_of_two():
    assert star_all_reduce_time(GRADIENTS, 2, NDR) == 2 * ring_all_reduce_time(GRADIENTS, 2, NDR)


def test_in_network_reduction_gains_at_most_1_56_on_8_ranks():
    assert f"{in_network_gain(8):.2f}" == "1.56"


def test_in_network_reduction_gains_at_most_2():
    assert in_network_gain(10**9) == pytest.approx(2)


def test_the_measured_gain_of_nvls_is_below_its_limit():
    measured = MEASURED["h200_nvls"].bus_bandwidth / MEASURED["h200_ring"].bus_bandwidth
    assert 1 < measured < in_network_gain(8)


def test_the_gain_is_the_ratio_of_the_two_times():
    ratio = ring_all_reduce_time(1e9, 6, NDR) / in_network_all_reduce_time(1e9, 6, NDR)
    assert ratio == pytest.approx(in_network_gain(6))


def test_in_network_each_of_8_ranks_sends_nine_eighths_of_the_buffer():
    assert in_network_bytes_sent(8 * GB, 8) == 9 * GB


@each(
    "all_reduce",
    [
        ring_all_reduce_time,
        tree_all_reduce_time,
        star_all_reduce_time,
        in_network_all_reduce_time,
        ring_reduce_scatter_time,
        ring_all_gather_time,
    ],
)
def test_one_rank_communicates_nothing(all_reduce):
    assert all_reduce(GRADIENTS, 1, NDR, ALPHA) == 0


@each("sent", [ring_bytes_sent, tree_bytes_sent, star_bytes_sent, in_network_bytes_sent])
def test_one_rank_sends_nothing(sent):
    assert sent(GRADIENTS, 1) == 0


@each(
    "all_reduce",
    [
        ring_all_reduce_time,
        tree_all_reduce_time,
        star_all_reduce_time,
        in_network_all_reduce_time,
        ring_reduce_scatter_time,
        ring_all_gather_time,
    ],
)
def test_infinite_bandwidth_leaves_only_latency(all_reduce):
    assert all_reduce(GRADIENTS, 8, math.inf, ALPHA) == all_reduce(0, 8, NDR, ALPHA)


def test_eight_rails_bring_70_billion_bf16_gradients_below_a_second():
    # 2 x 127/128 x 140 GB over 400 GB/s; the links inside the node are taken as free.
    across = hierarchical_all_reduce_time(140 * GB, 8, 128, math.inf, 0, 8 * NDR, 0)
    assert f"{across:.3f}" == "0.695"


def test_a_hierarchy_of_one_node_is_the_ring_inside_it():
    time = hierarchical_all_reduce_time(GRADIENTS, 8, 1, 366 * GB, ALPHA, NDR, 1.0)
    assert time == pytest.approx(ring_all_reduce_time(GRADIENTS, 8, 366 * GB, ALPHA), rel=1e-14)


def test_a_hierarchy_of_one_gpu_per_node_is_the_ring_across():
    time = hierarchical_all_reduce_time(GRADIENTS, 1, 16, 366 * GB, 1.0, NDR, ALPHA)
    assert time == pytest.approx(ring_all_reduce_time(GRADIENTS, 16, NDR, ALPHA), rel=1e-14)


def test_two_nodes_of_eight_add_up_by_hand():
    # Inside 2 x 7/8 x 16 / 400 = 70 ms and 14 x 1 us; across 1 x 16 / 100 = 160 ms and 2 x 10 us.
    time = hierarchical_all_reduce_time(16 * GB, 8, 2, 400 * GB, 1e-6, 100 * GB, 1e-5)
    assert time == pytest.approx(0.07 + 14e-6 + 0.16 + 20e-6, rel=1e-12)


def test_in_a_hierarchy_each_gpu_sends_an_eighth_into_the_network():
    ratio = hierarchical_bytes_sent(GRADIENTS, 8, 64) / ring_bytes_sent(GRADIENTS, 64)
    assert ratio == 1 / 8


def test_a_node_with_eight_400_gigabit_ports_sends_400_gigabytes_per_second():
    assert node_bandwidth(400 * Gbit, 8) == 400 * GB


def test_a_flat_ring_is_as_fast_as_all_ports_of_a_node():
    assert flat_ring_bandwidth(450 * GB, NDR, 4) == 200 * GB


def test_a_flat_ring_is_no_faster_than_the_links_in_a_node():
    assert flat_ring_bandwidth(300 * GB, NDR, 8) == 300 * GB


def test_equations_have_different_names():
    assert len({equation.name for equation in EQUATIONS}) == len(EQUATIONS)


@each("equation", EQUATIONS, ids=lambda equation: equation.name)
def test_an_equation_explains_exactly_the_symbols_it_uses(equation):
    assert set(re.findall(r"\\v\{(\w+)\}", equation.tex)) == equation.symbols.keys()


@each("equation", EQUATIONS, ids=lambda equation: equation.name)
def test_the_sources_of_an_equation_are_in_the_bibliography(equation):
    path = Path(__file__).parents[3] / "content" / "references.toml"
    assert set(equation.sources) <= tomllib.loads(path.read_text(encoding="utf-8")).keys()
