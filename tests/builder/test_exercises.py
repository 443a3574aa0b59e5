"""Exercises of all guides have one form: number, title, question, and an answer that folds."""

import re
from pathlib import Path

from tests.each import each

GUIDES = {path.stem: path for path in Path(__file__).parents[2].glob("content/guides/*.md")}
SECTION = re.compile(r"^## Exercises\n(.*?)(?=^## |^/// warning|\Z)", re.MULTILINE | re.DOTALL)
ONE = re.compile(
    r"\*\*(\d)\. ([^*]+)[.?]\*\* ([^\n]+)\n\n/// details \| Answer\n(.+?)\n///\n", re.DOTALL
)


def exercises(slug: str) -> str:
    """Return the section of a guide that holds its exercises, "" where it has none."""
    found = SECTION.search(GUIDES[slug].read_text("utf-8"))
    return found[1] if found else ""


@each("slug", sorted(slug for slug in GUIDES if exercises(slug)))
def test_an_exercise_has_a_number_a_title_a_question_and_an_answer_that_folds(slug):
    section = exercises(slug).strip() + "\n"
    found = list(ONE.finditer(section))
    assert [int(one[1]) for one in found] == list(range(1, len(found) + 1))
    assert len(found) >= 2
    assert all("?" in one[3] for one in found)
    assert "".join(one[0] for one in found).split() == section.split()


def test_all_guides_have_exercises():
    assert [slug for slug in GUIDES if not exercises(slug)] == []
