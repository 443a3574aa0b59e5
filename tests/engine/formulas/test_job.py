"""Speed and price of a job by hand."""

import pytest

from engine.formulas.job import cost_of_tokens, token_rate


def test_a_step_of_ten_seconds_with_a_million_tokens():
    assert token_rate(128, 8192, 10.0) == pytest.approx(104_857.6)


def test_a_billion_tokens_at_two_an_hour():
    # 16 GPUs at 1,000 tokens/s each: 62,500 s of all, 277.8 GPU-hours.
    assert cost_of_tokens(1e9, 16, 2 / 3600, 16_000.0) == pytest.approx(555.6, abs=0.1)
