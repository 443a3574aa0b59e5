"""What is wrong in a theme is named before it reaches a page."""

from dataclasses import replace

import pytest

from builder.core import folders
from builder.core.build_cache import BuildCache
from builder.core.problem import Problem
from builder.core.project import Project
from builder.project import theme_overlay, ui_strings
from builder.theme import theme_checks
from builder.theme.theme_checks import colors, problems, style_problems
from tests.builder.conftest import PROJECT

FONTS = {"b.woff2", "a.woff2"}
COMMENT, TEXT = "this comment is never closed", "this text is never closed"
IMPORT = "@import is not followed; every file of theme/styles is in the style sheet"


def wrong(text):
    return list(style_problems(text, FONTS))


def no_font(address):
    return f"'{address}' is not a font of theme/fonts; there are a.woff2, b.woff2"


@pytest.fixture
def theme(tmp_path):
    made = replace(
        folders.project_folders(Project(name="T", engine="t"), tmp_path),
        theme=tmp_path / "theme",
        base_theme=None,
    )

    def put(name, text):
        path = tmp_path / "theme" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return made

    return put


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a { b: c(d) }",
        "@media (x) { a { b: c } }",
        "/* { */ a {}",
        "/**/",
        "/***/",
        "/*\n{\n*/",
        'a { content: "{" }',
        "a { content: '}' }",
        """a { content: "\\"" '\\'' "'" '"' }""",
        'a { content: "" }',
        'a { content: "a\\\nb" }',
    ],
)
def test_a_sheet_that_closes_what_it_opens_is_sound(text):
    assert wrong(text) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a {", [(1, "'{' is never closed")]),
        ("a {\n b: c(d;\n", [(1, "'{' is never closed"), (2, "'(' is never closed")]),
        ("a {}\n}", [(2, "'}' closes nothing")]),
        (")", [(1, "')' closes nothing")]),
        ("a { b: c(}\n", [(1, "'}' closes nothing"), (1, "'{' is never closed")]),
        ("(\n{\n)", [(3, "')' closes nothing"), (1, "'(' is never closed")]),
        ("a {}\n/* b", [(2, COMMENT)]),
        ("/*/", [(1, COMMENT)]),
        ("\n\n/* a {", [(3, COMMENT)]),
        ('a { b: "c }\n}', [(1, TEXT)]),
        ("a { b: 'c }\n}", [(1, TEXT)]),
        ("a { b: 'c\" }\n}", [(1, TEXT)]),
        ('"', [(1, TEXT)]),
        ("\n'", [(2, TEXT)]),
        ("a {}\n@import 'b.css';", [(2, IMPORT)]),
        ("@important", []),
    ],
)
def test_what_is_left_open_or_closes_nothing_is_named_with_its_line(text, told):
    assert wrong(text) == told


@pytest.mark.parametrize(
    "address",
    ["a.woff2", "../fonts/b.woff2", "/fonts/a.woff2", "data:font/woff2;base64,AA", "#clip"],
)
@pytest.mark.parametrize("form", ["url({})", 'url("{}")', "url( '{}' )"])
def test_a_sheet_names_fonts_of_the_theme_data_and_what_is_on_the_page(form, address):
    assert wrong("a { b: " + form.format(address) + " }") == []


@pytest.mark.parametrize(
    "address",
    [
        "c.woff2",
        "a.woff",
        "https://e.org/a.woff2",
        "//e.org/a.woff2",
        "a.woff2/",
        "",
        "x:a.woff2",
        "e.org/x/data:",
    ],
)
@pytest.mark.parametrize("form", ["url({})", 'url("{}")', "url( '{}' )"])
def test_any_other_address_is_named(form, address):
    assert wrong("a {}\n\nb { c: " + form.format(address) + " }") == [(3, no_font(address))]


def test_everything_is_named_in_the_order_of_the_sheet_and_what_is_open_last():
    assert wrong("a {\n}\n}\n@import\nb: url(c)\n(") == [
        (3, "'}' closes nothing"),
        (4, IMPORT),
        (5, no_font("c")),
        (6, "'(' is never closed"),
    ]


def test_the_colors_of_figures_are_those_that_have_a_rule(theme):
    theme("styles/b.css", ".c-ink {\n}\n.c-two-b, .c-x {\n}\n .c-inner {\n}\n.c-accent {\n}")
    made = theme("styles/a.css", ".c-two-a { }\n.c-accent { }\n.d-ink { }\n.c-tight{ }")
    assert colors(made.theme) == ("two-a", "accent", "ink")


def test_a_theme_without_styles_has_no_colors(tmp_path):
    assert colors(tmp_path) == ()


def test_styles_and_modules_of_a_theme_are_looked_at(theme):
    theme("styles/a.css", "a {")
    theme("styles/with/b.css", "\na: url(../fonts/f.woff2) url(g.woff2)")
    theme("styles/read.txt", "}")
    theme("fonts/f.woff2", "")
    theme("runtime/main.js", "let a\r\n")
    theme("runtime/page/b.js", "let b")
    made = theme("runtime/read.txt", "no")
    asked = []

    def check(modules):
        asked.append(dict(modules))
        return [("theme/runtime/main.js", 4, "does not parse")]

    assert problems(made, check) == [
        Problem("theme/styles/a.css", 1, "'{' is never closed"),
        Problem(
            "theme/styles/with/b.css",
            2,
            "'g.woff2' is not a font of theme/fonts; there are f.woff2",
        ),
        Problem("theme/runtime/main.js", 4, "does not parse"),
    ]
    assert asked == [{"theme/runtime/main.js": "let a\n", "theme/runtime/page/b.js": "let b"}]


def test_files_that_cannot_be_read_are_named(theme):
    theme("styles/a.css", "\ufeffa {}")
    theme("styles/b.css", "\na\x00")
    made = theme("runtime/main.js", "\x01")
    assert problems(made, lambda modules: []) == [
        Problem("theme/styles/a.css", 1, "begins with a byte-order mark; save it without"),
        Problem("theme/styles/b.css", 2, "holds the control character U+0000"),
        Problem("theme/runtime/main.js", 1, "holds the control character U+0001"),
    ]


def test_a_sound_theme_has_no_problems(theme):
    assert problems(theme("styles/a.css", "a {}"), lambda modules: []) == []


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
