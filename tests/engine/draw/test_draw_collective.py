"""The scene of a collective: the same shapes in every frame, inside the sheet, true to the run."""

from itertools import combinations, pairwise

import pytest

from engine.core import registry
from engine.core.text import render_text
from engine.core.views import Scene
from engine.draw.collective import collective_scene
from engine.simulate.collectives.collective_execution import run_collective
from tests.each import each

COLLECTIVES = registry.module_names("engine.collectives")


def scene(name: str, world_size: int) -> Scene:
    trace = run_collective(registry.module("engine.collectives", name), world_size)
    return collective_scene(
        trace, star=name.startswith(("star", "direct_gather", "direct_scatter"))
    )


@each("name", COLLECTIVES)
@each("world_size", [2, 3, 8, 9, 16])
def test_every_frame_has_the_same_shapes_in_the_same_order(name, world_size):
    frames = scene(name, world_size).frames
    keys = [shape.key for shape in frames[0].shapes]
    assert len(keys) == len(set(keys))
    assert all([shape.key for shape in frame.shapes] == keys for frame in frames)


@each("name", COLLECTIVES)
@each("world_size", [3, 4, 5, 6, 7, 8])
def test_between_few_boxes_an_arrow_is_seen(name, world_size):
    """The boxes of eight ranks once hid half of the arrows of a ring."""
    grounds = [
        tuple(float(shape.attributes[key]) for key in ("x", "y", "width", "height"))
        for shape in scene(name, world_size).frames[0].shapes
        if shape.key[0] == "b" and shape.key[1:].isdigit()
    ]
    for one, other in combinations(grounds, 2):
        (x, y, width, height), (left, top, wide, high) = one, other
        gaps = (left - x - width, x - left - wide, top - y - height, y - top - high)
        assert max(gaps) >= 8


@each("name", COLLECTIVES)
@each("world_size", [2, 5, 8, 16])
def test_every_box_lies_on_the_sheet(name, world_size):
    drawing = scene(name, world_size)
    for shape in drawing.frames[0].shapes:
        if shape.attributes.get("class", "").startswith("cell"):
            x, y = float(shape.attributes["x"]), float(shape.attributes["y"])
            assert 0 <= x <= x + float(shape.attributes["width"]) <= drawing.width
            assert 0 <= y <= y + float(shape.attributes["height"]) <= drawing.height


@each("world_size", [3, 4, 8, 9, 12, 16])
def test_the_boxes_of_a_ring_do_not_overlap(world_size):
    boxes: dict[str, list[float]] = {}
    for shape in scene("ring_all_reduce", world_size).frames[0].shapes:
        if shape.attributes.get("class", "").startswith("cell"):
            x, y = float(shape.attributes["x"]), float(shape.attributes["y"])
            right = x + float(shape.attributes["width"])
            low = y + float(shape.attributes["height"])
            box = boxes.setdefault(shape.key[1:].split(".")[0], [x, y, right, low])
            box[0], box[1] = min(box[0], x), min(box[1], y)
            box[2], box[3] = max(box[2], right), max(box[3], low)
    placed = list(boxes.values())
    for index, (x0, y0, x1, y1) in enumerate(placed):
        for a0, b0, a1, b1 in placed[index + 1 :]:
            assert x1 <= a0 or a1 <= x0 or y1 <= b0 or b1 <= y0


@each("name", COLLECTIVES)
def test_a_message_travels_from_the_cell_it_leaves_to_the_cell_it_reaches(name):
    trace = run_collective(registry.module("engine.collectives", name), 4)
    drawing = collective_scene(trace, star=name.startswith("star"))
    cells = {
        shape.key[1:]: (float(shape.attributes["x"]), float(shape.attributes["y"]))
        for shape in drawing.frames[0].shapes
        if shape.attributes.get("class", "").startswith("cell")
    }
    first = trace.frames[1].transfers[0]
    leaving, arriving = drawing.frames[1], drawing.frames[2]

    def at(frame):
        style = next(s for s in frame.shapes if s.key == "m1.0").attributes["style"]
        x, y = style.removeprefix("transform:translate(").removesuffix("px)").split("px,")
        return float(x) + 1.5, float(y) + 1.5

    assert at(leaving) == pytest.approx(cells[f"{first.source}.{first.chunk}"], abs=0.2)
    assert at(arriving) == pytest.approx(cells[f"{first.target}.{first.chunk}"], abs=0.2)


def test_a_hidden_message_never_moves_while_it_is_seen():
    frames = scene("ring_all_reduce", 8).frames
    for before, after in pairwise(frames):
        for old, new in zip(before.shapes, after.shapes, strict=True):
            if old.key.startswith("m") and new.attributes["opacity"] == "1":
                moved = old.attributes["style"] != new.attributes["style"]
                assert not moved, "a message appears where it was put while unseen"


def test_the_last_caption_counts_all_cells():
    caption = render_text(scene("ring_all_reduce", 8).frames[-1].caption)
    assert caption.startswith("Done in 14 rounds: all 64 cells hold the exact sums.")


def test_the_port_of_the_root_of_a_star_is_the_busiest():
    shapes = {shape.key: shape for shape in scene("star_all_reduce", 8).frames[-1].shapes}
    widths = [float(shapes[f"s{rank}"].attributes["width"]) for rank in range(8)]
    assert widths[0] == max(widths)
    assert widths[1] == pytest.approx(widths[0] / 7, abs=0.1)
