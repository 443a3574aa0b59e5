import gzip
from pathlib import Path

from builder.runtime.archive_format import BEST_LEVEL, compress
from builder.runtime.bundle import compress_cached, compress_calculators, engine_sources
from builder.runtime.bytecode import CompiledArchives
from engine.catalog.published_table import TEXT

ENGINE = Path(__file__).parents[3] / "engine"


def test_a_module_beside_a_table_carries_the_table_itself():
    found = {}
    exec(engine_sources(ENGINE)["engine/catalog/published_table.py"], found)
    assert found["TEXT"] == TEXT


def test_no_table_is_left_without_a_module():
    assert all(path.with_suffix(".py").is_file() for path in ENGINE.rglob("*.tsv"))


DATA = b"".join(number.to_bytes(2, "big") * 3 for number in range(9000))


def test_what_was_compressed_quickly_is_never_sent(tmp_path):
    quick = compress_cached(DATA, tmp_path, quick=True)
    assert gzip.decompress(quick) == DATA
    whole = compress_cached(DATA, tmp_path)
    assert whole == compress(DATA) != quick


def test_an_author_gets_what_was_compressed_well_where_it_is_there(tmp_path):
    whole = compress_cached(DATA, tmp_path)
    assert compress_cached(DATA, tmp_path, quick=True) == whole


def compiled(folder, names, fresh):
    """Archives of calculators, of which some have just been made or read."""
    return CompiledArchives(
        library=b"",
        shared=b"",
        files={name: folder / name for name in names},
        calculators={name: name.encode() for name in fresh},
    )


def test_the_archives_of_the_last_build_are_held_and_no_others(tmp_path):
    held = {}
    assert compress_calculators(compiled(tmp_path, "ab", "ab"), bytes.upper, held) == {
        "a": b"A",
        "b": b"B",
    }
    # One is held, one has changed and lies in another file, one is new.
    after = compiled(tmp_path, "axc", "xc")
    assert compress_calculators(after, bytes.upper, held) == {"a": b"A", "x": b"X", "c": b"C"}
    assert held == {tmp_path / "a": b"A", tmp_path / "x": b"X", tmp_path / "c": b"C"}


def test_what_was_compressed_less_is_not_taken_for_what_is_compressed_most(tmp_path):
    compress_cached(DATA, tmp_path)
    compress_cached(DATA, tmp_path, level=BEST_LEVEL)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 2
    assert compress_cached(DATA, tmp_path, level=BEST_LEVEL) == compress(DATA, level=BEST_LEVEL)
