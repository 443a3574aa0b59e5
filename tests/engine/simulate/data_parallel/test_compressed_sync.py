"""Ways to sum gradients: bytes as the formulas, and time that compression itself takes."""

import pytest

from engine.calculators.whole_runs.compression_cost import PRESETS, Inputs, job, solve
from engine.formulas.compression import top_k_break_even
from engine.simulate.data_parallel.compressed_sync import (
    ERROR_FEEDBACK,
    error_feedback_bytes,
    free_memory,
    sync_methods,
)
from tests.each import each


def test_top_k_sends_more_from_its_break_even_on():
    run = job(Inputs())
    even = top_k_break_even(0.01, 2.0, 2.0)
    few, many = (sync_methods(run, ranks, 2.0, 0.01, 8) for ranks in (int(even) - 1, int(even) + 2))
    assert few.top_k.sent < few.dense.sent
    assert many.top_k.sent > many.dense.sent


def test_factors_hardly_grow_with_the_ranks():
    run = job(Inputs())
    sent = [sync_methods(run, ranks, 2.0, 0.01, 8).low_rank.sent for ranks in (64, 1024)]
    assert sent[1] < 1.02 * sent[0]


def test_compressing_takes_as_long_on_any_wire():
    slow, fast = (job(Inputs(port=port)) for port in (1.25e9, 50e9))
    assert (
        sync_methods(slow, 64, 2.0, 0.01, 8).low_rank.work
        == sync_methods(fast, 64, 2.0, 0.01, 8).low_rank.work
    )


def test_feedback_owes_a_number_for_each_parameter():
    run = job(Inputs())
    assert error_feedback_bytes(run) == pytest.approx(ERROR_FEEDBACK * 3.21e9, rel=0.01)
    assert free_memory(run, feedback=False) - free_memory(run, feedback=True) == pytest.approx(
        error_feedback_bytes(run)
    )


@each("name", list(PRESETS))
def test_what_the_page_offers_fits(name):
    assert solve(Inputs(**PRESETS[name])).room > 0
