"""The largest micro-batch of a run against trying one after the other."""

from dataclasses import replace

import pytest

from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.step.largest_batch import batch_fit, batch_memory, batch_token_rate

RUN, _ = nearest_run(Inputs())


def test_the_largest_fits_and_the_next_does_not():
    found = batch_fit(RUN, 0.05)
    held = [batch_memory(RUN, found.largest + more).total for more in (0, 1)]
    assert held[0] <= found.usable < held[1]


def test_the_line_meets_the_memory_of_every_batch():
    found = batch_fit(RUN, 0.05)
    held = [batch_memory(RUN, batch).total for batch in (1, 3, 8)]
    assert [found.line.memory(batch) for batch in (1, 3, 8)] == pytest.approx(held)


def test_what_fits_is_said_of_the_batch_asked_for():
    found = batch_fit(RUN, 0.05)
    large = replace(RUN.training, micro_batch_size=found.largest + 1)
    assert not batch_fit(replace(RUN, training=large), 0.05).fit.runs


def test_memory_left_free_is_not_usable():
    assert batch_fit(RUN, 0.0).usable - batch_fit(RUN, 0.25).usable == pytest.approx(20e9, rel=0.1)


def test_a_speed_is_the_tokens_of_a_step_over_its_time_and_gpus():
    assert 0 < batch_token_rate(RUN, 1) < RUN.cluster.gpu.peak["bf16"] / (6 * 70e9)
