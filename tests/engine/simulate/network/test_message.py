"""One message: the closed form against the simulated pipeline, and published waterfalls."""

from dataclasses import replace
from itertools import pairwise

import pytest

from engine.calculator import load, make
from engine.core.numbers import format_value
from engine.core.text import render_text
from engine.core.units import GB, MICRO, MILLI, KiB, MiB
from engine.core.views import cell_text
from engine.form.message import PRESETS, Inputs, at, path_of
from engine.formulas.message import break_even_size, message_time
from engine.simulate.network.message_path import Stage, message_timings, stage_transits

BASE = Inputs()
PATHS = [
    {},
    {"direct": False, "placement": "sys"},
    {"protocol": "ll", "placement": "pxb"},
    {"link": 200 * GB, "forwarding": "chunks"},
    {"forwarding": "whole"},
]


def views(**changes):
    return load("message_waterfall").compute(replace(BASE, **changes))


def text(output, **changes):
    value = views(**changes)[output]
    return format_value(value.value, value.quantity)


def test_two_stages_and_two_pieces_by_hand():
    # Latencies 1 and 2 s; 4 bytes in halves at 1 and 2 bytes per second: 1+2, then 2+1, then 2.
    path = [Stage(key="a", latency=1.0, bandwidth=1.0), Stage(key="b", latency=2.0, bandwidth=2.0)]
    assert [ran.end for ran in stage_transits(path, 4.0, 2)] == [3.0, 5.0, 6.0, 8.0]


def test_the_closed_form_gives_the_same_by_hand():
    assert message_time(4.0, 2, 3.0, 4.0 + 2.0, 1.0) == 8.0


@pytest.mark.parametrize("changes", PATHS)
@pytest.mark.parametrize("size", [1.0, 3 * KiB, 300 * KiB, 2 * MiB])
def test_the_simulated_pipeline_ends_at_the_closed_form(changes, size):
    one = at(BASE, message=size, **changes)
    assert stage_transits(one.stages, one.wire, one.pieces)[-1].end == pytest.approx(
        one.time, rel=1e-12
    )


def test_pieces_never_overtake():
    one = at(BASE, message=64 * KiB)
    ran = stage_transits(one.stages, one.wire, one.pieces)
    wire = [passage for passage in ran if passage.stage == "transmit"]
    assert all(two.start >= first.end for first, two in pairwise(wire))


def test_many_pieces_approach_latency_plus_size_over_the_slowest_stage():
    one = at(BASE, message=1e9)
    assert one.time == pytest.approx(one.latency + 1e9 / BASE.link, rel=1e-4)


def test_one_piece_waits_in_every_stage():
    one = at(BASE, forwarding="whole")
    assert one.time == pytest.approx(one.latency + one.passing, rel=1e-12)


def published_views(**changes):
    return load("published_waterfall").compute(make(load("published_waterfall"), changes))


def published(output, **changes):
    value = published_views(**changes)[output]
    return format_value(value.value, value.quantity)


@pytest.mark.parametrize(
    ("output", "expected"),
    [("latency", "15.0 µs"), ("bare_share", "46.5 %"), ("large_wire", "1.34 ms")],
)
def test_the_published_waterfall_adds_up_as_published(output, expected):
    assert published(output) == expected


def test_of_64_mebibytes_its_pcie_is_under_one_percent():
    found = published_views()
    assert found["large_share"].value < 0.01


def test_at_one_kilobyte_the_preset_still_shows_the_published_share():
    assert 0.46 < views(**PRESETS["A published waterfall"])["pcie_share"].value < 0.465


def test_at_the_break_even_size_bytes_take_as_long_as_latencies():
    one = at(BASE)
    size = break_even_size(one.latency, one.slowest, 1.0)
    assert size / one.slowest == pytest.approx(one.latency, rel=1e-12)


@pytest.mark.parametrize(
    ("message", "expected"), [(1 * KiB, "Latency"), (400 * KiB, "Latency"), (1 * MiB, "Wire")]
)
def test_the_regime_flips_with_the_size(message, expected):
    assert views(message=message)["regime"].text == expected


@pytest.mark.parametrize(("message", "expected"), [(500e3, "Not pipelined"), (1e6, "Wire")])
def test_a_message_is_pipelined_from_the_second_chunk_of_512_kibibytes(message, expected):
    assert views(message=message, forwarding="chunks")["regime"].text == expected


def test_over_the_sockets_pcie_is_slower_than_the_port():
    assert views(message=64 * MiB, placement="sys")["regime"].text == "PCIe"


def test_without_gpudirect_the_bytes_cross_pcie_four_times():
    assert text("crossed", message=1e6, direct=False) == "4.00 MB"


def test_with_gpudirect_they_cross_it_twice():
    assert text("crossed", message=1e6) == "2.00 MB"


def test_flags_of_ll_double_the_bytes_over_pcie():
    assert text("crossed", message=1e6, protocol="ll") == "4.00 MB"


def test_a_protocol_with_flags_sends_more_bytes():
    assert at(BASE, protocol="ll128").wire == pytest.approx(BASE.message * 128 / 120)


def test_ll_wins_for_small_messages_and_loses_for_large_ones():
    small = {key: at(BASE, protocol=key, message=1 * KiB).time for key in ("ll", "simple")}
    large = {key: at(BASE, protocol=key, message=64 * MiB).time for key in ("ll", "simple")}
    assert (small["ll"] < small["simple"], large["ll"] < large["simple"]) == (True, False)


def test_efa_between_hosts_is_within_the_measured_14_to_20_microseconds():
    efa = replace(BASE, **PRESETS["EFA v2, four cards per GPU"], message=8.0)
    # Measured from the posted request on, between the memories of hosts.
    time = at(efa).time - efa.launch - efa.read - efa.write
    assert 14 * MICRO < time < 20 * MICRO


def test_wire_minimum_is_less_than_collectives_alone():
    found = views()
    assert found["wire_minimum"].value < found["isolated"].value


def test_the_step_waits_only_for_the_last_of_many():
    found = views()
    assert found["exposed"].value == pytest.approx(found["isolated"].value / BASE.num_buckets)


def test_a_short_backward_pass_hides_little():
    found = views(backward=1 * MILLI)
    assert found["exposed"].value > 0.5 * found["isolated"].value


def test_every_stage_is_in_bars_lanes_and_table_under_one_name():
    found = views(direct=False)
    bars = [bar.links for bar in found["waterfall"].bars]
    lanes = [lane.links for lane in found["pipeline"].lanes]
    assert bars == lanes == list(found["layers"].links)


def test_the_default_latencies_lie_in_their_published_ranges():
    bars = views(direct=False, protocol="simple")["waterfall"].bars
    outside = [b.key for b in bars if not b.low <= b.segments[0].value <= b.high]
    assert outside == []


def test_the_parts_of_a_bar_are_the_whole_time():
    bar = views()["stacked"].bars[0]
    assert sum(part.value for part in bar.segments) == pytest.approx(at(BASE).time)


def test_the_caption_names_the_end_that_is_drawn_and_the_one_as_chosen():
    caption = render_text(views()["pipeline"].caption)
    assert format_value(at(BASE).time, views()["one_way"].quantity) in caption


def test_the_statement_on_hbm_stands_beside_the_measured_latency():
    row = published_views()["claims"].rows[2]
    assert [cell_text(cell) for cell in row[1:3]] == ["120 ns", "348 ns"]


def test_a_curve_is_the_same_path_at_other_sizes():
    assert message_timings(path_of(BASE), (1e3, 5e6))[1] == at(BASE, message=5e6)


def test_ll_leaves_half_of_a_port_to_data():
    one = at(BASE, protocol="ll")
    assert one.wire == 2 * BASE.message


def test_efa_gives_a_gpu_as_much_as_a_port_of_infiniband():
    efa = replace(BASE, **PRESETS["EFA v2, four cards per GPU"], message=1e9)
    assert at(efa).time == pytest.approx(at(BASE, message=1e9).time, rel=1e-3)
