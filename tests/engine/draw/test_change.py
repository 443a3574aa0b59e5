"""Changes against a kept state, in words and in pictures."""

import math

import pytest

from engine.answer import reply
from engine.draw.change import change_text, relative_size


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (1.0, 1.0, "±0 %"),
        (100.0, 112.0, "+12 %"),
        (100.0, 95.5, "−4.5 %"),
        (0.408, 28.3, "×69"),
        (4.0, 1.0, "×0.25"),
        (0.0, 1.0, ""),
        (1.0, -1.0, ""),
        (1.0, math.inf, ""),
    ],
)
def test_a_change_is_said_in_percent_or_as_a_factor(before, after, text):
    assert change_text(before, after) == text


def test_half_and_double_are_equally_large_and_a_change_from_zero_is_larger():
    assert relative_size(2.0, 1.0) == pytest.approx(relative_size(1.0, 2.0))
    assert relative_size(1.0, 1.0) == 0.0
    assert relative_size(0.0, 1.0) == math.inf


def test_a_reply_tells_what_a_kept_state_had_and_draws_it():
    request = {"calculator": "gradient_sync", "values": {"world_size": "1024"}}
    asked = {"only": ["step_time", "timeline"], "kept": {}, "ghosts": ["timeline"]}
    kept = reply({**request, **asked})["kept"]
    plain = reply({"calculator": "gradient_sync"})["outputs"]
    assert kept["step_time"]["text"] == plain["step_time"]["text"]
    assert kept["step_time"]["change"].startswith(("+", "×"))
    assert kept["timeline"] == plain["timeline"]


def test_a_state_that_cannot_be_computed_any_more_keeps_nothing_and_breaks_nothing():
    request = {"calculator": "gradient_sync", "kept": {"world_size": "many", "gone": "1"}}
    answered = reply(request)
    assert answered["outputs"]
    assert answered["kept"]["step_time"]["change"] == "±0 %"


def test_a_drawing_of_a_kept_state_is_drawn_too():
    asked = {"only": ["strip"], "kept": {"shift_1": "2"}, "ghosts": ["strip"]}
    kept = reply({"calculator": "stage_lab", **asked})["kept"]
    assert kept["strip"]["kind"] == "scene"
    plain = reply({"calculator": "stage_lab", "values": {"shift_1": "2"}})["outputs"]
    assert kept["strip"] == plain["strip"]
