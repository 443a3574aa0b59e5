"""What a project puts into its theme has an effect, or the build says that it has none."""

import pytest

from builder.core import folders
from builder.core.build_cache import BuildCache
from builder.project import theme_overlay, ui_strings
from builder.theme import theme_checks
from tests.builder.conftest import PROJECT

EXTENDS = '{% extends "given/base.html" %}\n'


@pytest.fixture
def told(tmp_path):
    """Write files of a theme; return what is wrong with it."""

    def problems(**written: str) -> list[str]:
        for name, text in written.items():
            path = tmp_path / "theme" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        there = folders.project_folders(PROJECT, tmp_path)
        theme_overlay.update_overlay(there)
        return [str(one) for one in theme_checks.override_problems(there, BuildCache())]

    return problems


NOTHING = "replaces nothing of the generator's theme, and no file of yours names it"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("base.html", "x", f"theme/base.html:1: {NOTHING}; there is theme/templates/base.html"),
        (
            "templates/layout.html",
            "x",
            f"theme/templates/layout.html:1: {NOTHING}; only style sheets ",
        ),
        ("templates/panels.html", "x", f"theme/templates/panels.html:1: {NOTHING}"),
        ("runtime/plot.js", "x", f"theme/runtime/plot.js:1: {NOTHING}"),
        (
            "runtime/print.js",
            "",
            f"theme/runtime/print.js:1: {NOTHING}; there is theme/runtime/page/",
        ),
        ("fonts/mine.woff2", "x", f"theme/fonts/mine.woff2:1: {NOTHING}"),
        ("styles/mine.scss", "x", f"theme/styles/mine.scss:1: {NOTHING}"),
        ("images/logo.svg", "x", f"theme/images/logo.svg:1: {NOTHING}"),
        (
            "templates/base.html",
            f"{EXTENDS}{{% block main %}}{{% endblock %}}\n{{% block fut %}}x{{% endblock %}}",
            "theme/templates/base.html:3: 'given/base.html' has no block 'fut'; there are ",
        ),
        (
            "templates/guide.html",
            '{% extends "base.html" %}{% block foot %}{% block a %}{% endblock %}{% endblock %}',
            "theme/templates/guide.html:1: 'base.html' has no block 'foot'; there are ",
        ),
    ],
)
def test_what_has_no_effect_is_told(told, name, text, problem):
    (found,) = told(**{name: text})
    assert found.startswith(problem)


def test_what_has_an_effect_is_not(told):
    assert (
        told(
            **{
                "templates/base.html": f'{EXTENDS}{{% block main %}}{{% include "x.html" %}}'
                "{% block mine %}{% endblock %}{% endblock %}",
                "templates/x.html": "x",
                "templates/panels/more.html": "x",
                "runtime/page/print.js": 'import "./mine.js";',
                "runtime/page/mine.js": "x",
                "styles/99-mine.css": "@font-face { src: url(mine.woff2) }",
                "fonts/mine.woff2": "x",
                "fonts/LICENSE-mine.txt": "x",
                "README.md": "x",
                "early.js": "x",
            }
        )
        == []
    )


def test_a_site_without_a_theme_of_its_own(tmp_path):
    assert (
        theme_checks.override_problems(folders.project_folders(PROJECT, tmp_path), BuildCache())
        == []
    )


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("{count} gefunden.", ""),
        ("Gefunden.", "'Gefunden.' lacks {count}, which is filled in"),
        ("{counted} gefunden.", "'{counted} gefunden.' lacks {count}, which is filled in"),
        ("{count} von {all}.", "'{count} von {all}.' has {all}, which nothing fills in"),
    ],
)
def test_a_text_in_other_words_keeps_what_is_filled_in(tmp_path, said, wrong):
    (tmp_path / ui_strings.FILE).write_text(
        f'"Close" = "Zu"\n"{{count}} found." = "{said}"\n', "utf-8"
    )
    _, problems = ui_strings.read_translations(tmp_path, "theme/words.toml")
    assert list(map(str, problems)) == ([f"theme/words.toml:2: {wrong}"] if wrong else [])
