"""Texts of drawings stand in a box or beside it, never on its edge."""

import pytest

from engine.calculator import module_of, names
from engine.core.views import Scene
from tests.engine.calculators.tried import default_views

PATHS = (".moving_bytes.", ".splitting_the_model.")
DRAWN = [name for name in names() if any(path in module_of(name) for path in PATHS)]
NARROW, WIDE = "iljtfr.,:;'|!()[] ", "mwMW%"
SHARES = {"start": 0.0, "middle": 0.5, "end": 1.0}


def box_of_text(shape):
    """Left, top, right and bottom, in letters as wide as those of a wide sans."""
    size = float(shape.attributes.get("font-size", 14))
    wide = size * sum(0.36 if c in NARROW else 0.9 if c in WIDE else 0.62 for c in shape.text)
    left = (
        float(shape.attributes["x"]) - SHARES[shape.attributes.get("text-anchor", "start")] * wide
    )
    low = float(shape.attributes["y"])
    return left, low - 0.72 * size, left + wide, low


def box_of_rect(shape):
    left, top, wide, high = (float(shape.attributes[key]) for key in ("x", "y", "width", "height"))
    return left, top, left + wide, top + high


def on_the_edge(text, box):
    left, top, right, bottom = box
    x0, y0, x1, y1 = text
    apart = x1 < left + 1 or x0 > right - 1 or y1 < top + 1 or y0 > bottom - 1
    inside = x0 > left - 1 and x1 < right + 1 and y0 > top - 1 and y1 < bottom + 1
    return not apart and not inside


def cut_texts(scene):
    for frame in scene.frames:
        # A level that rises behind a name is no edge; the outline of a rank or a switch is one.
        edges = [
            box_of_rect(shape)
            for shape in frame.shapes
            if shape.tag == "rect" and "rank" in shape.attributes["class"].split()
        ]
        for shape in frame.shapes:
            if shape.tag == "text" and any(on_the_edge(box_of_text(shape), box) for box in edges):
                yield shape.text


@pytest.mark.parametrize("name", DRAWN)
def test_no_text_stands_on_the_edge_of_a_box(name):
    scenes = [view for view in default_views(name).values() if isinstance(view, Scene)]
    assert {text for scene in scenes for text in cut_texts(scene)} == set()
