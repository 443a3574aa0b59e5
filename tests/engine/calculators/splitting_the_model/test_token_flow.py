"""The flow of 64 tokens: counts, the drawing, and the token that is followed."""

from engine.calculator import load, make
from engine.core.text import render_text
from tests.each import each

FLOW = load("token_flow")
FLAT = {f"favor_{i}": 0.0 for i in range(1, 9)}


def solved(**values):
    return FLOW.solve(make(FLOW, values))


def views(**values):
    return FLOW.compute(make(FLOW, values))


def test_an_even_share_times_the_factor_are_the_places():
    assert [solved(capacity_factor=f).capacity for f in (0.5, 1.0, 4.0)] == [4, 8, 32]


def test_more_capacity_drops_less_and_leaves_more_places_empty():
    small, large = solved(capacity_factor=1.0), solved(capacity_factor=2.0)
    assert small.dropped > large.dropped
    assert small.empty < large.empty


def test_a_favorite_is_asked_more_often():
    assert solved(**FLAT | {"favor_3": 2.0}).routing.asked[2] > solved(**FLAT).routing.asked[2]


def test_asking_every_expert_is_even_and_drops_nothing():
    found = solved(experts_per_token=8, capacity_factor=1.0)
    assert (found.routing.asked, found.dropped) == ((64,) * 8, 0)


def test_no_more_experts_per_token_than_experts():
    assert solved(num_experts=2, experts_per_token=8).choices == 128


@each("values", [{}, {"experts_per_token": 2}, {"num_experts": 3, "capacity_factor": 4.0}])
def test_every_frame_has_the_same_shapes(values):
    scene = views(**values)["scene"]
    assert len({tuple(shape.key for shape in frame.shapes) for frame in scene.frames}) == 1


def test_there_is_a_frame_for_batch_choices_drops_and_return():
    assert len(views(experts_per_token=3)["scene"].frames) == 1 + 3 + 2


def test_as_many_squares_are_crossed_as_choices_are_dropped():
    found, scene = solved(), views()["scene"]
    crossed = [
        s for s in scene.frames[2].shapes if s.key[0] == "t" and s.attributes["class"] == "c-ink"
    ]
    assert len(crossed) == found.dropped > 0


def test_the_caption_of_the_drops_counts_them():
    found = solved()
    caption = render_text(views()["scene"].frames[2].caption)
    assert f"{found.dropped} of 64 choices" in caption


def test_the_weights_of_the_followed_token_add_up_to_one():
    rows = views(experts_per_token=3)["follow"].rows
    weights = [float(row[4]) for row in rows if row[4] != "-"]
    assert len(weights) == 3
    assert abs(sum(weights) - 1) < 2e-4
