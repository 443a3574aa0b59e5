"""What an article opens and never closes is named on the line that opens it."""

import pytest

from builder.markdown import article_checks

FENCE = "this fence of code is never closed"
DOLLAR = "a formula is opened by $ and never closed; a dollar is written \\$"


def found(body):
    return [str(one) for one in article_checks.unclosed_problems("a.md", body)]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("```\ncode", 1),
        ("a\n\n~~~\nb\nc\n", 3),
        ("```\n```\n\n```", 4),
        ("```\na\n~~~", 1),
        ("````\na\n```", 1),
    ],
)
def test_a_fence_is_closed_by_its_own_marks(body, line):
    assert found(body) == [f"a.md:{line}: {FENCE}"]


@pytest.mark.parametrize("body", ["", "a", "```\na\n```", "```\n```\n\n~~~\n~~~", "```\n````"])
def test_a_closed_fence_is_no_problem(body):
    assert found(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "/// note\n///",
        "//// a\n/// b\n///\n////",
        "/// a\n//// b\n////\n///",
        "  /// note | A title\n\n  ///",
        "```\n/// note\n```",
        "/// .note",
        "// note",
        "a /// note",
    ],
)
def test_a_closed_block_is_no_problem(body):
    assert found(body) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("///", ["1: '///' closes no block"]),
        ("/// a\n///\n\n////", ["4: '////' closes no block"]),
        ("a\n/// note | A", ["2: the block '/// note | A' is never closed by '///'"]),
        ("////-b", ["1: the block '//// -b' is never closed by '////'"]),
        (
            "/// a\n//// b",
            [
                "1: the block '/// a' is never closed by '///'",
                "2: the block '//// b' is never closed by '////'",
            ],
        ),
        (
            "/// a\n/// b\n////\n///",
            [
                "3: '////' does not close the block of line 2",
                "1: the block '/// a' is never closed by '///'",
            ],
        ),
        ("//// a\n/// b\n///", ["1: the block '//// a' is never closed by '////'"]),
    ],
)
def test_a_block_is_closed_by_as_many_slashes(body, said):
    assert found(body) == [f"a.md:{one}" for one in said]


@pytest.mark.parametrize("body", ["$x$", r"costs \$5", "`$5`", "```\n$5\n```", "$$\nx\n$$"])
def test_a_closed_formula_is_no_problem(body):
    assert found(body) == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [("costs $5", [1]), ("a\n\n$5\nb\n\n6$", [3, 6]), (r"\$5, $6", [1]), ("$x$ $", [1])],
)
def test_a_dollar_opens_a_formula(body, lines):
    assert found(body) == [f"a.md:{line}: {DOLLAR}" for line in lines]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a\n[[zero.b] c", "2: '[[zero.b]' lacks a ']' at its end"),
        ("[[zero.b  \nc", "1: '[[zero.b' lacks a ']' at its end"),
        ("[[_b].", "1: '[[_b]' lacks a ']' at its end"),
        ("a\n\nb [zero.c]] d", "3: '[zero.c]]' lacks a '[' before it"),
        ("[a.b, c=1]]", "1: '[a.b, c=1]]' lacks a '[' before it"),
        ("a\n[@]", "2: '[@]' is no citation; write [@key] or [@key; @other]"),
        ("[@a, @b]", "1: '[@a, @b]' is no citation; write [@key] or [@key; @other]"),
    ],
)
def test_a_placement_and_a_citation_have_all_their_brackets(body, said):
    assert found(body) == [f"a.md:{said}"]


@pytest.mark.parametrize(
    "body",
    [
        "[[zero.b]]",
        "[[zero.b]] and [[zero.c]]",
        "[[a](b)",
        "[[a][b]",
        "[[a] b](c)",
        "[[a] b][c]",
        "[[1]",
        "[b]]",
        "[a.b]](c)",
        "[a.b]][c]",
        "[@key]",
        "[@key; @other]",
        "[@](a)",
        "[@][a]",
        "`[[a`",
        "`[@]`",
    ],
)
def test_other_brackets_are_text(body):
    assert found(body) == []


def test_fences_come_first_then_blocks_dollars_and_brackets():
    assert found("[@]\n[a.b]]\n[[a.b]\n\n$\n\n///\n\n```") == [
        f"a.md:9: {FENCE}",
        "a.md:7: '///' closes no block",
        f"a.md:5: {DOLLAR}",
        "a.md:3: '[[a.b]' lacks a ']' at its end",
        "a.md:2: '[a.b]]' lacks a '[' before it",
        "a.md:1: '[@]' is no citation; write [@key] or [@key; @other]",
    ]
