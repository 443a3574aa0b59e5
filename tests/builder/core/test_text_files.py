"""Files are found, read and named as authors see them."""

import os
from dataclasses import replace

import pytest

from builder.core import folders, text_files
from builder.core.folders import digest, digest_of_files, files, write_atomically
from builder.core.project import Project

PROJECT = Project(name="Lines", engine="lines")


def put(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_hidden_files_and_byte_code_are_left_out(tmp_path):
    put(tmp_path, "b.md", "a/c.md", ".d.md", ".e/f.md", "__pycache__/g.md", "h.txt")
    assert [path.name for path in files(tmp_path, "*.md")] == ["c.md", "b.md"]
    assert [path.name for path in files(tmp_path)] == ["c.md", "b.md", "h.txt"]
    assert files(tmp_path / "nowhere") == []


def test_a_digest_depends_on_every_part_and_their_borders():
    found = {digest(parts) for parts in (["ab"], ["a", "b"], ["b", "a"], ["", "ab"], [])}
    assert len(found) == 5
    assert digest(["a"]) == digest([b"a"])
    assert len(digest([])) == 16


def test_the_digest_of_files_depends_on_names_and_contents(tmp_path):
    put(tmp_path, "a.py", "b.txt")
    before = digest_of_files(tmp_path, "*.py")
    put(tmp_path, "c.txt")
    assert digest_of_files(tmp_path, "*.py") == before
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    moved = digest_of_files(tmp_path, "*.py")
    (tmp_path / "c.py").write_text("other")
    assert len({before, moved, digest_of_files(tmp_path, "*.py")}) == 3


def test_a_file_of_the_cache_is_written_whole(tmp_path):
    write_atomically(tmp_path / "new" / "x.json", b"x")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x.json"]
    assert (tmp_path / "new" / "x.json").read_bytes() == b"x"


def test_a_theme_may_lack_scripts(tmp_path):
    places = replace(folders.project_folders(PROJECT, tmp_path), theme=tmp_path / "theme")
    assert places.scripts() == {}
    put(tmp_path, "theme/offline.js")
    assert places.scripts() == {"offline.js": "theme/offline.js"}


def test_a_text_is_read_with_one_kind_of_line_end(tmp_path):
    (tmp_path / "a.md").write_bytes("a\r\nb\rc\té\n".encode())
    assert text_files.read_text(tmp_path / "a.md", "a.md") == ("a\nb\nc\té\n", [])
    assert text_files.read_text(tmp_path / "b.md", "b.md") == ("", [])


def test_a_fault_is_on_its_line(tmp_path):
    for data, said in (
        (b"a\nb\xff", "a.md:2: byte 0xff is not UTF-8"),
        (b"a\n\n\x1b[0m", "a.md:3: holds the control character U+001B"),
        (b"\x0b", "a.md:1: holds the control character U+000B"),
        (b"\xef\xbb\xbfa", "a.md:1: begins with a byte-order mark; save it without"),
    ):
        (tmp_path / "a.md").write_bytes(data)
        text, problems = text_files.read_text(tmp_path / "a.md", "a.md")
        assert (text, [str(one) for one in problems]) == ("", [said])


def test_names_that_are_no_address(tmp_path):
    sound = ("a.md", "b/c-d_e.1.svg", "b/F.csv")
    put(tmp_path / "content", *sound, "b/g h.md", "i.Markdown", "j.MD", "-k.md")
    there = folders.files(tmp_path / "content")
    wrong = text_files.name_problems(folders.project_folders(PROJECT, tmp_path), there)
    found = [str(one).partition(": ")[::2] for one in wrong]
    assert found == [
        ("content/-k.md:1", "'-k.md' is no address; use letters, digits, '-', '_' and '.'"),
        ("content/b/g h.md:1", "'g h.md' is no address; use letters, digits, '-', '_' and '.'"),
        ("content/i.Markdown:1", "is not read; call it i.md"),
        ("content/j.MD:1", "is not read; call it j.md"),
    ]


def said(problems):
    return [str(one) for one in problems]


@pytest.mark.parametrize("code", [0, 8, 0x0B, 0x0C, 0x0E, 0x1F])
def test_a_text_holds_no_control_character(tmp_path, code):
    (tmp_path / "a.md").write_bytes(b"a\n" + bytes([code]))
    _, problems = text_files.read_text(tmp_path / "a.md", "b.md")
    assert said(problems) == [f"b.md:2: holds the control character U+{code:04X}"]


@pytest.mark.parametrize("text", ["\t", " ", "\x7f", "a", "é", "a\ufeff"])
def test_other_characters_are_read(tmp_path, text):
    (tmp_path / "a.md").write_text(text, "utf-8")
    assert text_files.read_text(tmp_path / "a.md", "a.md") == (text, [])


def test_a_folder_is_no_text(tmp_path):
    assert text_files.read_text(tmp_path, "a.md") == ("", [])


def test_an_article_has_two_million_bytes_at_most(tmp_path):
    for name, size in (("a.md", 2_000_000), ("b.md", 2_000_001), ("c.svg", 2_000_001)):
        put(tmp_path, f"content/{name}")
        os.truncate(tmp_path / "content" / name, size)
    there = folders.files(tmp_path / "content")
    assert said(text_files.name_problems(folders.project_folders(PROJECT, tmp_path), there)) == [
        "content/b.md:1: has 2,000,001 bytes; an article has at most 2,000,000"
    ]


@pytest.mark.parametrize("end", [".markdown", ".mdown", ".mkd", ".mkdn", ".MDWN", ".Md"])
def test_an_article_under_another_ending_is_not_read(tmp_path, end):
    there = [tmp_path / f"content/a.b{end}"]
    assert said(text_files.name_problems(folders.project_folders(PROJECT, tmp_path), there)) == [
        f"content/a.b{end}:1: is not read; call it a.b.md"
    ]


@pytest.mark.parametrize("name", ["_a", ".a", "a b/-c", "é", "a\n", "a+b"])
def test_the_first_part_of_a_path_that_is_no_address_is_named(tmp_path, name):
    there = [tmp_path / "content" / name, tmp_path / "odd folder/a"]
    told = f"'{name.partition('/')[0]}' is no address; use letters, digits, '-', '_' and '.'"
    problems = text_files.name_problems(folders.project_folders(PROJECT, tmp_path), there)
    assert [(one.path, one.message) for one in problems] == [(f"content/{name}", told)]


@pytest.mark.parametrize("name", ["a", "Z", "0", "9a", "a.b", "a-", "a_", "README"])
def test_a_name_of_letters_digits_and_three_signs_is_an_address(tmp_path, name):
    there = [tmp_path / "content" / name]
    assert text_files.name_problems(folders.project_folders(PROJECT, tmp_path), there) == []


def test_two_names_differ_in_more_than_capitals(tmp_path):
    there = [
        tmp_path / "content" / name for name in ("a.svg", "A.svg", "a.SVG", "b.svg", "x y.mkd")
    ]
    assert said(text_files.name_problems(folders.project_folders(PROJECT, tmp_path), there)) == [
        "content/A.svg:1: differs from content/a.svg only in capitals",
        "content/a.SVG:1: differs from content/a.svg only in capitals",
        "content/x y.mkd:1: 'x y.mkd' is no address; use letters, digits, '-', '_' and '.'",
        "content/x y.mkd:1: is not read; call it x y.md",
    ]


def test_a_link_leads_to_a_file_of_the_project(tmp_path):
    root = tmp_path / "project"
    put(root, "a.svg", "content/.hidden/b.md", "content/c/d.md")
    put(tmp_path, "project-2/e.svg")
    for link, to in (
        ("z.svg", root / "a.svg"),
        ("nowhere.svg", root / "none.svg"),
        ("c/f.svg", tmp_path / "project-2/e.svg"),
        ("c/a", root / "content/.hidden"),
        ("c/b", root / "content/c/a"),
        (".hidden/g", tmp_path / "project-2"),
        ("d", root),
    ):
        (root / "content" / link).symlink_to(to)
    out = "is a link that leads out of the project; put the file itself here"
    folder = "is a link to a folder, which is not followed"
    there = [root / "content/X y"]
    assert said(text_files.name_problems(folders.project_folders(PROJECT, root), there)) == [
        "content/X y:1: 'X y' is no address; use letters, digits, '-', '_' and '.'",
        f"content/.hidden/g:1: {out}",
        f"content/c/a:1: {folder}",
        f"content/c/b:1: {folder}",
        f"content/c/f.svg:1: {out}",
        f"content/d:1: {folder}",
    ]


def test_a_project_without_content_has_no_links(tmp_path):
    assert text_files.name_problems(folders.project_folders(PROJECT, tmp_path), []) == []
