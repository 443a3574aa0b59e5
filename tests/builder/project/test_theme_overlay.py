"""A project's theme is laid over the generator's, file by file, and speaks its words."""

import os
from dataclasses import replace

import pytest

from builder.core import folders
from builder.project import theme_overlay
from builder.project.project_file import ProjectError
from tests.builder.conftest import PROJECT

OLD = 1_000_000_000  # a date in nanoseconds that no test writes at


@pytest.fixture
def places(tmp_path):
    """A project beside a generator's theme of a few files."""
    there = folders.project_folders(PROJECT, tmp_path / "project")
    put(
        tmp_path / "given",
        **{
            "templates/base.html": "<p>Close</p>",
            "templates/a/b.txt": "Close",
            "styles/main.css": "p {}",
            "fonts/a.woff2": "font",
            "runtime/c/d.js": "1",
            "keys.toml": 'title = "Close"',
            "node_modules/e.js": "2",
            "other/f.js": "3",
            "no_suffix": "4",
            "g.d/h.js": "5",
        },
    )
    (tmp_path / "project/theme").mkdir(parents=True)
    laid = tmp_path / "laid"
    return replace(there, theme=laid, base_theme=tmp_path / "given")


def put(root, **texts):
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


def laid(places):
    theme_overlay.update_overlay(places)
    found = folders.files(places.theme)
    return {path.relative_to(places.theme).as_posix(): path.read_text("utf-8") for path in found}


def refused(places):
    with pytest.raises(ProjectError) as raised:
        theme_overlay.update_overlay(places)
    return [str(one) for one in raised.value.problems]


GIVEN = {
    "templates/given/base.html": "<p>Close</p>",
    "templates/given/a/b.txt": "Close",
    "templates/base.html": "<p>Close</p>",
    "templates/a/b.txt": "Close",
    "styles/main.css": "p {}",
    "fonts/a.woff2": "font",
    "runtime/c/d.js": "1",
    "keys.toml": 'title = "Close"',
}


def test_without_a_theme_of_its_own_a_project_has_none_laid(places):
    theme_overlay.update_overlay(replace(places, base_theme=None))
    assert not places.theme.exists()


def test_the_theme_of_the_generator_is_laid_with_its_templates_as_given(places):
    assert laid(places) == GIVEN


def test_the_files_of_a_project_take_the_place_of_those_given(places):
    own = {
        "templates/base.html": "own",
        "templates/new.html": "new",
        "styles/main.css": "p { own }",
        "logo.svg": "logo",
    }
    put(places.root / "theme", **own, **{"images/a.svg": "left out"})
    assert laid(places) == GIVEN | own


def test_what_is_there_no_more_is_taken_away(places):
    put(places.root / "theme", **{"templates/new.html": "new"})
    theme_overlay.update_overlay(places)
    put(places.theme, **{"styles/old/old.css": "old"})
    (places.root / "theme/templates/new.html").unlink()
    assert laid(places) == GIVEN


def test_a_file_is_copied_with_its_date(places):
    source, target = places.base_theme / "styles/main.css", places.theme / "styles/main.css"
    os.utime(source, ns=(OLD, OLD))
    theme_overlay.update_overlay(places)
    assert target.stat().st_mtime_ns == OLD


def test_a_file_is_copied_again_where_its_date_or_its_size_is_another(places):
    source, target = places.base_theme / "styles/main.css", places.theme / "styles/main.css"
    theme_overlay.update_overlay(places)
    date = source.stat().st_mtime_ns
    target.write_text("q {}")
    os.utime(target, ns=(date, date))
    theme_overlay.update_overlay(places)
    assert target.read_text() == "q {}"  # as long and as old: it is not read
    os.utime(target, ns=(OLD, OLD))
    theme_overlay.update_overlay(places)
    assert target.read_text() == "p {}"
    target.write_text("longer than that")
    os.utime(target, ns=(date, date))
    theme_overlay.update_overlay(places)
    assert target.read_text() == "p {}"


def test_what_a_reader_sees_is_said_in_the_words_of_the_project(places):
    put(places.root / "theme", **{"words.toml": '"Close" = "Zu"'})
    assert laid(places) == GIVEN | {
        "templates/given/base.html": "<p>Zu</p>",
        "templates/base.html": "<p>Zu</p>",
        "keys.toml": 'title = "Zu"',
        "words.toml": '"Close" = "Zu"',
    }


def test_a_file_in_other_words_is_written_only_when_it_says_something_else(places):
    put(places.root / "theme", **{"words.toml": '"Close" = "Zu"'})
    theme_overlay.update_overlay(places)
    target = places.theme / "templates/base.html"
    os.utime(target, ns=(OLD, OLD))
    theme_overlay.update_overlay(places)
    assert target.stat().st_mtime_ns == OLD
    put(places.root / "theme", **{"words.toml": '"Close" = "Ab"'})
    theme_overlay.update_overlay(places)
    assert target.read_text("utf-8") == "<p>Ab</p>"


def test_words_that_stand_in_no_text_of_the_interface_are_named(places):
    put(places.root / "theme", **{"words.toml": '"Open" = "Auf"\n"Close" = "Zu"\n"Next" = "Vor"'})
    assert refused(places) == [
        "theme/words.toml:1: 'Open' is no text of the interface",
        "theme/words.toml:3: 'Next' is no text of the interface",
    ]
    assert (places.theme / "templates/base.html").read_text() == "<p>Zu</p>"


def test_words_that_cannot_be_used_are_named_and_the_theme_is_laid_without(places):
    put(places.root / "theme", **{"words.toml": '"Close" = 5\n'})
    assert refused(places) == ["theme/words.toml:1: 'Close' is 5; it has to be a text"]
    assert (places.theme / "templates/base.html").read_text() == "<p>Close</p>"


def test_a_template_that_cannot_be_read_is_laid_as_it_is(places):
    put(places.root / "theme", **{"words.toml": '"Close" = "Zu"\n"Open" = "Auf"'})
    (places.root / "theme/templates").mkdir()
    (places.root / "theme/templates/odd.html").write_bytes(b"<p>Open</p>\xff")
    assert refused(places) == ["theme/words.toml:2: 'Open' is no text of the interface"]
    assert (places.theme / "templates/odd.html").read_bytes() == b"<p>Open</p>\xff"
