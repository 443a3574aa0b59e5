"""Slimming takes comments and margins, never code."""

from pathlib import Path

from builder import slim
from tests.each import each

RUNTIME = sorted(Path("theme/runtime").rglob("*.js"))


def test_a_comment_on_its_own_lines_goes():
    text = "/** Adds.\n * @param {number} a */\nf(a);\n  // why\n  g();\n"
    assert slim.script(text) == "f(a);\ng();\n"


def test_a_comment_behind_code_stays():
    assert slim.script('open("https://x"); // why\n') == 'open("https://x"); // why\n'


def test_a_type_within_a_line_goes():
    text = "const a = /** @type {any} */ (b).c; /* kept */\n"
    assert slim.script(text) == "const a = (b).c; /* kept */\n"


def test_a_style_loses_comments_and_margins():
    assert slim.style("/* a */\np {\n  color: red; /* b */\n}\n") == "p{color: red;}\n"


@each("path", RUNTIME, ids=lambda path: path.name)
def test_no_template_of_a_module_spans_lines_that_would_go(path):
    inside = path.read_text().split("`")[1::2]
    assert not [text for text in inside if "\n" in text]
