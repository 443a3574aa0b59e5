"""One micro-batch through the stages, against the pipeline scheme and one rank."""

import pytest

from engine.catalog.models import TINY_260
from engine.tiny.depth_record import depth_record
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets
from engine.tiny.layout import part_names, unflatten
from engine.tiny.parts import token_rows
from engine.tiny.single import forward_all

STAGES = pytest.mark.parametrize("ranks", [1, 2, 4])


@STAGES
def test_every_stage_has_one_turn_each_way(ranks):
    found = depth_record(ranks)
    order = [(turn.stage, turn.forward) for turn in found.turns]
    ahead = [(stage, True) for stage in range(ranks)]
    assert order == ahead + [(stage, False) for stage in reversed(range(ranks))]
    assert [part for own in found.stages for part in own] == list(part_names(TINY_260))


@STAGES
def test_the_training_is_that_of_one_gpu(ranks):
    found = depth_record(ranks)
    assert found.off <= 1e-12
    assert sum(found.held) == 260


def test_what_is_handed_on_goes_into_the_next_part():
    job = TinyJob(batch=example_batch(8, 4), steps=1)
    tokens = token_rows(job.batch[::4], num_targets(job))
    passed = forward_all(TINY_260, unflatten(TINY_260, initial_parameters(TINY_260)), tokens)
    found = depth_record(4)
    rows = [turn.row for turn in found.turns if turn.forward and turn.row]
    assert rows == [tuple(passed.rows[own[0]][0]) for own in found.stages[1:]]
    assert next(turn.loss for turn in found.turns if turn.loss is not None) == passed.loss


@STAGES
def test_messages_are_rows_on_and_gradients_back(ranks):
    found = depth_record(ranks)
    for stage, sent in enumerate(found.sent):
        neighbors = (stage > 0) + (stage < ranks - 1)
        # 32 tokens of four numbers in a step.
        assert sent == neighbors * 32 * 4
