"""The calculators of context parallelism: curves hold their points, and one job has one answer."""

import pytest

from engine.calculator import load, make
from engine.core.text import render_text
from engine.estimate import estimate
from engine.run.file import read_run
from tests.each import each
from tests.engine.calculators.asked import solved, views

LAB, MASK, STEPS, RING, PACK = (
    load(name)
    for name in (
        "context_lab",
        "mask_owners",
        "context_steps",
        "ring_buffers",
        "document_packing",
    )
)


def test_the_estimate_of_a_run_file_has_the_same_share_of_the_step():
    inputs = make(LAB, {"heads": "model", "data_parallel": 4})
    found = LAB.solve(inputs)
    run = {
        "model": "llama-3-70b",
        "sequence_length": 131_072,
        "cluster": {"gpu": "H100-SXM", "gpus_per_node": 8, "nics_per_node": 8}
        | {"nic_bandwidth": 50e9},
        "parallelism": {"world_size": 1024, "tensor_parallel": 8, "pipeline_parallel": 4}
        | {"context_parallel": 8, "sequence_parallel": True},
        "training": {"micro_batch_size": 1, "global_batch_size": 16, "precision": "bf16"},
    }
    step = estimate(read_run(run))
    assert step["step_time"] == pytest.approx(found.step, rel=1e-9)


def test_the_published_run_fits_and_is_near_what_was_published():
    found = views(LAB, **LAB.presets["Llama 3 405B at 131,072 tokens"])
    assert found["rate"].value == pytest.approx(380e12, rel=0.1)
    assert render_text(found["rate"].receipt.published.text) == "380 TFLOP/s"
    assert found["regime"].text == "Nothing hides it"


@each("length, ranks", [(131_072, 8), (4096, 256), (1 << 22, 1)])
def test_the_frame_on_the_map_lies_on_the_reader_s_cell(length, ranks):
    found = views(LAB, sequence_length=length, context_parallel=ranks)["exposed_map"]
    (own,) = found.points
    column, row = round(own.x), round(own.y)
    assert (own.x, own.y) == (column, row)
    assert found.y[row] == str(ranks)
    assert found.x[column] == (f"{length >> 20}M" if length >> 20 else f"{length >> 10}K")
    assert own.label.numbers["share"][0] == found.values[row][column]


def test_a_length_between_two_columns_is_framed_between_them():
    found = views(LAB, sequence_length=100_000, context_parallel=12)["exposed_map"]
    (own,) = found.points
    near = (found.values[3][4], found.values[4][4], found.values[3][5], found.values[4][5])
    assert 4 < own.x < 5
    assert 3 < own.y < 4
    assert min(near) <= own.label.numbers["share"][0] <= max(near)


def test_any_other_run_has_no_published_rate():
    assert views(LAB)["rate"].receipt.published is None


@each("ranks", [4, 16, 64])
def test_the_point_of_the_curve_is_the_value_shown(ranks):
    found = views(LAB, context_parallel=ranks)
    point, own = found["ratio_curve"].points[0], found["ratio_curve"].series[0]
    assert point.y == found["ratio"].value == pytest.approx(own.y[own.x.index(ranks)])


@each(("tokens", "text"), [(1, "4,945"), (0, "2,472")])
def test_the_threshold_is_the_one_derived(tokens, text):
    found = solved(LAB)
    assert f"{found.threshold if tokens else found.unmasked:,.0f}" == text


def test_without_grouped_queries_the_threshold_is_the_peak_over_the_bandwidth():
    found = solved(LAB, heads="all")
    assert f"{found.unmasked:,.0f}" == "19,780"


def test_a_block_in_fp8_is_half_as_large():
    assert solved(LAB, element="fp8").block == solved(LAB).block / 2


def test_the_ring_of_the_map_ends_where_the_badge_says_so():
    hidden = views(LAB, heads="all", context_parallel=2, recompute="full")
    shown = views(LAB, heads="all", context_parallel=64)
    assert (hidden["regime"].text, shown["regime"].text) == (
        "Hidden",
        "Short pieces: the ring shows",
    )


def test_ulysses_without_a_head_for_every_rank_is_refused():
    found = views(LAB, way="swap", context_parallel=16)
    assert found["regime"].text == "Too few heads"
    assert "swap" not in [bar.key for bar in found["by_way"].bars]


def test_a_job_that_does_not_fit_says_so():
    assert views(LAB, model="gpt-3-175b", context_parallel=1)["regime"].text == "Does not fit"


def test_an_all_gather_holds_the_blocks_of_all_ranks():
    assert solved(LAB, way="gather").buffer == 4 * solved(LAB).buffer


def test_the_mask_of_eight_contiguous_pieces_wastes_47_percent():
    assert f"{100 * solved(MASK, ranks='8').idle:.0f}" == "47"


@each("way", ["zigzag", "striped", "all_gather", "ulysses"])
@each("ranks", ["2", "4", "8", "16"])
def test_the_other_cuts_of_one_document_are_even(way, ranks):
    assert solved(MASK, way=way, ranks=ranks).busiest == pytest.approx(1, rel=1e-3)


@each("ranks", ["2", "8", "16"])
def test_the_drawn_mask_ends_with_the_work_of_all_ranks(ranks):
    scene = views(MASK, ranks=ranks)["scene"]
    assert len(scene.frames) == int(ranks)
    faint = [
        shape
        for shape in scene.frames[-1].shapes
        if shape.key.startswith("m") and shape.attributes["fill-opacity"] == "0.07"
    ]
    assert faint == []  # after the last step every visible pair has been computed


def test_documents_unbalance_a_zig_zag_and_not_stripes():
    zigzag, striped = (
        solved(MASK, way=way, documents="3").busiest for way in ("zigzag", "striped")
    )
    assert zigzag > 1.5 > 1.01 > striped


@each("ranks", ["1", "2", "4"])
@each("cut", ["contiguous", "zigzag"])
def test_a_cut_sequence_trains_as_a_whole_one(ranks, cut):
    found = solved(STEPS, ranks=ranks, cut=cut)
    assert found.record.off <= 1e-12
    assert found.keys == found.by_formula


def test_two_buffers_hide_a_block_that_is_faster_than_a_step():
    assert solved(RING).waits == pytest.approx(0, abs=1e-6)
    assert solved(RING, num_buffers=1).waits == pytest.approx(3 * 0.8e-3, rel=1e-2)


def test_a_third_buffer_helps_where_steps_vary():
    uneven = {"ranks": "8", "jitter": 0.3, "hop": 0.9e-3}
    two, three, four = (solved(RING, num_buffers=n, **uneven).end for n in (2, 3, 4))
    assert three < 0.97 * two
    assert four == pytest.approx(three)


@each("buffers", [1, 2, 3])
def test_the_bar_of_the_buffers_is_the_ring_shown(buffers):
    found = views(RING, num_buffers=buffers)
    bar = found["by_buffers"].bars[buffers - 1]
    assert sum(part.value for part in bar.segments) == pytest.approx(found["end"].value)


@each("packing", ["arrival", "balanced"])
def test_documents_cut_by_themselves_are_even_within_a_sequence(packing):
    found = solved(PACK, cut="document", packing=packing)
    assert found.within == pytest.approx(1, rel=1e-3)


def test_packing_by_work_evens_out_the_sequences():
    before, after = (solved(PACK, cut="document", packing=p) for p in ("arrival", "balanced"))
    assert after.busiest < before.busiest
    assert after.layer < before.layer


def test_no_cut_helps_against_a_document_as_long_as_a_sequence():
    found = views(PACK, cut="document", long_document=True)
    assert found["regime"].text == "The sequences are uneven"


def test_a_published_saving_of_a_part_is_a_small_saving_of_the_step():
    assert solved(PACK, exposed=0.08).claimed == pytest.approx(1 / (1 - 0.65 * 0.08))


def test_the_layer_of_an_even_cut_is_the_shortest_bar():
    found = views(PACK)
    even = found["cuts"].bars[0].segments[0].value
    assert all(bar.segments[1].value >= -1e-12 for bar in found["cuts"].bars)
    assert even == pytest.approx(solved(PACK).even)
