"""What calculators of one page have in common is in one file of that page."""

import gzip

from builder.pages.page_archives import split_archives
from builder.runtime.archive_format import pack, unpack

RING = {"engine/core.pyc": b"units" * 99, "engine/run.pyc": b"job" * 99, "engine/ring.pyc": b"r"}
TREE = {"engine/core.pyc": b"units" * 99, "engine/run.pyc": b"job" * 99, "engine/tree.pyc": b"t"}
ALONE = {"engine/alone.pyc": b"a"}


def packed(files):
    return gzip.compress(pack(files))


def split_of(**calculators):
    files, needed = split_archives("page", {name: packed(one) for name, one in calculators.items()})
    return {name: unpack(gzip.decompress(data)) for name, data in files.items()}, needed


def test_an_archive_gives_back_its_files():
    assert unpack(pack(RING)) == RING


def test_every_calculator_gets_exactly_what_it_needs_and_no_module_twice():
    files, needed = split_of(ring=RING, tree=TREE)
    for name, own in (("ring", RING), ("tree", TREE)):
        together = [files[one] for one in needed[name]]
        assert {path: text for one in together for path, text in one.items()} == own
    paths = [path for one in files.values() for path in one]
    assert len(paths) == len(set(paths))


def test_one_without_anything_in_common_gets_only_its_own():
    files, needed = split_of(ring=RING, tree=TREE, alone=ALONE)
    assert [files[one] for one in needed["alone"]] == [ALONE]


def test_one_that_another_contains_has_no_empty_file():
    files, needed = split_of(ring=RING, part={"engine/run.pyc": RING["engine/run.pyc"]})
    assert all(files.values())
    assert len(needed["part"]) == 1


def test_names_are_those_of_the_page_and_of_the_content():
    files, _ = split_archives("page", {"ring": packed(RING), "tree": packed(TREE)})
    assert {name.rpartition("-")[0] for name in files} == {"page-common", "page-ring", "page-tree"}
    again, _ = split_archives("page", {"ring": packed(RING), "tree": packed(TREE)})
    assert files == again


def test_quickly_compressed_files_hold_the_same():
    given = {"ring": packed(RING), "tree": packed(TREE)}
    both = [split_archives("page", given, quick=quick)[0] for quick in (False, True)]
    held = [sorted(gzip.decompress(data) for data in files.values()) for files in both]
    assert held[0] == held[1]


DEFERRED = {"ring": {"engine.run": frozenset(("engine/run.py", "engine/words.py"))}}
WORDY = {**RING, "engine/words.pyc": b"words", "engine/words.records": b"methods"}


def test_deferred_modules_are_in_archives_of_their_own():
    files, needed = split_archives("page", {"ring": packed(WORDY)}, DEFERRED)
    held = {
        name: {path for file in names for path in unpack(gzip.decompress(files[file]))}
        for name, names in needed.items()
    }
    late = {"engine/run.pyc", "engine/words.pyc", "engine/words.records"}
    assert held == {"ring": WORDY.keys() - late, "engine.run": late}


def test_a_module_that_several_deferred_ones_need_is_in_one_archive():
    both = {"ring": {**DEFERRED["ring"], "engine.tree": frozenset(("engine/words.py",))}}
    files, needed = split_archives("page", {"ring": packed(WORDY)}, both)
    assert len(needed["engine.run"]) == 2
    assert {*needed["engine.tree"]} < {*needed["engine.run"]}
    paths = [path for file in files.values() for path in unpack(gzip.decompress(file))]
    assert sorted(paths) == sorted(WORDY)


def test_what_one_calculator_defers_another_has_at_once():
    files, needed = split_archives("page", {"ring": packed(WORDY), "tree": packed(TREE)}, DEFERRED)
    at_once = {path for file in needed["tree"] for path in unpack(gzip.decompress(files[file]))}
    assert at_once == TREE.keys()
    assert {file.rpartition("-")[0] for file in needed["engine.run"]} == {"page-run"}
