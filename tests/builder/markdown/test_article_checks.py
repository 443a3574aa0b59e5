"""What is wrong with a rendered article is named on the lines of its source."""

import pytest

from builder.content.article import Article
from builder.core import html_tree
from builder.markdown import article_checks
from builder.markdown.render_state import RenderState

GIVEN_AWAY = "the answer '42' stands before the question that asks for it"
UNREAD = "this block is unknown or its options are wrong"
TITLE = "the title is in the front matter; headings begin with ##"


def found(body, html="", blocks=("note", "predict"), words=("T", "Q", "S"), **findings):
    title, question, summary = words
    article = Article(
        **{"source": "a.md", "slug": "a", "url": "a/", "kind": "guide"},
        title=title,
        question=question,
        summary=summary,
        text="",
        body=body,
    )
    wrong = article_checks.problems(article, html_tree.parse(html), RenderState(**findings), blocks)
    return [str(one).removeprefix("a.md:") for one in wrong]


def test_nothing_is_wrong_with_plain_prose():
    assert found("a\n\n## B\n\nc", "<p>a</p>") == []


def test_a_finding_is_named_on_all_of_its_lines_once():
    problems = [("ring", "is old"), ("zero", "is new"), ("ring", "is old"), ("none", "is odd")]
    assert found("zero\nring\nring", problems=problems) == [
        "2: is old",
        "3: is old",
        "1: is new",
        "1: is odd",
    ]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("[[a.b]]\n\nsee [[a.b]]\n\n[[a.b]] there", [3, 5]),
        ("x\n\n  [[a.b]] \n\n[[a.b]]", [3, 5]),
        ("x\n[[a.b]]", [2]),
        ("x", [1]),
    ],
)
def test_a_placement_is_named_where_it_stands_in_a_sentence_or_wherever_it_stands(body, lines):
    said = [f"{line}: is a chart" for line in lines]
    assert found(body, in_sentences=[("[[a.b]]", "is a chart")]) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a\n# B", [f"2: {TITLE}"]),
        ("### A", ["1: heading of level 3 after one of level 1; skip none"]),
        ("## A\n\n#### B\n##### C", ["3: heading of level 4 after one of level 2; skip none"]),
        ("## A\n####### B\n###### C", ["3: heading of level 6 after one of level 2; skip none"]),
        (
            "## A\n# B\n### C",
            [f"2: {TITLE}", "3: heading of level 3 after one of level 1; skip none"],
        ),
        ("## A\n### B\n## C\n#### D", ["4: heading of level 4 after one of level 2; skip none"]),
    ],
)
def test_headings_begin_below_the_title_and_skip_no_level(body, said):
    assert found(body) == said


@pytest.mark.parametrize(
    "body",
    [
        "## A\n### B\n#### C\n## D",
        "#A\n###B",
        "# \n### ",
        " # A",
        "a ### B",
        "```\n# A\n### B\n```",
    ],
)
def test_headings_in_order_and_other_signs_are_sound(body):
    assert found(body) == []


PREDICT = "x\n\n/// predict\n///"


@pytest.mark.parametrize(
    "words",
    [
        ("42 things", "Q", "S"),
        ("T", "Is it 42?", "S"),
        ("T", "Q", "It is 42."),
        ("T", "Q", "(42, at most)"),
    ],
)
def test_an_answer_in_the_head_of_an_article_is_given_away(words):
    answers = [("i", "42")]
    assert found(PREDICT, "<p>x</p><i data-predict=i>", words=words, answers=answers) == [
        f"3: {GIVEN_AWAY}"
    ]


@pytest.mark.parametrize("before", ["x 42", "42 x", "x <b>42</b>.", "x <b>4</b>2,", "a42b"])
def test_an_answer_in_the_text_before_its_question_is_given_away(before):
    html = f"<p>{before}</p><i data-predict=i>"
    assert found(PREDICT, html, answers=[("i", "42")]) == [f"3: {GIVEN_AWAY}"]


@pytest.mark.parametrize(
    "before", ["142", "421", "4.42", "4,42", ".42", "42.5", "42,000", "4 2", "", '<a id="42">x</a>']
)
def test_a_part_of_a_longer_number_gives_no_answer_away(before):
    html = f"<p>x {before}</p><i data-predict=i>42"
    assert found(PREDICT, html, answers=[("i", "42")]) == []


def test_an_answer_is_no_pattern():
    assert found(PREDICT, "<p>1x5</p><i data-predict=i>", answers=[("i", "1.5")]) == []


def test_every_answer_is_looked_for_before_its_own_question():
    html = "<p>x 42</p><i data-predict=i>\n<p>7</p>\n<u data-predict=u><p>8</p>"
    answers = [("i", "7"), ("u", "42"), ("u", "8"), ("u", "7")]
    assert found(PREDICT + "\n\n/// predict\n///", html, answers=answers) == [
        f"3: {GIVEN_AWAY}",
        f"6: {GIVEN_AWAY}",
        "3: the answer '7' stands before the question that asks for it",
        "6: the answer '7' stands before the question that asks for it",
    ]


@pytest.mark.parametrize("html", ["<p>/// note</p>", "a\n///  note", "<p>//// note | A"])
def test_a_block_that_is_left_in_the_page_was_not_read(html):
    assert found("a\n\n/// note\n///", html) == [f"3: {UNREAD}"]


def test_a_block_that_is_not_known_is_named_with_those_that_are_on_all_its_lines():
    body = "/// not-a\n///\n\n//// not-a\n////"
    said = "there is no block 'not-a'; there are note, predict"
    assert found(body, "<p>/// not-a</p>\n//// not-a") == [f"1: {said}", f"4: {said}"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>a /// note</p>",
        "<p>// note</p>",
        "<p>/// | note</p>",
        "<pre>\n/// note\n</pre>",
        '<pre class="a">\n/// note</pre>',
    ],
)
def test_slashes_in_a_sentence_or_a_listing_are_no_block(html):
    assert found("/// note\n///", html) == []


def test_a_block_between_two_listings_is_seen():
    html = "<pre>a</pre>\n/// note\n<pre>b</pre>"
    assert found("/// note\n///", html) == [f"1: {UNREAD}"]


def test_what_only_markdown_took_for_html_is_named_where_no_other_is():
    raw = [("b", "the tag <b> is odd")]
    tag = "the tag <video> is not allowed in an article; a bare < is written &lt;"
    assert found("a\nb", raw=raw) == ["2: the tag <b> is odd"]
    assert found("a\nb\n<video>", raw=raw) == [f"3: {tag}"]


def test_findings_come_first_and_what_is_never_closed_last():
    body = "/// predict\nring [[a.b]] there\n# A\n\n<video>"
    wrong = found(
        body,
        "42<i>\n/// note",
        problems=[("ring", "is old")],
        in_sentences=[("[[a.b]]", "is a chart")],
        answers=[("i", "42")],
    )
    assert wrong == [
        "2: is old",
        "2: is a chart",
        f"3: {TITLE}",
        f"1: {GIVEN_AWAY}",
        f"1: {UNREAD}",
        "5: the tag <video> is not allowed in an article; a bare < is written &lt;",
        "1: the block '/// predict' is never closed by '///'",
    ]


@pytest.mark.parametrize(
    ("html", "words"),
    [("", ""), (" a\n  b ", "a b"), ("<p>a &amp; <b\nid=c>b</b>c</p>", "a & bc"), ("a<b", "a<b")],
)
def test_the_words_of_html_are_without_tags(html, words):
    assert article_checks.html_text(html) == words


def test_an_answer_at_the_seam_of_summary_and_text_is_found():
    words = ("T", "Q", "It is 42.")
    assert found(PREDICT, "3 x<i>", words=words, answers=[("i", "42")]) == [f"3: {GIVEN_AWAY}"]


NO_YAML = "an option of a block is 'name: value', with no other sign of YAML"


def nesting_problems(body):
    return [str(one) for one in article_checks.limit_problems("a.md", body)]


def too_many(line, sign="["):
    return f"a.md:{line}: more than 50 '{sign}' are open at once"


@pytest.mark.parametrize("sign", ["[", "("])
def test_fifty_brackets_may_be_open_at_once(sign):
    assert nesting_problems(sign * 50) == []
    assert nesting_problems(sign * 51) == [too_many(1, sign)]


def test_square_brackets_are_named_before_round_ones():
    assert nesting_problems("(" * 51 + "\n" + "[" * 51) == [too_many(2), too_many(1, "(")]


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
    assert nesting_problems(body) == []


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
    assert nesting_problems(body) == [too_many(line) for line in lines]


def test_a_line_begins_after_a_hundred_columns_at_most():
    assert nesting_problems("a\n" + " " * 100 + "b") == []
    assert nesting_problems("a\n" + " " * 101 + "b") == [
        "a.md:2: begins after 101 columns; at most 100"
    ]


def test_a_tab_reaches_to_the_next_column_of_four():
    assert nesting_problems("\t" * 25 + "a") == []
    assert nesting_problems("\t" * 25 + " \ta") == ["a.md:1: begins after 104 columns; at most 100"]


def test_only_the_first_of_the_wide_lines_is_named():
    wide = " " * 102 + "a\n"
    assert nesting_problems("```\n" + wide + "```\n" + wide + wide) == [
        "a.md:4: begins after 102 columns; at most 100"
    ]


def test_a_line_of_blanks_begins_nowhere():
    assert nesting_problems(" " * 200 + "\n" + " " * 101 + "a") == [
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
    assert nesting_problems(f"/// note\n    type: a\n    name: {value}") == [f"a.md:3: {NO_YAML}"]


@pytest.mark.parametrize("value", ["a & b", "a* b", "a*b", "a&b", "a!b", "a ! b", "<< b", "* b"])
def test_the_same_signs_may_stand_in_a_value(value):
    assert nesting_problems(f"/// note\n    name: {value}") == []


@pytest.mark.parametrize(
    "begin", ["/// note", "///note", "//// note", "  /// -note", "/// tab | A"]
)
def test_options_stand_below_the_begin_of_a_block(begin):
    body = f"{begin}\n    a: &b\n    c: *d"
    assert nesting_problems(body) == [f"a.md:2: {NO_YAML}", f"a.md:3: {NO_YAML}"]


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
    assert nesting_problems(body) == []


def test_brackets_come_before_indents_and_these_before_options():
    body = "/// note\n    a: *b\n" + " " * 101 + "c\n" + "(" * 51
    assert nesting_problems(body) == [
        too_many(4, "("),
        "a.md:3: begins after 101 columns; at most 100",
        f"a.md:2: {NO_YAML}",
    ]


FENCE = "this fence of code is never closed"
DOLLAR = "a formula is opened by $ and never closed; a dollar is written \\$"


def unclosed_problems(body):
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
    assert unclosed_problems(body) == [f"a.md:{line}: {FENCE}"]


@pytest.mark.parametrize("body", ["", "a", "```\na\n```", "```\n```\n\n~~~\n~~~", "```\n````"])
def test_a_closed_fence_is_no_problem(body):
    assert unclosed_problems(body) == []


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
    assert unclosed_problems(body) == []


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
    assert unclosed_problems(body) == [f"a.md:{one}" for one in said]


@pytest.mark.parametrize("body", ["$x$", r"costs \$5", "`$5`", "```\n$5\n```", "$$\nx\n$$"])
def test_a_closed_formula_is_no_problem(body):
    assert unclosed_problems(body) == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [("costs $5", [1]), ("a\n\n$5\nb\n\n6$", [3, 6]), (r"\$5, $6", [1]), ("$x$ $", [1])],
)
def test_a_dollar_opens_a_formula(body, lines):
    assert unclosed_problems(body) == [f"a.md:{line}: {DOLLAR}" for line in lines]


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
    assert unclosed_problems(body) == [f"a.md:{said}"]


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
    assert unclosed_problems(body) == []


def test_fences_come_first_then_blocks_dollars_and_brackets():
    assert unclosed_problems("[@]\n[a.b]]\n[[a.b]\n\n$\n\n///\n\n```") == [
        f"a.md:9: {FENCE}",
        "a.md:7: '///' closes no block",
        f"a.md:5: {DOLLAR}",
        "a.md:3: '[[a.b]' lacks a ']' at its end",
        "a.md:2: '[a.b]]' lacks a '[' before it",
        "a.md:1: '[@]' is no citation; write [@key] or [@key; @other]",
    ]
