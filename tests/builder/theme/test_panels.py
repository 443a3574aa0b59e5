"""Boxes over the page, with their own styles."""

import jinja2
import pytest

from builder.theme.templates import key_groups, panel_styles, render_panels, with_styles


def put(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


KEYS = '[[groups]]\ntitle = "Pages"\n[[groups.keys]]\npress = "n"\n[[groups]]\ntitle = "Lists"\n'


def test_every_template_of_the_folder_is_a_box_that_knows_the_keys(tmp_path):
    put(tmp_path, "keys.toml", KEYS)
    put(tmp_path, "templates/panels/search.html", "search")
    put(
        tmp_path,
        "templates/panels/keys.html",
        "{% for one in groups %}{{ one.title }};{% endfor %}",
    )
    put(tmp_path, "templates/panels/notes.txt", "no")
    put(tmp_path, "templates/page.html", "no")
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(tmp_path / "templates"))
    made = render_panels(tmp_path, templates)
    assert made == {"panels/keys.html": "Pages;Lists;", "panels/search.html": "search"}


def test_a_theme_without_boxes_has_none(tmp_path):
    assert render_panels(tmp_path, jinja2.Environment()) == {}


def test_keys_are_read_in_their_groups(tmp_path):
    put(tmp_path, "keys.toml", KEYS)
    assert key_groups(tmp_path) == [
        {"title": "Pages", "keys": [{"press": "n"}]},
        {"title": "Lists"},
    ]


@pytest.mark.parametrize("text", [None, "", 'title = "x"\n'])
def test_a_theme_without_keys_has_no_groups(tmp_path, text):
    if text is not None:
        put(tmp_path, "keys.toml", text)
    assert key_groups(tmp_path) == []


def test_the_first_style_of_a_box_has_a_name_of_its_own():
    boxes = {
        "panels/a.html": "<style>\na {}\n</style>x<style>b {}</style>",
        "panels/b.html": "<style></style>",
        "panels/c.html": "no style",
    }
    assert panel_styles(boxes) == {"panels/a.html.css": "\na {}\n", "panels/b.html.css": ""}


def test_a_box_gets_the_style_that_was_made_of_its_own():
    boxes = {
        "panels/a.html": "1<style>a {}</style>2<style>b {}</style>3",
        "panels/b.html": "<style>c {}</style>",
    }
    made = {"panels/a.html.css": "A", "main.css": "x", "panels/b.html.css": "B"}
    assert with_styles(boxes, made) == {
        "panels/a.html": "1<style>A</style>2<style>b {}</style>3",
        "panels/b.html": "<style>B</style>",
    }


def test_boxes_that_are_dressed_are_others_and_those_given_stay():
    boxes = {"panels/a.html": "<style>a {}</style>"}
    assert with_styles(boxes, {"panels/a.html.css": "A"}) != boxes
    assert boxes == {"panels/a.html": "<style>a {}</style>"}
    assert with_styles(boxes, {}) == boxes
