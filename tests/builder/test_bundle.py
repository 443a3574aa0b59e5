from pathlib import Path

from builder.bundle import engine_sources
from engine.catalog.published_table import TEXT

ENGINE = Path(__file__).parents[2] / "engine"


def test_a_module_beside_a_table_carries_the_table_itself():
    found = {}
    exec(engine_sources(ENGINE)["engine/catalog/published_table.py"], found)
    assert found["TEXT"] == TEXT


def test_no_table_is_left_without_a_module():
    assert all(path.with_suffix(".py").is_file() for path in ENGINE.rglob("*.tsv"))
