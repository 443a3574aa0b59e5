"""What would keep a build busy for minutes is refused, exactly from its limit on."""

import pytest

from builder.markdown import article_checks

NO_YAML = "an option of a block is 'name: value', with no other sign of YAML"


def found(body):
    return [str(one) for one in article_checks.limit_problems("a.md", body)]


def too_many(line, sign="["):
    return f"a.md:{line}: more than 50 '{sign}' are open at once"


@pytest.mark.parametrize("sign", ["[", "("])
def test_fifty_brackets_may_be_open_at_once(sign):
    assert found(sign * 50) == []
    assert found(sign * 51) == [too_many(1, sign)]


def test_square_brackets_are_named_before_round_ones():
    assert found("(" * 51 + "\n" + "[" * 51) == [too_many(2), too_many(1, "(")]


@pytest.mark.parametrize(
    "body",
    [
        "[" * 50 + "]" + "[",
        # Closing what is not open takes nothing away, and opens nothing.
        "]" + "[" * 50 + "]" * 50 + "[",
        "[" * 30 + "\n\n" + "[" * 30,
        "[" * 30 + "\n  \n" + "[" * 30,
        r"\[" * 51,
        "```\n" + "[" * 51 + "\n```",
    ],
)
def test_brackets_that_are_not_open_at_once(body):
    assert found(body) == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("]]]" + "[" * 51, [1]),
        (r"\\[" * 51, [1]),
        ("[" * 30 + "\n" + "[" * 21, [2]),
        ("[" * 50 + "\n[", [2]),
        ("[" * 51 + "][", [1]),
        ("[" * 51 + "\n[", [1]),
        ("[" * 51 + "\n]\n[", [1, 3]),
        ("[" * 51 + "\n\n" + "[" * 51, [1, 3]),
    ],
)
def test_brackets_are_named_once_on_the_line_that_is_one_too_many(body, lines):
    assert found(body) == [too_many(line) for line in lines]


def test_a_line_begins_after_a_hundred_columns_at_most():
    assert found("a\n" + " " * 100 + "b") == []
    assert found("a\n" + " " * 101 + "b") == ["a.md:2: begins after 101 columns; at most 100"]


def test_a_tab_reaches_to_the_next_column_of_four():
    assert found("\t" * 25 + "a") == []
    assert found("\t" * 25 + " \ta") == ["a.md:1: begins after 104 columns; at most 100"]


def test_only_the_first_of_the_wide_lines_is_named():
    wide = " " * 102 + "a\n"
    assert found("```\n" + wide + "```\n" + wide + wide) == [
        "a.md:4: begins after 102 columns; at most 100"
    ]


def test_a_line_of_blanks_begins_nowhere():
    assert found(" " * 200 + "\n" + " " * 101 + "a") == [
        "a.md:2: begins after 101 columns; at most 100"
    ]


@pytest.mark.parametrize(
    "value",
    [
        "&b",
        "*b",
        "[&b]",
        "[*b]",
        "{&b: c}",
        "a,*b",
        "a:&b",
        "&-b",
        "<<: b",
        "<<  : b",
        "!b",
        "a !b",
    ],
)
def test_an_option_of_a_block_is_no_yaml(value):
    assert found(f"/// note\n    type: a\n    name: {value}") == [f"a.md:3: {NO_YAML}"]


@pytest.mark.parametrize("value", ["a & b", "a* b", "a*b", "a&b", "a!b", "a ! b", "<< b", "* b"])
def test_the_same_signs_may_stand_in_a_value(value):
    assert found(f"/// note\n    name: {value}") == []


@pytest.mark.parametrize(
    "begin", ["/// note", "///note", "//// note", "  /// -note", "/// tab | A"]
)
def test_options_stand_below_the_begin_of_a_block(begin):
    body = f"{begin}\n    a: &b\n    c: *d"
    assert found(body) == [f"a.md:2: {NO_YAML}", f"a.md:3: {NO_YAML}"]


@pytest.mark.parametrize(
    "body",
    [
        "    a: &b",
        "text\n    a: &b",
        "///\n    a: &b",
        "// note\n    a: &b",
        "/// note\n\n    a: &b",
        "/// note\n   a: &b",
        "/// note\n    a: b\ntext\n    c: &d",
        "/// note\n/// tab | *b",
        "/// tab | *b",
        "/// note\n    a: `&b`",
        "/// note\n```\n    a: &b\n```",
    ],
)
def test_elsewhere_the_signs_of_yaml_are_text(body):
    assert found(body) == []


def test_brackets_come_before_indents_and_these_before_options():
    body = "/// note\n    a: *b\n" + " " * 101 + "c\n" + "(" * 51
    assert found(body) == [
        too_many(4, "("),
        "a.md:3: begins after 101 columns; at most 100",
        f"a.md:2: {NO_YAML}",
    ]
