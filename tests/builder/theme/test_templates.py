"""Templates that say the same are compiled once, and fail where they lie."""

import traceback
from pathlib import Path
from types import SimpleNamespace

import pytest

from builder.theme.templates import load_templates
from engine.answer import reply
from tests.each import each

ROOT = Path(__file__).resolve().parents[3]

TEXT = "one\n{{ 1 / nothing }}\n"


@pytest.fixture
def folders(tmp_path):
    found = [tmp_path / name for name in ("a", "b")]
    for folder in found:
        folder.mkdir()
        (folder / "x.html").write_text(TEXT)
    return found


def test_what_says_the_same_is_compiled_once(folders, tmp_path, monkeypatch):
    assert load_templates(folders[0], tmp_path).get_template("x.html").render(nothing=1)
    other = load_templates(folders[1], tmp_path)
    monkeypatch.setattr(other, "compile", lambda *given: pytest.fail("was compiled again"))
    assert other.get_template("x.html").render(nothing=2) == "one\n0.5"


def test_an_error_names_the_file_of_its_own_theme(folders, tmp_path):
    for folder in folders:
        template = load_templates(folder, tmp_path).get_template("x.html")
        with pytest.raises(ZeroDivisionError) as caught:
            template.render(nothing=0)
        place = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (place.filename, place.lineno) == (str(folder / "x.html"), 2)


def test_a_changed_template_is_read_again(folders, tmp_path):
    templates = load_templates(folders[0], tmp_path)
    assert templates.get_template("x.html").render(nothing=1)
    (folders[0] / "x.html").write_text("two")
    assert templates.get_template("x.html").render() == "two"


def test_a_damaged_compiled_template_is_made_again(folders, tmp_path):
    assert load_templates(folders[0], tmp_path).get_template("x.html").render(nothing=1)
    (kept,) = (tmp_path / "templates").iterdir()
    kept.write_bytes(kept.read_bytes()[:40])
    made = load_templates(folders[1], tmp_path).get_template("x.html").render(nothing=1)
    assert made == "one\n1.0"


@each(
    ("calculator", "drawing", "words"),
    [("stage_lab", "strip", 1), ("bit_fields", "bits", 0), ("collective_steps", "scene", 0)],
)
def test_arrow_keys_are_named_where_something_is_dragged_and_not_for_fingers(
    calculator, drawing, words, tmp_path
):
    view = reply({"calculator": calculator})["outputs"][drawing]
    macros = load_templates(ROOT / "theme/templates", tmp_path).get_template("calculator.html")
    html = str(macros.module.scene(SimpleNamespace(name=calculator), drawing, view))
    assert html.count("arrow keys") == words
    assert html.count('<span class="by-mouse"> What is dragged also moves with') == words
