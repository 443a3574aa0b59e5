"""Rows of models against the parameters that their authors published."""

import re

import pytest

from engine.catalog.model_rows import DATE, DENSE_ROWS, SPARSE_ROWS
from engine.catalog.models import MODELS
from engine.formulas.parameters import active_parameters, total_parameters

ROWS = DENSE_ROWS + SPARSE_ROWS


def test_there_are_a_hundred_models():
    assert len(MODELS) >= 100
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_has_the_published_parameters(row):
    counted, published = total_parameters(MODELS[row[0]]), row[-1]
    rounded = abs(counted - published) <= 0.05e9
    assert rounded or counted == pytest.approx(published, rel=0.0125)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_where_its_sizes_are(row):
    assert re.fullmatch(r"[\w.-]+/[\w.-]+|arXiv:\d{4}\.\d{5}|[a-z]+\d{4}", row[-2])
    assert re.fullmatch(r"20\d\d-\d\d", DATE)


# Billions of parameters at work on a token, as the authors name their models.
@pytest.mark.parametrize(
    ("key", "active"),
    [
        ("llama-4-scout", 17),
        ("llama-4-maverick", 17),
        ("deepseek-v2", 21),
        ("deepseek-v2-lite", 2.4),
        ("qwen3-coder-480b-a35b", 35),
        ("dbrx", 36),
        ("glm-4.5", 32),
        ("glm-4.5-air", 12),
        ("grok-1", 79),
    ],
)
def test_as_many_parameters_work_as_the_authors_say(key, active):
    assert active_parameters(MODELS[key]) / 1e9 == pytest.approx(active, rel=0.15)
