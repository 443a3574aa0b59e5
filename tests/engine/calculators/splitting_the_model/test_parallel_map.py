"""The map: what it shows of the 24 GPUs, what it repairs and refuses, and its two drawings."""

from dataclasses import replace

from engine.calculator import load
from engine.calculators.splitting_the_model.parallel_map.result import ORDERS, PRESETS, Inputs
from engine.core.numbers import format_value
from engine.core.text import render_text
from engine.core.units import SECONDS
from tests.each import each
from tests.engine.calculators.asked import text as shown

MAP = load("parallel_map")
DEFAULT = Inputs()
LLAMA = PRESETS["Llama 3 405B on 1,024 GPUs"]
DEEPSEEK = PRESETS["DeepSeek-V3 on 1,024 GPUs"]


def views(**changes):
    return MAP.compute(replace(DEFAULT, **changes))


def caption(scene, frame=0):
    return render_text(scene.frames[frame].caption)


def links(shape):
    return set(shape.attributes.get("data-links", "").split())


def cells(scene, frame=0):
    """The GPUs, or the cells of the matrix."""
    return [shape for shape in scene.frames[frame].shapes if shape.key[0] in "gc"]


def test_the_published_layout_has_24_gpus():
    assert shown(views(), "world_size") == "24"


def test_no_tensor_parallel_byte_of_the_published_layout_leaves_a_node():
    assert shown(views(), "tensor_leaves") == "0.0 %"


def test_swapping_tensor_and_pipeline_doubles_the_step():
    before, after = views()["step"].value, views(order="pp-cp-dp-tp")["step"].value
    assert after > 1.9 * before


def test_the_worst_swap_is_the_step_of_that_order():
    assert views()["worst_swap"].value == views(order="pp-cp-dp-tp")["step"].value


def test_in_one_rack_no_order_costs_anything():
    bars = views(gpus_per_node=72)["orders"].bars
    totals = {round(sum(part.value for part in bar.segments), 9) for bar in bars}
    assert len(totals) == 1


def test_sequence_parallelism_adds_no_gpu():
    on, off = views(sequence_parallel=True), views(sequence_parallel=False)
    assert on["world_size"].value == off["world_size"].value


def test_8_by_4_with_sequence_parallelism_are_32_gpus_and_with_context_parallelism_64():
    plan = {"tensor_parallel": 8, "pipeline_parallel": 4, "data_parallel": 1}
    counts = [views(**plan, context_parallel=c)["world_size"].value for c in (1, 2)]
    assert counts == [32, 64]


def test_expert_parallelism_adds_no_gpu():
    assert views(**DEEPSEEK)["world_size"].value == 1024


def test_hidden_tensor_parallelism_waits_less_and_not_nothing():
    waits = [views(overlap_tensor_parallel=on)["tensor_waits"].value for on in (False, True)]
    assert waits[0] > waits[1] > 0


@each("order", ORDERS)
def test_every_order_moves_the_same_bytes(order):
    here = [one.sent for one in MAP.solve(replace(DEFAULT, order=order)).plan.traffic.values()]
    assert here == [one.sent for one in MAP.solve(DEFAULT).plan.traffic.values()]


def test_more_than_1024_gpus_are_cut_and_said():
    sentence = render_text(views(**{**LLAMA, "data_parallel": 128})["legal"].sentence)
    assert "ask for 16,384 GPUs; the map shows at most 1,024" in sentence


def test_layers_that_do_not_divide_are_said():
    assert "126 layers do not divide into 16 stages" in render_text(
        views(**LLAMA)["legal"].sentence
    )


def test_heads_that_do_not_divide_are_said():
    sentence = render_text(views(tensor_parallel=3)["legal"].sentence)
    assert "Computed with 2 for tensor parallel: 3 does not divide the attention heads." in sentence


def test_an_order_that_megatron_refuses_is_named():
    badge = views(**DEEPSEEK, order="tp-cp-pp-dp")["legal"]
    assert badge.text == "Refused by Megatron-LM"


def test_the_same_order_without_experts_is_possible():
    assert views(order="tp-cp-pp-dp")["legal"].text == "Possible"


def test_a_gpu_that_does_not_exist_is_the_last_one():
    assert views(rank=500)["gpu"].title == "GPU 23, node 2"


def test_the_chosen_gpu_talks_to_its_three_groups():
    rows = [render_text(row[2]) for row in views(rank=5)["gpu"].rows]
    assert rows == ["4, 6, 7", "1", "13, 21"]


def test_one_gpu_talks_to_nobody():
    alone = views(tensor_parallel=1, data_parallel=1, pipeline_parallel=1)
    assert caption(alone["map"]) == "One GPU: it talks to nobody."


@each("name", ["map", "matrix"])
@each("preset", PRESETS)
def test_every_frame_has_the_same_shapes(preset, name):
    scene = views(**PRESETS[preset])[name]
    keys = {tuple(shape.key for shape in frame.shapes) for frame in scene.frames}
    assert len(keys) == 1


@each("name", ["map", "matrix"])
def test_the_drawings_have_a_frame_for_all_and_one_per_axis(name):
    assert len(views(**DEEPSEEK)[name].frames) == 4


def test_gpus_that_share_a_link_share_a_group():
    # GPU 5: tensor {4..7}, data {1, 5}, pipeline {5, 13, 21}.
    gpus = cells(views()["map"])
    found = {int(g.key[1:]) for g in gpus if links(g) & links(gpus[5])}
    assert found == {1, 4, 5, 6, 7, 13, 21}


def test_in_the_frame_of_an_axis_gpus_link_to_that_group_only():
    gpus = cells(views()["map"], frame=1)
    assert {int(g.key[1:]) for g in gpus if links(g) & links(gpus[5])} == {4, 5, 6, 7}


def test_a_row_of_the_table_lights_its_group_on_the_map():
    shown_views = views(rank=5)
    lit = [
        {int(g.key[1:]) for g in cells(shown_views["map"]) if links(g) & set(names)}
        for names in shown_views["gpu"].links
    ]
    assert lit == [{4, 5, 6, 7}, {1, 5}, {5, 13, 21}]


def test_a_cell_of_the_matrix_lights_its_two_gpus():
    shown_views = views()
    cell = next(c for c in cells(shown_views["matrix"]) if c.key == "c4.5")
    lit = {int(g.key[1:]) for g in cells(shown_views["map"]) if links(g) & links(cell)}
    assert lit == {4, 5}


@each("preset", PRESETS)
def test_the_matrix_has_at_most_32_rows(preset):
    rows = [s for s in views(**PRESETS[preset])["matrix"].frames[0].shapes if s.key[0] == "r"]
    assert len(rows) <= 32


@each("preset", PRESETS)
def test_the_map_fits_its_sheet(preset):
    scene = views(**PRESETS[preset])["map"]
    for gpu in cells(scene):
        place = {name: float(gpu.attributes[name]) for name in ("x", "y", "width", "height")}
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= scene.width
        assert place["y"] + place["height"] <= scene.height


def test_a_bad_order_is_offered_its_best_swap():
    advice = views(order="pp-cp-dp-tp")["swaps"]
    assert dict(advice.remedies[0].change) == {"order": "tp-cp-dp-pp"}


def test_a_swap_keeps_the_other_inputs():
    row = views(rank=7)["swap_table"].rows[0]
    pairs = set(row[-1].query.split("&"))
    assert pairs == {"parallel_map.order=dp-cp-tp-pp", "parallel_map.rank=7"}


def test_tensor_parallelism_across_nodes_binds_the_network():
    badge = views(order="pp-cp-dp-tp")["regime"]
    assert badge.text == "Tensor parallelism, on the network"


@each(("order", "sign"), [("tp-cp-dp-pp", "+"), ("pp-cp-dp-tp", "-")])
def test_a_swap_that_lengthens_the_step_has_a_plus_and_one_that_shortens_it_a_minus(order, sign):
    plan = MAP.solve(replace(DEFAULT, order=order)).plan
    changes = {
        render_text(row[0]): render_text(row[3]) for row in views(order=order)["swap_table"].rows
    }
    swap = next(one for one in plan.swaps if (one.first, one.second) == ("tensor", "pipeline"))
    longer = format_value(abs(swap.step.total - plan.step.total), SECONDS)
    assert changes["tensor and pipeline"] == sign + longer
    assert changes["tensor and data"] == "none"


def test_without_a_second_axis_the_table_of_swaps_has_one_row_of_as_many_cells():
    table = views(tensor_parallel=1, pipeline_parallel=1, data_parallel=4)["swap_table"]
    assert [len(row) for row in table.rows] == [len(table.columns)]
    assert table.rows[0][0] == "only one axis has more than one rank"
