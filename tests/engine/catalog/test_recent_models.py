"""Recent models: their rows against the published files, and their sizes against published ones."""

import json

import pytest

from engine.catalog.models import MODELS
from engine.catalog.recent_models import EVERY_MODEL, RECENT_MODELS
from engine.catalog.recent_rows import RECENT_ROWS
from engine.formulas.parameters import active_parameters, embedding_parameters, total_parameters
from engine.run.importers.assemble import import_run
from engine.run.importers.repositories import find_repository
from tests.engine.catalog.recent_files import FILES

ROWS = {row.key: row for row in RECENT_ROWS}
CUT = (
    "add the keys of its config.json that say sizes to FILES in "
    "tests/engine/catalog/recent_files.py"
)


def test_no_model_stands_in_both_catalogs():
    assert not MODELS.keys() & RECENT_MODELS.keys()
    assert len(EVERY_MODEL) == len(MODELS) + len(ROWS)


@pytest.mark.parametrize("key", ROWS)
def test_a_row_is_what_the_published_file_says(key):
    assert key in FILES, f"'{key}' of engine/catalog/recent_rows.py: {CUT}"
    found = import_run(json.dumps(FILES[key], indent=1))
    assert found.contradictions == ()
    # The language model of Kimi K2.5 is that of Kimi K2.
    assert found.document["model"] == {"kimi-k2.5": "kimi-k2"}.get(key, key)


@pytest.mark.parametrize("key", ROWS)
def test_a_row_has_the_published_parameters(key):
    row, model = ROWS[key], RECENT_MODELS[key]
    assert total_parameters(model) == pytest.approx(row.total, rel=0.02)


# Authors count the embedding and the output matrix among the active parameters, or leave one out,
# or both; a rounded number is met by one of these counts.
@pytest.mark.parametrize("key", [key for key, row in ROWS.items() if row.active])
def test_a_row_has_the_published_active_parameters(key):
    model, published = RECENT_MODELS[key], ROWS[key].active
    whole, end = active_parameters(model), embedding_parameters(model)
    counts = [whole, whole - end, whole - 2 * end]
    assert any(round(count / 1e9) == round(published / 1e9) for count in counts)


def test_twelve_of_the_layers_of_qwen3_next_have_full_attention():
    model = RECENT_MODELS["qwen3-next-80b-a3b"]
    assert model.mix.count(range(48)) == (36, 12)


def test_kimi_k3_has_24_layers_with_full_attention_and_one_without_experts():
    mix = RECENT_MODELS["kimi-k3"].mix
    kinds = dict(zip(mix.kinds, mix.count(range(93)), strict=True))
    full = sum(n for (kind, _), n in kinds.items() if kind.mixer.attends)
    assert (full, sum(n for (_, sparse), n in kinds.items() if not sparse)) == (24, 1)


@pytest.mark.parametrize("key", ROWS)
def test_a_recent_model_is_found_by_its_repository(key):
    assert find_repository(ROWS[key].where) == key
