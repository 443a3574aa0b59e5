"""The output folder: same bytes, whole or not at all, only what changed is made again."""

import pickle

import pytest

from builder.core import build_cache
from builder.outputs import output_folder


def snapshot(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_two_builds_of_the_same_content_have_the_same_bytes(live):
    first = live.build().output
    live.memo = build_cache.BuildCache()
    assert live.build().output == first


def test_a_build_with_problems_says_so_in_its_problems(live):
    live.append("content/guides/second.md", "[[spead]]")
    assert live.build().problems


def test_the_folder_holds_exactly_the_output(tmp_path):
    target = tmp_path / "site"
    output_folder.replace_output(target, {"a.html": b"1", "b/c.html": b"2"})
    output_folder.replace_output(target, {"a.html": b"3"})
    assert snapshot(target) == {"a.html": b"3"}


def test_nothing_is_left_beside_the_folder(tmp_path):
    output_folder.replace_output(tmp_path / "site", {"a.html": b"1"})
    output_folder.replace_output(tmp_path / "site", {"a.html": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_failing_write_leaves_the_old_folder_byte_for_byte(tmp_path):
    target = tmp_path / "site"
    output_folder.replace_output(target, {"a.html": b"1", "b.html": b"2"})
    with pytest.raises(OSError, match="a"):
        output_folder.replace_output(target, {"a": b"3", "a/b.html": b"4"})
    assert snapshot(target) == {"a.html": b"1", "b.html": b"2"}


def test_a_failing_swap_puts_the_old_folder_back(tmp_path, monkeypatch):
    target = tmp_path / "site"
    output_folder.replace_output(target, {"a.html": b"1"})
    rename = type(target).rename

    def refuse(path, to):
        if path.name.endswith("-new"):
            raise OSError("disk on fire")
        return rename(path, to)

    monkeypatch.setattr(type(target), "rename", refuse)
    monkeypatch.setattr(output_folder, "_exchange", lambda one, other: False)
    with pytest.raises(OSError, match="disk on fire"):
        output_folder.replace_output(target, {"a.html": b"2"})
    assert snapshot(target) == {"a.html": b"1"}


def test_an_unchanged_file_keeps_its_date(tmp_path):
    target = tmp_path / "site"
    output_folder.replace_output(target, {"a.html": b"1", "b.html": b"2"})
    before = (target / "a.html").stat().st_mtime_ns
    output_folder.replace_output(target, {"a.html": b"1", "b.html": b"3"})
    assert (target / "a.html").stat().st_mtime_ns == before


def test_nothing_is_made_again_when_nothing_changed(live):
    live.build()
    live.build()
    assert live.memo.computed == []


def test_a_word_in_an_article_makes_only_its_page_again(live):
    live.build()
    live.append("content/guides/second.md", "More words.")
    live.build()
    assert live.memo.computed == [
        "article content/guides/second.md",
        "asked content/guides/second.md",
        "prose content/guides/second.md",
        "page content/guides/second.md",
        "search",
    ]


def test_a_new_title_makes_the_pages_that_show_it_again(live):
    live.build()
    live.edit("content/guides/second.md", 'title = "Second"', 'title = "Other"')
    live.build()
    pages = [name for name in live.memo.computed if name.startswith("page ")]
    assert pages == [
        "page content/guides/first.md",
        "page content/guides/second.md",
        "page content/index.md",
    ]


def test_a_style_makes_no_page_again_but_has_a_new_address_in_each(live):
    before = live.build().output
    (live.root / "theme/styles/10-late.css").write_text("body { color: red; }\n")
    after = live.build().output
    assert live.memo.computed == ["theme problems", "scripts and styles"]
    (sheet,) = (name for name in after if name.endswith(".css"))
    assert sheet not in before
    assert sheet.encode() in after["guides/first/index.html"]


def test_code_that_gives_the_same_numbers_makes_no_article_again(live):
    live.build()
    live.append("tiny_calculators/speed.py", "UNUSED = 1")
    live.build()
    assert "calculator speed" in live.memo.computed
    assert not [name for name in live.memo.computed if name.startswith(("prose ", "page "))]


def test_another_fixed_number_makes_its_article_again(live):
    live.build()
    kept = live.memo.entries()
    fixed = next(name for name in kept if name.startswith("fixed "))
    key, told = kept[fixed]
    view, receipt = pickle.loads(told)
    other = pickle.dumps(({**view, "text": "9.00 ms"}, receipt))
    again = build_cache.BuildCache({**kept, fixed: (key, other)})
    assert b"9.00 ms" in live.build_with(again).output["guides/first/index.html"]


def test_a_template_makes_all_pages_again(live):
    live.build()
    live.edit("theme/templates/guide.html", "<h1>", "<h1 class='x'>")
    live.build()
    assert sum(name.startswith("page ") for name in live.memo.computed) == 3


def test_a_memory_outlives_the_process(live):
    live.build()
    live.memo.save(live.root / "kept.pickle")
    kept = build_cache.load(live.root / "kept.pickle")
    live.build_with(kept)
    assert kept.computed == []


def test_a_memory_that_cannot_be_read_is_empty(tmp_path):
    (tmp_path / "kept.pickle").write_bytes(b"not a pickle")
    assert build_cache.load(tmp_path / "kept.pickle").get("x", "1", lambda: 5) == 5


def test_where_folders_cannot_be_exchanged_in_one_step_the_new_one_takes_the_place(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(output_folder.sys, "platform", "darwin")
    target = tmp_path / "site"
    output_folder.replace_output(target, {"a.html": b"1"})
    output_folder.replace_output(target, {"b.html": b"2"})
    assert snapshot(target) == {"b.html": b"2"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
