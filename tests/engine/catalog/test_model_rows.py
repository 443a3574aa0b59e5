"""Rows of models against the parameters that their authors published."""

import re
from dataclasses import replace

import pytest

from engine.catalog.model_row_sources import DATE, ROW_SOURCES
from engine.catalog.model_rows import DENSE_ROWS, SPARSE_ROWS
from engine.catalog.models import MODELS
from engine.formulas.parameters import active_parameters, total_parameters
from tests.validation.published import DATA
from tests.validation.rows import cases

ROWS = DENSE_ROWS + SPARSE_ROWS
SOURCE = (
    "'{}' is a row of engine/catalog/model_rows.py: add its file and its parameters to ROW_SOURCES "
    "in model_row_sources.py"
)


def test_there_are_a_hundred_models():
    assert len(MODELS) >= 100
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_has_the_published_parameters(row):
    assert row[0] in ROW_SOURCES, SOURCE.format(row[0])
    counted, published = total_parameters(MODELS[row[0]]), ROW_SOURCES[row[0]][1]
    rounded = abs(counted - published) <= 0.05e9
    assert rounded or counted == pytest.approx(published, rel=0.0125)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_where_its_sizes_are(row):
    assert row[0] in ROW_SOURCES, SOURCE.format(row[0])
    where = ROW_SOURCES[row[0]][0]
    assert re.fullmatch(r"[\w.-]+/[\w.-]+|arXiv:\d{4}\.\d{5}|[a-z]+\d{4}", where)
    assert row[-1] in ("", where)
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


def shape(model):
    """What tells the models of the tables apart; vocabularies are padded in many ways."""
    heads = model.num_attention_heads, model.num_key_value_heads
    return model.num_layers, model.hidden_size, *heads, model.ffn_hidden_size, model.num_experts


# Models of the table that nobody trained: (layers, hidden size) of shapes that a sweep tried, and
# models with fewer layers than their own.
TRIED = (
    *((96, 12288), (72, 14336), (78, 13824), (84, 13312), (72, 14400), (80, 13824), (77, 14400)),
    *((78, 14400), (84, 13824), (80, 14400), (81, 14400), (6, 14336), (10, 14336), (8, 14400)),
)
CUT = {"Grok-1": "grok-1", "deepseekv2": "deepseek-v2", "llama3-70b": "llama-3-70b"}


def test_every_model_of_the_table_of_runs_is_in_the_catalog():
    known = {shape(model) for model in MODELS.values()}
    missing = {}
    for case in cases(DATA)[0]:
        model, name = case.run.model, case.row["model"]
        whole = next((MODELS[key] for start, key in CUT.items() if name.startswith(start)), None)
        if whole and model.num_layers < whole.num_layers:
            model = replace(model, num_layers=whole.num_layers)
        tried = name.startswith("GPT/BLOOM") and (model.num_layers, model.hidden_size) in TRIED
        if shape(model) not in known and not tried:
            missing[name] = shape(model)
    assert missing == {}
