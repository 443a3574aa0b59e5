"""Sentences: numbers in the reader's units, the singular, what others printed."""

from engine.core.numbers import Display
from engine.core.text import render_text, say, with_published_digits
from engine.core.units import BYTES, COUNT, SECONDS
from tests.each import each

BINARY = Display(binary=True)


def test_a_sentence_writes_its_numbers_in_the_readers_units():
    assert render_text(say("moves {s}", s=(14e9, BYTES)), BINARY) == "moves 13.0 GiB"


def test_a_plain_text_is_its_own_sentence():
    assert render_text("as {it} is") == "as {it} is"


@each(
    ("template", "one", "many"),
    [
        ("{n} GPUs", "1 GPU", "2 GPUs"),
        ("only {n} micro-batches.", "only 1 micro-batch.", "only 2 micro-batches."),
        ("of {n} latencies", "of 1 latency", "of 2 latencies"),
        ("each of {n} leaves", "each of 1 leaf", "each of 2 leaves"),
        ("on {n} data-parallel ranks", "on 1 data-parallel rank", "on 2 data-parallel ranks"),
    ],
)
def test_one_of_a_kind_is_spoken_of_in_the_singular(template, one, many):
    assert [render_text(say(template, n=(n, COUNT))) for n in (1, 2)] == [one, many]


@each("number", [11, 1001, 0.1, -1])
def test_a_number_that_only_ends_in_one_keeps_the_plural(number):
    assert render_text(say("{n} GPUs", n=(number, COUNT))).endswith(" GPUs")


def test_what_others_printed_keeps_their_digits():
    assert render_text(with_published_digits(say("{t}", t=(0.45629, SECONDS)))) == "456.3 ms"
    assert with_published_digits("plain") == "plain"
