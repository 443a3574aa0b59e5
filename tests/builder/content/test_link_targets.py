import pytest

from builder.content import link_targets
from builder.content.link_targets import LinkTarget
from builder.core.problem import ContentError
from tests.each import each

HERE = "content/guides/here.md"
OWN = LinkTarget(url="guides/here/", title="Here", anchors={"own": "Own section"})
RING = LinkTarget(url="guides/ring/", title="Ring", anchors={"one": "First", "two": "Second"})
TOOL = LinkTarget(url="tools/lab/", title="Lab", anchors={})
UNREAD = LinkTarget(url="guides/bad/", title="Bad", anchors=None)
INDEX = {
    HERE: OWN,
    "content/guides/ring.md": RING,
    "content/tools/lab.md": TOOL,
    "content/guides/bad.md": UNREAD,
}


@each(
    ("link", "target", "anchor"),
    [
        ("ring.md", RING, ""),
        ("ring.md#two", RING, "two"),
        ("ring.md#a#b", RING, "a#b"),
        ("./ring.md", RING, ""),
        ("../tools/lab.md#x", TOOL, "x"),
        ("#own", OWN, "own"),
        ("#", OWN, ""),
        ("here.md", OWN, ""),
    ],
)
def test_a_link_leads_from_the_folder_of_its_article(link, target, anchor):
    assert link_targets.resolve_link(link, HERE, INDEX) == (target, anchor)


@each(
    ("link", "message"),
    [
        ("ring", "link to 'ring': name the article's file, such as other-guide.md"),
        ("ring.md.txt", "link to 'ring.md.txt': name the article's file, such as other-guide.md"),
        ("none.md#x", "link to 'none.md#x': there is no article content/guides/none.md"),
        ("../lab.md", "link to '../lab.md': there is no article content/lab.md"),
    ],
)
def test_a_link_to_nothing_says_what_is_missing(link, message):
    with pytest.raises(ContentError) as raised:
        link_targets.resolve_link(link, HERE, INDEX)
    assert str(raised.value) == message


@each(
    ("link", "title"),
    [
        ("ring.md", "Ring"),
        ("ring.md#one", "First"),
        ("ring.md#two", "Second"),
        ("#own", "Own section"),
        ("bad.md", "Bad"),
        ("bad.md#one", "Bad"),  # its anchors are not known
        ("../tools/lab.md", "Lab"),
    ],
)
def test_a_link_without_a_text_takes_the_title_of_what_it_leads_to(link, title):
    assert link_targets.link_title(link, HERE, INDEX) == title


@each(
    ("link", "message"),
    [
        ("ring.md#x", "link to 'ring.md#x': no title is at 'x'; there are one, two"),
        ("../tools/lab.md#x", "link to '../tools/lab.md#x': no title is at 'x'; there are none"),
    ],
)
def test_an_anchor_without_a_title_says_which_there_are(link, message):
    with pytest.raises(ContentError) as raised:
        link_targets.link_title(link, HERE, INDEX)
    assert str(raised.value) == message
