"""A page as other pages show it."""

from builder.content.article import Article
from builder.content.navigation import LearningPath, PageLink, PagePosition, page_link

RING = Article(
    source="content/guides/ring.md",
    slug="ring",
    url="guides/ring/",
    kind="guide",
    title="Ring",
    question="Why?",
    summary="A ring.",
    minutes=9,
    text="text",
    body="body",
)


def test_an_entry_says_what_others_show_of_an_article():
    assert page_link(RING) == PageLink(
        slug="ring",
        url="guides/ring/",
        kind="guide",
        title="Ring",
        question="Why?",
        summary="A ring.",
        minutes=9,
    )


def test_an_article_has_one_entry():
    assert page_link(RING) is page_link(RING)


def test_a_path_may_have_no_page_and_a_page_no_tabs_and_no_neighbors():
    assert LearningPath(letter="B", name="Moving bytes", guides=()).url == ""
    place = PagePosition(
        page=page_link(RING), path="", previous=None, following=None, requires=(), next=()
    )
    assert (place.tabs, place.near) == ((), ())
