import gzip
from pathlib import Path

from builder.bundle import engine_sources, packed
from builder.bytecode import zipped
from engine.catalog.published_table import TEXT

ENGINE = Path(__file__).parents[2] / "engine"


def test_a_module_beside_a_table_carries_the_table_itself():
    found = {}
    exec(engine_sources(ENGINE)["engine/catalog/published_table.py"], found)
    assert found["TEXT"] == TEXT


def test_no_table_is_left_without_a_module():
    assert all(path.with_suffix(".py").is_file() for path in ENGINE.rglob("*.tsv"))


DATA = b"".join(number.to_bytes(2, "big") * 3 for number in range(9000))


def test_what_was_compressed_quickly_is_never_sent(tmp_path):
    quick = packed(DATA, tmp_path, quick=True)
    assert gzip.decompress(quick) == DATA
    whole = packed(DATA, tmp_path)
    assert whole == zipped(DATA) != quick


def test_an_author_gets_what_was_compressed_well_where_it_is_there(tmp_path):
    whole = packed(DATA, tmp_path)
    assert packed(DATA, tmp_path, quick=True) == whole
