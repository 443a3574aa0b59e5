"""The memory between builds makes again what changed, and only that."""

import pickle

import pytest

from builder.core.build_cache import BuildCache, load


def counted(memo, name, key):
    made = []
    value = memo.get(name, key, lambda: made.append(name) or f"{name} {key}")
    return value, len(made)


def test_a_value_is_made_once_for_each_key():
    memo = BuildCache()
    assert counted(memo, "a", "1") == ("a 1", 1)
    assert counted(memo, "a", "1") == ("a 1", 0)
    assert counted(memo, "a", "2") == ("a 2", 1)
    assert counted(memo, "b", "1") == ("b 1", 1)
    assert memo.computed == ["a", "a", "b"]


def test_the_next_build_knows_what_this_one_used():
    memo = BuildCache()
    counted(memo, "old", "1")
    memo = memo.for_next_build()
    counted(memo, "a", "1")
    after = memo.for_next_build()
    assert counted(after, "a", "1") == ("a 1", 0)
    assert counted(after, "old", "1") == ("old 1", 1)


def test_what_could_not_be_made_is_not_kept():
    memo = BuildCache()
    with pytest.raises(ZeroDivisionError):
        memo.get("a", "1", lambda: 1 // 0)
    assert memo.get("b", "1", lambda: 2) == 2
    assert list(memo.entries()) == ["b"]


def test_a_kept_memory_is_read_again(tmp_path):
    memo = BuildCache()
    counted(memo, "a", "1")
    memo.save(tmp_path / "this.pickle")
    assert counted(load(tmp_path / "this.pickle"), "a", "1") == ("a 1", 0)


def test_a_memory_with_one_wrong_byte_is_empty(tmp_path):
    memo = BuildCache()
    counted(memo, "a", "1")
    memo.save(tmp_path / "this.pickle")
    kept = bytearray((tmp_path / "this.pickle").read_bytes())
    kept[kept.index(b"a 1")] ^= 1
    (tmp_path / "this.pickle").write_bytes(kept)
    assert counted(load(tmp_path / "this.pickle"), "a", "1") == ("a 1", 1)


@pytest.mark.parametrize("data", [b"", b"no pickle", pickle.dumps([1])[:5]])
def test_a_damaged_memory_is_empty(tmp_path, data):
    (tmp_path / "this.pickle").write_bytes(data)
    assert counted(load(tmp_path / "this.pickle"), "a", "1") == ("a 1", 1)
    assert counted(load(tmp_path / "none.pickle"), "a", "1") == ("a 1", 1)


def test_a_build_that_broke_off_forgets_nothing():
    memo = BuildCache()
    counted(memo, "a", "1")
    memo.keep_in_process("standing", "1", "left", ["a"])
    memo = memo.for_next_build()
    memo.keep_all_entries()
    after = memo.for_next_build()
    assert counted(after, "a", "1") == ("a 1", 0)
    assert after.get_from_process("standing", "1") == "left"


def test_the_last_key_of_a_value_is_known_where_there_is_one():
    memo = BuildCache()
    counted(memo, "a", "1")
    assert memo.for_next_build().last_key("a", "2") == "1"
    assert memo.last_key("b", "2") == "2"
