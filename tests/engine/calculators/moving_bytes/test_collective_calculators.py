"""Collectives by hand, per port, with a slow port and on a cluster: numbers known beforehand."""

import pytest

from engine.calculator import load, make
from engine.core.text import render_text
from engine.core.views import CalculatorLink
from engine.simulate.collectives.collective_walkthrough import algorithm_modules
from tests.engine.calculators.asked import text


def computed(name, changes):
    return load(name).compute(make(load(name), changes))


def hand(**changes):
    return computed("collectives_by_hand", changes)


def port(**changes):
    return computed("port_traffic", changes)


def slow(**changes):
    return computed("slow_port", changes)


def scale(**changes):
    return computed("collective_at_scale", changes)


@pytest.mark.parametrize(
    ("views", "output", "expected"),
    [
        (port(world_size=2), "factor", "1.00×"),
        (port(), "factor", "1.75×"),
        (port(), "many_factor", "2.00×"),
        (port(), "ring_port", "24.5 GB"),
        (port(), "star_port", "196 GB"),
        (port(world_size=16_384), "ring_latency", "374 ms"),
        (hand(), "time", "557 ms"),
        (hand(), "rounds", "14"),
        (hand(algorithm="star"), "busiest_port", "7.00×"),
        (slow(), "time", "2.23 s"),
    ],
)
def test_the_known_numbers(views, output, expected):
    assert text(views, output) == expected


def test_star_and_ring_send_the_same_in_total():
    ring, star = hand(), hand(algorithm="star")
    assert ring["all_ports"].value == pytest.approx(star["all_ports"].value)


EVERY = [(operation, name) for operation, names in algorithm_modules().items() for name in names]


@pytest.mark.parametrize(("operation", "algorithm"), EVERY)
def test_every_algorithm_of_every_operation_proves_itself_equal(operation, algorithm):
    views = hand(operation=operation, algorithm=algorithm, world_size=5, seed=3)
    assert views["proof"].text == "Equal"


def test_an_algorithm_that_an_operation_lacks_is_named_and_replaced():
    views = hand(operation="gather", algorithm="tree")
    assert "no such gather" in render_text(views["rounds"].note)


def test_the_table_of_sums_adds_what_the_first_frame_shows():
    rows = hand()["sums"].rows
    assert rows[0][1:] == ("36", "all 8 GPUs", "1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 = 36")


def test_other_numbers_change_the_sums():
    assert hand(seed=5)["sums"].rows != hand()["sums"].rows


@pytest.mark.parametrize("operation", ["all_reduce", "reduce"])
@pytest.mark.parametrize(("share", "expected"), [(1.0, "All ports alike"), (0.5, "Port of GPU 1")])
def test_the_badge_names_the_slow_port(operation, share, expected):
    # The last to send in a ring's reduce is that port, and at full speed it is no slow one.
    assert hand(operation=operation, slow_share=share)["binding"].text == expected


@pytest.mark.parametrize(("share", "expected"), [(1.0, "All ports alike"), (0.95, "Port of GPU 1")])
def test_crossing_the_full_speed_flips_the_badge_of_the_slow_port(share, expected):
    assert slow(slow_share=share)["binding"].text == expected


def test_small_buffers_wait_for_latency():
    assert hand(size=1e3)["binding"].text == "Latency"


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_root_of_a_star_is_named_though_a_port_with_less_to_do_is_slow(share):
    assert hand(algorithm="star", slow_share=share)["binding"].text == "Port of GPU 0"


def test_meters_tables_and_scene_name_the_same_objects():
    views = hand()
    drawn = {
        name
        for shape in views["scene"].frames[0].shapes
        for name in shape.attributes.get("data-links", "").split()
    }
    shown = {name for bar in views["meter"].bars for name in bar.links}
    shown |= {name for links in views["sums"].links for name in links}
    assert shown <= drawn


def test_scattered_ranks_feel_the_oversubscription_that_ordered_ones_do_not():
    thin = {"algorithm": "ring", "oversubscription": 7.0}
    ordered, scattered = scale(**thin), scale(**thin, scattered=True)
    assert scattered["time"].value > 5 * ordered["time"].value
    assert [views["binding"].text for views in (ordered, scattered)] == [
        "Network ports",
        "Leaf to spine",
    ]


def test_a_slow_port_is_named_on_a_cluster_too():
    assert scale(world_size=64, slow_share=0.25)["binding"].text == "One slow port"


def test_gpus_that_do_not_fill_nodes_are_repaired_in_words():
    views = scale(world_size=100)
    assert "100 GPUs do not fill nodes of 8; the simulation uses 96." in [
        render_text(one) for one in views["time"].receipt.assumptions
    ]


def test_without_a_power_of_two_halving_and_doubling_is_left_out_in_words():
    views = scale(world_size=96)
    assert "halving_doubling" not in [bar.key for bar in views["algorithms"].bars]
    assert "power of two" in render_text(views["algorithms"].caption)


def test_no_kind_of_link_is_busier_than_always():
    shares = [bar.segments[0].value for bar in scale(algorithm="ring")["links"].bars]
    assert 0.9 < max(shares) <= 1


def test_the_published_statements_are_rows_of_the_claims():
    verdicts = [
        render_text(row[2])
        for row in port()["claims"].rows
        if not isinstance(row[2], CalculatorLink)
    ]
    assert verdicts == [
        "wrong (E3.12)",
        "right (E3.13)",
        "incomplete (E3.14)",
        "misleading (E3.15)",
    ]


def test_a_slow_root_is_a_line_of_its_own():
    # 8 GPUs, ports of 44 GB/s: 4.45 s; the root sends the second half at a quarter: 2.23 + 8.91.
    lines = {line.key: dict(zip(line.x, line.y, strict=True)) for line in slow()["curve"].series}
    assert (lines["star"][0.25], lines["root"][0.25]) == pytest.approx(
        (196 / 44, 490 / 44), rel=1e-3
    )


def test_a_tree_takes_more_than_one_hop():
    # Up and down a chain of 8 and a tree of 64 nodes: 2 * (7 + 6).
    rows = {row[0]: render_text(row[1]) for row in scale()["table"].rows}
    assert rows["double binary tree"] == "26"


def test_ports_out_and_in_are_bars_of_their_own():
    bars = hand()["meter"].bars
    assert [bar.key for bar in bars[:2]] == ["gpu0 out", "gpu0 in"]
    assert bars[0].segments[0].value == pytest.approx(24.5e9)


def test_switches_of_both_kinds_work_at_the_same_time():
    # 14 GB through eight ports of 44 GB/s: 39.8 ms; the NVSwitch needs longer for 1.28 of them, at
    # 0.833 of 369 GB/s: as many as of eight GPUs.
    bars = {bar.key: bar.segments[0].value for bar in scale()["algorithms"].bars}
    inside = 2 * 511 / 512 * 9 / 14 * 14e9 / (0.833 * 369e9)
    assert bars["in_switch"] == pytest.approx(inside, rel=4e-3)


def test_what_latency_adds_is_told_beside_the_empty_buffer():
    found = load("collective_at_scale").solve(make(load("collective_at_scale"), {}))
    assert 0 <= found.added <= found.latency
    assert "longer than its bytes alone" in render_text(scale()["latency"].note)


@pytest.mark.parametrize(
    ("operation", "compared"),
    [
        ("all_reduce", "sums added directly"),
        ("reduce_scatter", "sums added directly"),
        ("all_gather", "numbers looked up directly"),
    ],
)
def test_the_proof_says_with_what_the_cells_were_compared(operation, compared):
    proof = hand(operation=operation)["proof"]
    assert proof.text == "Equal"
    assert render_text(proof.sentence).endswith(f"cells equal the {compared}.")
