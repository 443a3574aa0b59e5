"""Where things lie, what is a file, and what a digest says."""

import hashlib
import os
from pathlib import Path

import pytest

from builder.core import folders
from builder.core.folders import GENERATOR, THEME, Folders
from builder.core.project import Project
from tests.each import each

PROJECT = Project(name="Tiny", engine="tiny")


def at(root, **given):
    told = {
        "project": PROJECT,
        "root": root,
        "content": root / "content",
        "theme": root / "theme",
        "engine": root / "tiny",
        "cache": root / ".cache",
        "code": (),
    }
    return Folders(**{**told, **given})


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_the_generator_lies_where_its_builder_does():
    assert (GENERATOR / "builder" / "core" / "folders.py").samefile(folders.__file__)
    assert THEME == GENERATOR / "theme"
    assert folders.INSTALLED is not (GENERATOR / "build.py").is_file()


def test_what_is_made_once_is_not_made_again(tmp_path):
    one, made = at(tmp_path), []
    assert one.compute_once("a", lambda: made.append(1) or "x") == "x"
    assert one.compute_once("a", lambda: made.append(2) or "y") == "x"
    assert one.compute_once("b", lambda: "z") == "z"
    assert made == [1]


def test_an_engine_travels_with_the_framework_that_it_stands_beside(tmp_path):
    assert at(tmp_path).engine_packages == (tmp_path / "tiny",)
    framework = tmp_path / "engine"
    assert at(tmp_path, framework=framework).engine_packages == (tmp_path / "tiny", framework)


def test_a_file_is_named_from_the_folder_of_the_project(tmp_path):
    one = at(tmp_path / "p")
    assert one.display_path(tmp_path / "p" / "content" / "a.md") == "content/a.md"
    assert one.display_path(tmp_path / "q" / "a.md") == f"{tmp_path.as_posix()}/q/a.md"


def test_a_file_of_a_laid_theme_is_named_where_it_was_written(tmp_path):
    root, laid = tmp_path / "p", tmp_path / "p" / ".cache" / "theme"
    one = at(root, theme=laid, base_theme=root / "given")
    write(root / "theme" / "own.html")
    assert one.display_path(laid / "own.html") == "theme/own.html"
    assert one.display_path(laid / "other.html") == "given/other.html"
    assert one.display_path(root / "content" / "own.html") == "content/own.html"
    assert at(root, theme=laid).display_path(laid / "own.html") == ".cache/theme/own.html"


def test_the_shelf_is_for_builds_with_the_usual_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "INSTALLED", False)
    monkeypatch.setattr(folders, "GENERATOR", tmp_path / "g")
    (tmp_path / "g").mkdir()
    asked = []
    monkeypatch.setattr(os, "access", lambda *words: asked.append(words) or True)
    shelf = tmp_path / "g" / ".cache"
    assert (at(tmp_path).shared_cache, at(tmp_path).shared_or_own_cache) == (shelf, shelf)
    assert set(asked) == {(tmp_path / "g", os.W_OK)}
    other = at(tmp_path, cache=tmp_path / "other")
    assert (other.shared_cache, other.shared_or_own_cache) == (None, tmp_path / "other")


@each(("installed", "writable"), [(True, True), (False, False), (True, False)])
def test_there_is_no_shelf_where_it_cannot_be_written(installed, writable):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folders, "INSTALLED", installed)
        patch.setattr(os, "access", lambda *_: writable)
        one = at(Path("p"))
        assert (one.shared_cache, one.shared_or_own_cache) == (None, Path("p") / ".cache")


def test_the_scripts_are_those_that_the_theme_has(tmp_path):
    assert at(tmp_path).scripts() == {}
    for name in ("offline.js", "early.js", "other.js"):
        write(tmp_path / "theme" / name, f"// {name} é")
    assert list(at(tmp_path).scripts().items()) == [
        ("early.js", "// early.js é"),
        ("offline.js", "// offline.js é"),
    ]


def test_a_project_beside_the_generator_has_its_framework_and_theme(tmp_path):
    assert folders.project_folders(PROJECT, tmp_path) == Folders(
        project=PROJECT,
        root=tmp_path,
        content=tmp_path / "content",
        theme=THEME,
        engine=tmp_path / "tiny",
        cache=tmp_path / ".cache",
        code=(tmp_path / "tiny", GENERATOR / "engine", GENERATOR / "builder"),
        framework=GENERATOR / "engine",
        base_theme=None,
    )


def test_a_project_with_a_theme_has_it_laid_over_the_generators_in_its_cache(tmp_path):
    (tmp_path / "theme").mkdir()
    found = folders.project_folders(PROJECT, tmp_path)
    assert (found.theme, found.base_theme) == (tmp_path / ".cache" / "theme", THEME)
    found = folders.project_folders(PROJECT, tmp_path, tmp_path / "c")
    assert (found.cache, found.theme) == (tmp_path / "c", tmp_path / "c" / "theme")


def test_the_generator_itself_has_neither_framework_nor_laid_theme():
    found = folders.project_folders(Project(name="W", engine="engine"), GENERATOR)
    assert (found.framework, found.theme, found.base_theme) == (None, THEME, None)
    assert found.code == (GENERATOR / "engine", GENERATOR / "builder")


def test_files_come_in_the_order_of_their_paths_without_hidden_ones(tmp_path):
    for name in ("b.txt", "a/z.txt", "a/y.md", ".hidden", ".git/x.txt", "__pycache__/c.pyc"):
        write(tmp_path / name)
    (tmp_path / "empty").mkdir()
    found = [path.relative_to(tmp_path).as_posix() for path in folders.files(tmp_path)]
    assert found == ["a/y.md", "a/z.txt", "b.txt"]
    assert folders.files(tmp_path, "*.md") == [tmp_path / "a" / "y.md"]
    assert folders.files(tmp_path, "*.MD") == []
    assert folders.files(tmp_path / "none") == []
    assert folders.files(tmp_path / "b.txt") == []


def test_a_link_to_a_folder_is_not_followed_and_one_to_a_file_is(tmp_path):
    write(tmp_path / "real" / "a.txt")
    (tmp_path / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "file.txt").symlink_to(tmp_path / "real" / "a.txt")
    found = [path.relative_to(tmp_path).as_posix() for path in folders.files(tmp_path)]
    assert found == ["file.txt", "real/a.txt"]


def test_a_file_is_written_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "a" / "b" / "c"
    folders.write_atomically(path, b"one")
    folders.write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["c"]  # noqa: PTH208


def test_what_was_sealed_is_read_and_what_was_damaged_is_not(tmp_path):
    path = tmp_path / "a" / "kept"
    assert folders.read_checksummed(path) is None
    folders.write_checksummed(path, b"data")
    assert path.read_bytes() == hashlib.sha256(b"data").digest() + b"data"
    assert folders.read_checksummed(path) == b"data"
    path.write_bytes(path.read_bytes()[:-1])
    assert folders.read_checksummed(path) is None
    folders.write_checksummed(path, b"")
    assert folders.read_checksummed(path) == b""


@each(
    ("parts", "hashed"),
    [([], b""), (["ab", b"c"], b"2:ab1:c"), (["é"], b"2:\xc3\xa9"), (["", "a"], b"0:1:a")],
)
def test_a_digest_is_sixteen_letters_of_the_parts_with_their_lengths(parts, hashed):
    assert folders.digest(iter(parts)) == hashlib.sha256(hashed).hexdigest()[:16]


def test_the_digest_of_a_folder_is_of_its_names_and_contents(tmp_path):
    write(tmp_path / "f" / "a.txt", "one")
    write(tmp_path / "f" / "b" / "c.md", "two")
    told = folders.digest(["a.txt", "one", "b/c.md", "two"])
    assert folders.digest_of_files(tmp_path / "f") == told
    assert folders.digest_of_files(tmp_path / "f", "*.md") == folders.digest(["b/c.md", "two"])
    assert folders.digest_of_files(tmp_path / "none") == folders.digest([])
    (tmp_path / "f").rename(tmp_path / "g")
    assert folders.digest_of_files(tmp_path / "g") == told  # wherever it lies
    write(tmp_path / "g" / "a.txt", "other")
    assert folders.digest_of_files(tmp_path / "g") != told


def test_a_stamp_is_a_file_with_its_date_and_size(tmp_path):
    path = write(tmp_path / "a", "12345")
    os.utime(path, ns=(7, 9_000))
    assert folders.file_stamps([path]) == ((path, 9_000, 5),)
