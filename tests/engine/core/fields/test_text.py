"""Texts of several lines: samples, line ends, what is refused, what a link holds."""

import pytest

from engine.core.inputs import InputError, Sample, Text


def message(field, text, *, typed=True):
    with pytest.raises(InputError) as caught:
        field.read(text, typed=typed)
    return str(caught.value)


def lines_of_numbers(text):
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip().isdigit():
            raise InputError(f"line {number}, column 1: '{line}' is no number")


LOG = Text(
    label="Log",
    longest=20,
    samples={"two": Sample(title="Two steps", text="1\n2\n")},
    check=lines_of_numbers,
)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_the_lines_of_a_text_end_in_one_way(end):
    assert LOG.read(f"1{end}2", typed=True) == "1\n2"


def test_the_mark_before_a_text_is_no_part_of_it():
    assert LOG.read("\ufeff1", typed=True) == "1"


@pytest.mark.parametrize("typed", [True, False])
def test_a_sample_is_named_in_place_of_its_text(typed):
    assert LOG.read("sample:two", typed=typed) == "1\n2\n"


def test_a_sample_that_does_not_exist_is_refused_with_those_there_are():
    assert message(LOG, "sample:three") == "'three' is not among two"


def test_an_empty_text_says_what_to_do():
    assert message(LOG, " \n").startswith("Nothing is here yet; paste a text")


def test_an_empty_text_may_be_allowed():
    assert Text(label="Log", empty="").read("", typed=True) == ""


def test_a_text_that_is_too_long_is_refused_with_its_length():
    assert message(LOG, "1" * 21) == "21 characters; at most 20 are read"


def test_a_file_that_is_no_text_is_refused_with_line_and_column():
    assert message(LOG, "1\n23\0") == "line 2, column 3: a zero byte; this is no text file"


def test_a_text_that_cannot_be_read_is_refused_with_its_reason():
    assert message(LOG, "1\nx") == "line 2, column 1: 'x' is no number"


def test_a_long_text_keeps_what_is_around_it():
    text = "\n" + "word " * 60 + "\n"
    assert Text(label="Log").read(text, typed=True) == text


def test_half_a_pair_of_characters_leaves_a_text_that_can_be_written():
    text = Text(label="Log").read("a\ud83db", typed=True)
    assert str(text).encode() == b"a?b"


def test_a_link_names_a_sample_and_no_other_text():
    assert [LOG.linked("1\n2\n"), LOG.linked("1\n3\n")] == ["sample:two", ""]


def test_a_text_is_told_in_brief():
    assert LOG.brief("1\n2\n") == "sample:two, 2 lines, 4 characters"
    assert LOG.brief("7") == "1 line, 1 characters"
