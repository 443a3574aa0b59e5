"""Layers moved off the ends of a pipeline: none is lost, and they go to the stages between."""

import pytest

from engine.run.stage_cut import moved_layers


@pytest.mark.parametrize(
    ("stages", "off_first", "off_last", "expected"),
    [
        (4, 0, 0, (20, 20, 20, 20)),
        (4, 0, 2, (20, 21, 21, 18)),
        (4, 1, 2, (19, 22, 21, 18)),
        (4, 0, -3, (20, 19, 18, 23)),
        (4, 20, 20, (0, 40, 40, 0)),
        (2, 5, 0, (35, 45)),
        (1, 5, 0, (80,)),
    ],
)
def test_80_layers(stages, off_first, off_last, expected):
    assert moved_layers(80, stages, off_first, off_last) == expected


@pytest.mark.parametrize("stages", [2, 3, 7, 40])
@pytest.mark.parametrize("moved", [-20, 0, 20])
def test_no_layer_is_lost(stages, moved):
    found = moved_layers(80, stages, moved, 20 - moved)
    assert sum(found) == 80
    assert min(found) >= 0
