"""Published figures of training runs, against the numbers printed in their reports."""

import pytest

from engine.catalog.training_reports import REPORTS


def test_deepseek_v3_trained_1543_tokens_per_second_and_gpu():
    assert REPORTS["deepseek-v3"].token_rate == pytest.approx(1543, abs=0.5)


def test_llama_3_reached_400_of_989_teraflops():
    assert REPORTS["llama-3-405b"].mfu == pytest.approx(400 / 989, abs=0.006)


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_every_report_states_a_figure_and_where_it_stands(report):
    assert report.mfu or report.token_rate
    assert report.where
    assert report.source
