"""The router lab: three ways to balance, its drawing, and the published figures beside it."""

from engine.calculator import load, make
from engine.core.text import render_text

LAB = load("router_lab")


def views(**values):
    found = LAB.compute(make(LAB, values))
    return {key: view() if callable(view) else view for key, view in found.items()}


def solved(**values):
    return LAB.solve(make(LAB, values))


def test_a_loss_and_biases_make_loads_more_even_than_nothing():
    none, loss, bias = (solved(balance=b).imbalance for b in ("none", "loss", "bias"))
    assert none > loss > bias >= 1


def test_only_the_loss_gives_preferences_up():
    none, loss, bias = (solved(balance=b).given_up for b in ("none", "loss", "bias"))
    assert none == bias == 0 < loss


def test_the_curves_end_at_the_value_shown():
    lines = views(balance="bias")["ways"]
    ends = {series.key: series.y[-1] for series in lines.series}
    assert ends["bias"] == solved(balance="bias").imbalance == lines.points[0].y


def test_the_columns_of_the_map_have_a_mean_of_one():
    heatmap = views()["loads"]
    means = [sum(column) / len(column) for column in zip(*heatmap.values, strict=True)]
    assert all(abs(mean - 1) < 1e-12 for mean in means)


def test_every_frame_has_the_same_shapes_and_the_last_is_the_last_step():
    scene = views(balance="bias")["histogram"]
    assert len({tuple(shape.key for shape in frame.shapes) for frame in scene.frames}) == 1
    assert render_text(scene.frames[-1].caption).startswith("Step 60:")


def test_no_capacity_drops_nothing():
    assert solved(capacity_factor=0.0, balance="none").dropped == 0


def test_wang_and_others_are_printed_as_published():
    rows = [[render_text(cell) for cell in row[:3]] for row in views()["published"].rows[:2]]
    assert rows == [
        ["1B, auxiliary loss", "1.72×", "9.56"],
        ["1B, biases", "1.04×", "9.50"],
    ]
