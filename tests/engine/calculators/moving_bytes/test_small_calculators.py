"""Algorithm race, two-point fit and rail claim against published numbers and their own limits."""

import math

import pytest

from engine.calculator import load, make
from engine.calculators.moving_bytes.nccl_log import calculator
from engine.calculators.moving_bytes.nccl_log.calculator import Inputs, choice_table, solve
from engine.core.text import render_text
from engine.core.units import GB, KB, MB, MICRO
from engine.core.views import cell_text
from engine.formulas.communication import point_to_point_time
from tests.engine.calculators.asked import text
from tests.engine.run.logs.nccl_texts import NEW_CHOICE, OLD_CHOICE, SYMMETRIC, VERSIONED

ALPHA, WIRE = 7 * MICRO, 46 * GB


def computed(name, changes):
    return load(name).compute(make(load(name), changes))


def race(**changes):
    return computed("algorithm_race", changes)


def fit(*points):
    (first, reached), (second, also_reached) = points
    changes = {
        "first": first,
        "first_bandwidth": reached,
        "second": second,
        "second_bandwidth": also_reached,
    }
    return computed("alpha_beta_fit", changes)


def claim(**changes):
    return computed("rail_claim", changes)


def measured(size):
    """A row of a benchmark on a link with latency ALPHA and bandwidth WIRE."""
    return size, size / point_to_point_time(size, WIRE, ALPHA)


@pytest.mark.parametrize(
    ("views", "output", "expected"),
    [
        (race(latency=5 * MICRO), "crossover", "149 MB"),
        (race(world_size=8, latency=5 * MICRO), "crossover", "0 B"),
        (claim(), "time", "754 ms"),
        (claim(ports_per_node=1), "time", "5.51 s"),
        (claim(ports_per_node=1), "largest", "12.7B"),
    ],
)
def test_the_known_numbers(views, output, expected):
    assert text(views, output) == expected


@pytest.mark.parametrize(
    ("message", "winner"), [(148 * MB, "Double binary tree"), (150 * MB, "Ring")]
)
def test_crossing_the_crossover_flips_the_winner(message, winner):
    assert race(message=message, latency=5 * MICRO)["winner"].text == winner


@pytest.mark.parametrize("world_size", [2, 3])
def test_few_ranks_have_no_crossover(world_size):
    views = race(world_size=world_size)
    assert "never slower" in render_text(views["crossover"].note)


def test_where_there_is_no_crossover_none_is_drawn():
    assert race(world_size=2)["race"].rules == ()


def test_a_crossover_beyond_the_axis_is_not_drawn():
    assert race(world_size=131_072)["race"].rules == ()


def test_the_hierarchy_runs_only_with_full_nodes():
    keys = [series.key for series in race(gpus_per_node=7)["race"].series]
    assert keys == ["ring", "tree", "in_network"]


def test_eight_to_a_node_race_with_four_algorithms():
    keys = [series.key for series in race()["race"].series]
    assert keys == ["ring", "tree", "hierarchical", "in_network"]


def test_every_curve_of_the_race_ascends():
    curves = [series.y for series in race()["race"].series]
    assert all(list(curve) == sorted(curve) for curve in curves)


def test_the_readers_point_is_the_faster_of_ring_and_tree():
    solved = load("algorithm_race").solve(make(load("algorithm_race"), {}))
    assert race()["race"].points[0].y == min(solved.now["ring"], solved.now["tree"])


def test_the_fit_finds_the_latency_it_was_made_with():
    assert fit(measured(1 * MB), measured(1 * GB))["latency"].value == pytest.approx(ALPHA)


def test_the_fit_finds_the_bandwidth_it_was_made_with():
    assert fit(measured(1 * MB), measured(1 * GB))["bandwidth"].value == pytest.approx(WIRE)


def test_half_of_the_bandwidth_is_reached_at_latency_times_bandwidth():
    views = fit(measured(1 * MB), measured(1 * GB))
    assert views["half_size"].value == pytest.approx(ALPHA * WIRE)


def test_the_order_of_the_messages_does_not_matter():
    forth = fit(measured(1 * MB), measured(1 * GB))
    back = fit(measured(1 * GB), measured(1 * MB))
    assert back["latency"].value == pytest.approx(forth["latency"].value)


def test_both_measured_points_lie_on_the_fitted_curve():
    views = fit(measured(1 * KB), measured(100 * GB))
    curve, points = views["curve"].series[0], views["curve"].points
    assert (curve.y[0], curve.y[-1]) == pytest.approx((points[0].y, points[1].y))


def test_a_plausible_pair_is_consistent():
    assert fit(measured(1 * MB), measured(1 * GB))["verdict"].text == "Consistent"


def test_a_published_60_and_90_percent_of_300_gigabytes_is_doubtful():
    views = computed("alpha_beta_fit", next(iter(load("alpha_beta_fit").presets.values())))
    assert views["verdict"].text == "Doubtful"


@pytest.mark.parametrize(
    "points",
    [
        ((1 * MB, 25 * GB), (1 * MB, 25 * GB)),
        ((1 * MB, 1 * GB), (2 * MB, 400 * GB)),
        ((1 * MB, 48 * GB), (256 * MB, 25 * GB)),
    ],
    ids=["one message twice", "the larger is faster", "the larger reaches less"],
)
def test_what_no_link_can_do_is_inconsistent(points):
    assert fit(*points)["verdict"].text == "Inconsistent"


def test_an_inconsistent_pair_has_no_latency():
    views = fit((1 * MB, 48 * GB), (256 * MB, 25 * GB))
    assert text(views, "latency") == "–"


def test_an_inconsistent_pair_still_shows_its_points():
    curve = fit((1 * MB, 48 * GB), (256 * MB, 25 * GB))["curve"]
    assert (len(curve.points), curve.series, curve.rules) == (2, (), ())


def test_the_axis_of_an_inconsistent_pair_is_finite():
    assert math.isfinite(fit((1 * MB, 48 * GB), (256 * MB, 25 * GB))["curve"].y.high)


@pytest.mark.parametrize(("ports", "verdict"), [(1, "False"), (8, "True")])
def test_the_claim_holds_with_eight_ports_and_not_with_one(ports, verdict):
    assert claim(ports_per_node=ports)["verdict"].text == verdict


def test_one_port_is_spoken_of_in_the_singular():
    sentence = render_text(claim(ports_per_node=1)["verdict"].sentence)
    assert sentence.startswith("One port of 400 Gb/s per node carries")


def test_a_sixteenth_port_is_no_use_behind_nvlink():
    assert claim(ports_per_node=16)["time"].value == claim(ports_per_node=8)["time"].value


def test_beyond_the_bounds_largest_model_the_claim_is_false_and_nccls_time_decides():
    largest = claim()["largest"].value
    assert claim(parameters=largest * 1.001)["verdict"].text == "False"
    for share in (0.9, 0.95, 0.97, 0.999):
        found = claim(parameters=largest * share)
        assert found["time"].value < 1
        expected = "True" if found["composed"].value < 1 else "False"
        assert found["verdict"].text == expected


def test_gradients_in_fp32_halve_the_largest_model():
    half, full = (claim(gradients=one)["largest"].value for one in ("fp32", "bf16"))
    assert half == pytest.approx(full / 2)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (((1 * MB, 25 * GB), (1 * MB, 25 * GB)), "both messages have"),
        (((1 * MB, 1 * GB), (2 * MB, 400 * GB)), "no longer than"),
        (((1 * MB, 48 * GB), (256 * MB, 25 * GB)), "grows more than the size"),
    ],
)
def test_what_no_link_can_do_is_said_in_the_readers_units(points, said):
    sentence = render_text(fit(*points)["verdict"].sentence)
    assert said in sentence
    assert "e+" not in sentence


def test_the_curve_of_a_pasted_table_comes_from_sizes_and_times():
    result = solve(Inputs())
    factor = 2 * (result.ranks - 1) / result.ranks  # of an all-reduce
    measured = next(one for one in calculator.curve(result).series if one.key == "measured")
    rows = [one.row for one in result.check.rows]
    assert list(measured.y) == pytest.approx([factor * row.size / row.time for row in rows])


def test_a_column_of_nccl_s_choices_is_there_where_the_text_has_one_of_a_row():
    chosen = NEW_CHOICE.replace("33554432", "17179869184")
    for log, more in ((VERSIONED, ()), (VERSIONED + chosen, ("By NCCL",))):
        table = calculator.row_table(solve(Inputs(log=log)))
        assert table.columns == ("Message", "Time", "Expected", "Off by", "By model", *more)
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert "RING" in table.rows[-1][-1].upper()


def test_a_choice_has_its_channels_or_else_the_time_that_nccl_expects():
    log = VERSIONED + NEW_CHOICE + OLD_CHOICE + SYMMETRIC
    rows = [[cell_text(cell) for cell in row] for row in choice_table(solve(Inputs(log=log))).rows]
    # The old line names no operation: it is that of the table.
    assert {tuple(row[:4]) for row in rows} == {
        ("All-reduce", "32 MiB", "Ring Simple", "32"),
        ("All-reduce", "768 MiB", "Ring Simple", "3.97 ms planned"),
        ("All-reduce", "1 MiB", "symmetric kernel", ""),
    }
