"""A project gives the interface other words, and is told of those that stand nowhere."""

import shutil
from pathlib import Path

import jinja2
import pytest

from builder.cli import commands
from builder.core.folders import THEME
from builder.project import ui_strings
from builder.project.activate_project import activate_project
from builder.project.project_file import ProjectError

SECOND = Path(__file__).parents[2] / "second_site"
GERMAN = """
"Skip to the text" = "Zum Text"
"Next:" = "Weiter:"
"minutes" = "Minuten"
"Your guess:" = "Ihre Schätzung:"
"{count} found." = "{count} gefunden."
"open the search" = "die Suche öffnen"
"terminal command" = 'Befehl "im" Terminal'
"""


@pytest.fixture
def german(tmp_path):
    """The second site with a theme that speaks German."""
    project = tmp_path / "second"
    ignored = shutil.ignore_patterns("__pycache__", ".cache", "site")
    shutil.copytree(SECOND, project, ignore=ignored)
    site = project / "site.toml"
    site.write_text(site.read_text().replace('language = "en-GB"', 'language = "de"'))
    (project / "theme" / ui_strings.FILE).write_text(GERMAN, "utf-8")
    return project


def test_texts_are_found_where_people_read_them():
    template = """{# A comment "in words". #}<p class="Not here" title="On top">{{ name }}: of
 {{ "Many of" if more else "none" }} &amp; all</p>
 <b data-kind="small" data-said="{n} are left">·</b>
{% set text %}<style>p { color: red; }</style>Last{% endset %}"""
    assert ui_strings.texts_of_file("templates/x.html", template) == [
        "On top",
        ": of",
        "Many of",
        "& all",
        "{n} are left",
        "Last",
    ]


def test_every_text_of_the_theme_can_be_given_other_words():
    every = ui_strings.texts_of_theme(THEME)
    assert {"Close", "Next:", "Your guess:", "{count} found.", "open the search"} <= set(every)
    told = {text: f"⟪{number}⟫" for number, text in enumerate(every)}
    left = set()
    for path in (THEME / "templates").rglob("*.html"):
        text, _ = ui_strings.translate_file("templates/x.html", path.read_text("utf-8"), told)
        jinja2.Environment().parse(text)  # and it is still a template
        left |= set(ui_strings.texts_of_file("templates/x.html", text))
    assert {text for text in left if text in told} == set()


def test_a_site_speaks_its_own_words(german):
    places = activate_project(german)
    page = (places.theme / "templates" / "guide.html").read_text("utf-8")
    assert "Weiter: {{ place.following.title|whole }}" in page
    assert "{{ article.minutes }} Minuten{% endif %}" in page
    live = (places.theme / "templates" / "panels" / "live.html").read_text("utf-8")
    assert r'("terminal", "Befehl \"im\" Terminal")' in live
    assert '"die Suche öffnen"' in (places.theme / "keys.toml").read_text("utf-8")
    assert "Zum Text</a>" in (places.theme / "templates" / "given" / "base.html").read_text("utf-8")


def test_words_that_are_taken_back_are_gone(german):
    activate_project(german)
    (german / "theme" / ui_strings.FILE).unlink()
    places = activate_project(german)
    laid = (places.theme / "templates" / "guide.html").read_bytes()
    assert laid == (THEME / "templates" / "guide.html").read_bytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"Nowhere" = "x"', "theme/words.toml:9: 'Nowhere' is no text of the interface"),
        ('"Close" = 3', "theme/words.toml:9: 'Close' is 3; it has to be a text"),
        ('"Close" = "{{ x }}"', "theme/words.toml:9: 'Close' is '{{ x }}'; it has to be a text"),
        ('"Close" = ', "theme/words.toml:9: Invalid value"),
    ],
)
def test_words_that_cannot_be_used_are_said_with_their_line(german, line, message):
    file = german / "theme" / ui_strings.FILE
    file.write_text(f"{GERMAN}{line}\n", "utf-8")
    with pytest.raises(ProjectError) as error:
        activate_project(german)
    assert str(error.value.problems[0]).startswith(message)


def test_a_file_with_all_texts_is_made_for_whoever_writes_them(german, capsys):
    (german / "theme" / ui_strings.FILE).unlink()
    assert commands.main(["--project", str(german), "new", "words", "fr"]) == 2
    assert "'fr' is not the language of site.toml, which says 'de'" in capsys.readouterr().out
    assert commands.main(["--project", str(german), "new", "words", "de"]) == 0
    assert capsys.readouterr().out == "made theme/words.toml\n"
    said, wrong = ui_strings.read_translations(german / "theme", "theme/words.toml")
    assert (list(said), wrong) == (ui_strings.texts_of_theme(THEME), [])
    activate_project(german)
