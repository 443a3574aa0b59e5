"""The page of questions: every one is answered by a computed number and leads to its page."""

import re
from pathlib import Path

from builder.markdown.placements import PATTERN
from tests.each import each

SOURCE = "content/reference/questions.md"
TEXT = (Path(__file__).resolve().parents[2] / SOURCE).read_text("utf-8")
ASKED = {
    name: (title, answer)
    for title, name, answer in re.findall(
        r"^### (.+?) \{#([\w-]+)\}\n(.*?)(?=^##|\Z)", TEXT, re.DOTALL | re.MULTILINE
    )
}
BY_QUESTION = each("name", sorted(ASKED))
# What the field asks most: each has an answer of its own.
MUST = {"busbw", "vpp-or-dualpipe", "zero-3-memory", "tokens-per-gpu", "bucket-size", "gb-gib"}


def test_there_are_twenty_to_forty_questions_in_groups():
    assert 20 <= len(ASKED) == TEXT.count("\n### ") <= 40
    assert len(re.findall(r"^## ", TEXT, re.MULTILINE)) >= 4


def test_the_questions_of_the_field_are_among_them():
    assert MUST | {"tp-across-nodes"} <= set(ASKED)


@BY_QUESTION
def test_a_question_is_answered_by_a_number_and_a_link(name):
    title, answer = ASKED[name]
    assert title.endswith(("?", "?."))
    assert re.search(PATTERN, answer)
    assert re.search(r"\]\((\.\./(guides|tools)/)?[\w-]+\.md", answer)


@BY_QUESTION
def test_an_answer_is_short(name):
    answer = ASKED[name][1].partition("Asked in")[0]
    plain = re.sub(PATTERN, "n", re.sub(r"\]\([^)]*\)|\[@[^\]]*\]", "", answer))
    # The link to the page comes after one to four sentences.
    assert 1 <= len(re.findall(r"[.?](?=\s|$)", plain)) <= 5
