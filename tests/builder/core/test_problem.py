"""A problem names its file and its line; code and formulas are not prose."""

import tomllib

import pytest

from builder.core import problem
from builder.core.problem import Problem


def test_a_problem_is_said_as_editors_read_it():
    assert str(Problem("a.md", 3, "is wrong")) == "a.md:3: is wrong"


def test_problems_are_in_the_order_of_files_lines_and_words():
    given = [
        Problem("b.md", 1, "a"),
        Problem("a.md", 10, "a"),
        Problem("a.md", 9, "b"),
        Problem("a.md", 9, "a"),
    ]
    assert sorted(given) == given[::-1]


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = ?\n", 2), ("a = 1\n\n\nb = [\n", 5), ('a = "', 1)]
)
def test_the_line_of_a_wrong_toml_is_said_or_its_last(text, line):
    with pytest.raises(tomllib.TOMLDecodeError) as raised:
        tomllib.loads(text)
    assert problem.line_of_toml(raised.value, text) == line


def test_of_an_error_without_a_line_it_is_the_last():
    assert problem.line_of_toml(tomllib.TOMLDecodeError("at end of document"), "a\nb\nc") == 3


@pytest.mark.parametrize(
    ("text", "fences"),
    [
        ("", []),
        ("a\n```py\nb\n```\nc", ["", "```", "```", "", ""]),
        ("  ~~~~\n~~~\n  ~~~~~  \na", ["~~~~", "~~~~", "", ""]),
        ("```\n~~~\n```x\n```", ["```", "```", "```", ""]),
        ("``\na", ["", ""]),
        ("~~\na", ["", ""]),
        ("a ```\nb", ["", ""]),
    ],
)
def test_a_line_belongs_to_the_fence_that_is_open(text, fences):
    lines = text.splitlines()
    wanted = [(at + 1, lines[at], fence) for at, fence in enumerate(fences)]
    assert list(problem.lines_with_fences(text)) == wanted


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ()),
        ("a\n```\nb\n```\nc\n```\n```\n~~~\n~~~\n\nd", ((1, "a"), (5, "c"), (10, ""), (11, "d"))),
        ("a `b` c", ((1, "a     c"),)),
        ("``a`b`` `c", ((1, "        `c"),)),
        ("a\n```\nb", ((1, "a"),)),
    ],
)
def test_lines_of_prose_are_those_outside_of_code(text, lines):
    assert problem.prose_lines(text) == lines


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("", ""),
        ("a\n```\nb\n```\nc", "a\n\n\n\nc"),
        ("a $b$ `$` c\nd", "a         c\nd"),
        ("$a\n```\nb$\n```", "$a\n\n\n"),
    ],
)
def test_text_without_code_and_formulas_keeps_its_lines(text, only):
    assert problem.blank_code_and_math(text) == only


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("a $b$ c", "a     c"),
        ("$a\nb$ c", "  \n   c"),
        ("$a$ b $c$", "    b    "),
        (r"$a \$ b$ c", "         c"),
        ("  $$\na\n\nb\n$$ \nc", "    \n \n\n \n   \nc"),
        ("$$ a $$", "       "),
    ],
)
def test_a_formula_is_blanked(text, without):
    assert problem.blank_math(text) == without


@pytest.mark.parametrize(
    "text", [r"\$5 and 6$", "$ a$", "$a $", "$a\n\nb$", "$a\n  \nb$", "$a", "a $$\nb\n$$"]
)
def test_dollars_that_hold_no_formula_stay(text):
    assert problem.blank_math(text) == text


@pytest.mark.parametrize(
    ("needle", "lines"),
    [
        ("a", [1, 6]),
        (" b \nc", [2]),
        ("`", [1]),
        ("d", [1]),
        ("e", [1]),
        ("", [1]),
        (" \n ", [1]),
        ("\nb", [1]),
    ],
)
def test_a_text_is_looked_for_outside_of_code_and_found_on_line_one_if_nowhere(needle, lines):
    assert problem.lines_containing("a\nb\n```\nd\n```\na `e`", needle) == lines


def test_a_problem_is_said_on_every_line_that_it_is_about():
    assert problem.problems_where("x.md", "a\nb\na", "a", "is wrong") == [
        Problem("x.md", 1, "is wrong"),
        Problem("x.md", 3, "is wrong"),
    ]
