"""What a social card says: whose page it is, and which figure stands on it."""

import pytest

from builder.calculators import calculator_context
from builder.figures import social_cards
from tests.builder.content.test_navigation import article

DRAWN = (
    '<figure><svg viewBox="0 0 10 10"><g class="scene"><rect width="4" height="4"/></g></svg>'
    "</figure>"
)


@pytest.fixture
def sheets():
    def made(*pages):
        return social_cards.card_contents(
            "Clock", {one.source: (one, drawings) for one, *drawings in pages}, ""
        )

    return made


def test_a_page_that_others_embed_has_none(sheets):
    shown = article("one")
    hidden = article("two", "tool")
    object.__setattr__(hidden, "kind", calculator_context.EMBED_KIND)
    assert list(sheets((hidden, DRAWN), (shown,))) == [shown.source]


def test_a_card_asks_the_question_of_its_page_and_else_tells_its_summary(sheets):
    asking, telling = article("one", question="How long?"), article("two")
    found = sheets((asking,), (telling,))
    assert (found[asking.source].sentence, found[telling.source].sentence) == ("How long?", "x")
    assert {(one.site, one.figure) for one in found.values()} == {("Clock", "")}
    assert [one.title for one in found.values()] == ["One", "Two"]
