import json
import os
import sys
from types import SimpleNamespace

import pytest

from builder.cli import build_command
from builder.core.folders import digest

INPUTS = (
    "content/a.md",
    "code/x/y.py",
    "more/z.py",
    *(f"theme/{name}/a" for name in ("templates", "styles", "runtime", "fonts")),
    *(f"theme/{name}" for name in ("package-lock.json", "keys.toml", "early.js", "offline.js")),
    "site.toml",
    "packages.lock.json",
)


def write(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


@pytest.fixture
def places(tmp_path):
    for name in (*INPUTS, "theme/other/a", "theme/other.js", "notes.txt"):
        write(tmp_path / name)
    return SimpleNamespace(
        root=tmp_path,
        content=tmp_path / "content",
        code=(tmp_path / "code", tmp_path / "more"),
        theme=tmp_path / "theme",
    )


@pytest.fixture
def left(tmp_path):
    target = tmp_path / "site"
    write(target / "index.html", "home")
    build_command.record_build(tmp_path / "cache", target, "read")
    return tmp_path / "cache", target


def test_every_file_that_is_read_changes_the_digest(places):
    seen = [build_command.inputs_digest(places, "o")]
    for name in INPUTS:
        write(places.root / name, "other text")
        seen.append(build_command.inputs_digest(places, "o"))
    assert len(set(seen)) == len(INPUTS) + 1


def test_a_file_that_comes_or_goes_changes_the_digest(places):
    before = build_command.inputs_digest(places, "o")
    (places.root / "site.toml").unlink()
    without = build_command.inputs_digest(places, "o")
    write(places.root / "code" / "new.py")
    assert len({before, without, build_command.inputs_digest(places, "o")}) == 3


def test_what_no_build_reads_changes_nothing(places):
    before = build_command.inputs_digest(places, "o")
    for name in ("theme/other/a", "theme/other.js", "notes.txt"):
        write(places.root / name, "other text")
    assert build_command.inputs_digest(places, "o") == before


def test_options_python_and_packages_change_the_digest(places, tmp_path, monkeypatch):
    found = [build_command.inputs_digest(places, "o"), build_command.inputs_digest(places, "p")]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "4.0")
        found.append(build_command.inputs_digest(places, "o"))
    with monkeypatch.context() as patch:
        patch.setattr(build_command.sysconfig, "get_paths", lambda: {"purelib": str(tmp_path)})
        found.append(build_command.inputs_digest(places, "o"))
    assert len(set(found)) == 4
    assert build_command.inputs_digest(places, "o") == found[0]


def test_what_was_left_is_current(left):
    cache, target = left
    assert build_command.is_current(cache, target, "read") is True


def test_of_other_inputs_or_in_another_folder_nothing_is_current(left, tmp_path):
    cache, target = left
    assert build_command.is_current(cache, target, "other") is False
    assert build_command.is_current(cache, tmp_path / "elsewhere", "read") is False


def another_text(target, note):
    (target / "index.html").write_text("other", "utf-8")
    os.utime(target / "index.html", ns=(5, 5))


@pytest.mark.parametrize(
    "change",
    [
        lambda target, note: write(target / "a" / "new.html"),
        another_text,
        lambda target, note: os.utime(target / "index.html", ns=(6, 6)),
        lambda target, note: (target / "index.html").unlink(),
        lambda target, note: note.unlink(),
        lambda target, note: note.write_text("{", "utf-8"),
    ],
    ids=["new file", "text", "date", "gone", "no note", "damaged note"],
)
def test_what_is_not_as_it_was_left_is_not_current(tmp_path, change):
    cache, target = tmp_path / "cache", tmp_path / "site"
    write(target / "index.html", "home")
    os.utime(target / "index.html", ns=(5, 5))
    build_command.record_build(cache, target, "read")
    (note,) = (cache / "built").iterdir()
    assert build_command.is_current(cache, target, "read") is True
    change(target, note)
    assert build_command.is_current(cache, target, "read") is False


def test_a_note_is_kept_under_the_name_of_its_target(left):
    cache, target = left
    note = cache / "built" / f"{digest((str(target),))}.json"
    stat = (target / "index.html").stat()
    listed = digest([f"{target / 'index.html'} {stat.st_size} {stat.st_mtime_ns}"])
    assert json.loads(note.read_text("utf-8")) == ["read", listed]


def test_a_cache_that_cannot_be_written_is_no_trouble(tmp_path):
    write(tmp_path / "cache", "a file")
    build_command.record_build(tmp_path / "cache", tmp_path / "site", "read")
    assert build_command.is_current(tmp_path / "cache", tmp_path / "site", "read") is False
