"""A formula becomes one line as a person would type it."""

import pytest

from builder.outputs.html_to_markdown import FormulaReader


def read(linear, tag, *inside):
    linear.start(tag)
    for one in inside:
        if isinstance(one, str):
            linear.data(one)
        else:
            assert read(linear, *one) is None
    return linear.end()


def line(*inside):
    return read(FormulaReader(), "math", *inside)


def n(text):
    return ("mn", text)


def x(text):
    return ("mi", text)


def o(text):
    return ("mo", text)


@pytest.mark.parametrize("sign", "=+−-⋅·×≤≥≈<>∈→")
def test_a_sign_between_two_terms_stands_between_blanks(sign):
    assert line(x("a"), o(sign), x("b")) == f"a {sign} b"


@pytest.mark.parametrize("sign", "(),!∑")
def test_any_other_sign_stands_without_blanks(sign):
    assert line(x("a"), o(sign), x("b")) == f"a{sign}b"


def test_the_same_sign_in_words_stands_as_it_is():
    assert line(("mtext", "a=b")) == "a=b"


@pytest.mark.parametrize(
    ("above", "below", "said"),
    [
        (n("1"), n("2"), "1/2"),
        (n("4,096"), n("2.5"), "4,096/2.5"),
        (("mtext", "10 %"), ("mtext", "2.00 GB/s"), "10 %/2.00 GB/s"),
        (n("50%"), n("3×"), "50%/3×"),
        (x("x"), ("msub", x("N"), x("p")), "x/N_p"),
        (("msub", x("N"), ("mtext", "max")), x("y"), "N_max/y"),
        (x("xy"), x("z"), "(xy)/z"),
        (("mtext", "2 a b"), x("z"), "(2 a b)/z"),
        (("mrow", x("a"), o("+"), x("b")), ("mrow", x("c"), o("-"), n("1")), "(a + b)/(c - 1)"),
        (("mfrac", n("1"), n("2")), n("3"), "(1/2)/3"),
        (n("3"), ("mfrac", n("1"), n("2")), "3/(1/2)"),
    ],
)
def test_a_part_of_a_fraction_stands_in_parentheses_unless_it_is_one_thing(above, below, said):
    assert line(("mfrac", above, below)) == said


def test_what_follows_a_fraction_is_not_below_it():
    assert line(("mfrac", n("1"), n("2")), x("x")) == "1/2 x"
    assert line(("mfrac", n("1"), n("2")), o("="), x("x")) == "1/2 = x"
    assert line(o("("), ("mfrac", n("1"), n("2")), o(")"), x("x")) == "(1/2)x"


@pytest.mark.parametrize(
    ("tag", "sign"), [("msub", "_"), ("munder", "_"), ("msup", "^"), ("mover", "^")]
)
def test_a_mark_stands_behind_its_sign(tag, sign):
    assert line((tag, x("a"), x("b"))) == f"a{sign}b"


@pytest.mark.parametrize("tag", ["msubsup", "munderover"])
def test_of_two_marks_the_lower_comes_first(tag):
    assert line((tag, x("a"), x("b"), x("c"))) == "a_b^c"


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        (n("12"), "12"),
        (("mtext", "max"), "max"),
        (n("1.5"), "1.5"),
        (("mrow", x("i"), o("="), n("1")), "(i = 1)"),
        (("mfrac", n("1"), n("2")), "(1/2)"),
        (("mtext", " max "), "max"),
    ],
)
def test_a_mark_stands_in_parentheses_unless_it_is_a_word_or_a_number(mark, said):
    assert line(("msup", x("a"), mark)) == f"a^{said}"
    assert line(("msubsup", x("a"), mark, x("n"))) == f"a_{said}^n"
    assert line(("msubsup", x("a"), x("n"), mark)) == f"a_n^{said}"


@pytest.mark.parametrize("tag", ["mfrac", "msub", "munder", "msup", "mover"])
def test_of_what_has_two_parts_one_and_three_are_words(tag):
    assert line((tag, x("a"))) == "a"
    assert line((tag, x("a"), x("b"), x("c"))) == "abc"


@pytest.mark.parametrize("tag", ["msubsup", "munderover"])
def test_of_what_has_three_parts_two_and_four_are_words(tag):
    assert line((tag, x("a"), x("b"))) == "ab"
    assert line((tag, x("a"), x("b"), x("c"), x("d"))) == "abcd"


def test_a_root_stands_over_all_that_it_holds():
    assert line(("msqrt", x("a"), o("+"), x("b"))) == "√(a + b)"
    assert line(("msqrt", o("-"), x("b"))) == "√(- b)"


def test_rows_of_a_table_follow_each_other():
    rows = [("mtr", ("mtd", x("a"), o("="))), ("mtr", ("mtd", x("b")))]
    assert line(("mtable", *rows)) == "a =; b"


def test_blanks_between_elements_are_none_and_those_in_words_are_one():
    assert line(" ", x("a"), "\n", x("b")) == "ab"
    assert line(("mtext", "of \n a  GPU")) == "of a GPU"


def test_words_outside_of_all_elements_are_left_out():
    linear = FormulaReader()
    linear.data("a")
    assert read(linear, "math", "b") == "b"


def test_the_line_has_no_blank_at_its_ends_nor_two_in_a_row():
    assert line(o("="), o("+")) == "= +"
    assert line(o("("), x("a"), o("+"), o(")")) == "(a +)"


def test_the_sign_of_an_applied_function_is_left_out():
    assert line(x("f"), o("\u2061"), o("("), x("x"), o(")")) == "f(x)"
