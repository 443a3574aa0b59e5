"""Layers moved off the ends of a pipeline: none is lost, and they go to the stages between."""

import pytest

from engine.catalog.models import MODELS
from engine.run.parallelism import Plan
from engine.run.stage_cut import moved_layers, uneven_pieces


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


@pytest.mark.parametrize(
    ("stages", "pieces", "schedule", "sizes"),
    [
        (18, 1, "1f1b", ()),
        (16, 1, "1f1b", (7,) + (8,) * 14 + (7,)),
        # Llama 3: embedding and output layer each fill a piece of the first and the last stage.
        (16, 8, "interleaved", (0,) + (1,) * 126 + (0,)),
        (9, 1, "zbv", ()),
    ],
)
def test_how_126_layers_are_cut(stages, pieces, schedule, sizes):
    plan = Plan(world_size=16, pipeline_parallel=stages, virtual_pipeline=pieces)
    assert uneven_pieces(MODELS["llama-3-405b"], plan, schedule) == sizes


def test_a_cut_by_hand_is_meant_as_it_is():
    plan = Plan(world_size=4, pipeline_parallel=4, stage_layers=(30, 33, 33, 30))
    assert uneven_pieces(MODELS["llama-3-405b"], plan) == ()
