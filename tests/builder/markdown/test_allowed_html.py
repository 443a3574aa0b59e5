"""An article's own HTML is a few tags of text; all else is refused on its line."""

import pytest

from builder.markdown import allowed_html

VOID = ("br", "hr", "img", "wbr")


def found(body):
    return [str(one).removeprefix("a.md:") for one in allowed_html.problems("a.md", body)]


def no_tag(tag):
    return f"the tag <{tag}> is not allowed in an article; a bare < is written &lt;"


@pytest.mark.parametrize("tag", sorted(allowed_html.TAGS.difference(VOID)))
def test_a_tag_of_text_is_allowed_and_has_to_be_closed(tag):
    assert found(f"<{tag}>a</{tag}>") == []
    assert found(f"a\n<{tag}>a") == [f"2: <{tag}> is never closed"]


@pytest.mark.parametrize("tag", VOID)
def test_a_tag_that_holds_nothing_is_not_closed(tag):
    assert found(f"<{tag}> <{tag}/> </{tag}>") == []


@pytest.mark.parametrize("tag", ["video", "h1", "h5", "form", "iframe", "x-a", "http:"])
def test_other_tags_are_refused(tag):
    assert found(f"a\n\nb <{tag}>c</{tag}> </{tag}>") == [f"3: {no_tag(tag)}"]


def test_of_a_tag_that_is_refused_nothing_more_is_said():
    assert found('<video onclick="a" src="https://b">') == [f"1: {no_tag('video')}"]


@pytest.mark.parametrize("link", ["https://a.org/b", "mailto:a@b.org", "a.b+c-d@e.org", "a_b@c"])
def test_a_link_between_pointed_brackets_is_no_tag(link):
    assert found(f"<{link}>") == []


HARMLESS = "alt class colspan dir headers height id lang open role rowspan scope start title width"


@pytest.mark.parametrize("attribute", HARMLESS.split())
def test_a_harmless_attribute_is_allowed(attribute):
    assert found(f'<b {attribute}="a">c</b>') == []


def test_every_other_attribute_is_refused():
    assert found('<b title="a"\n onclick="b" class="c" STYLE="d">e</b>') == [
        "1: the attribute 'onclick' of <b> is not allowed in an article",
        "1: the attribute 'style' of <b> is not allowed in an article",
    ]


@pytest.mark.parametrize(
    "link",
    ["https://a.org", "mailto:a@b.org", "ring", "ring#a:b", "#a", "/a", ""],
)
def test_a_link_leads_to_an_article_or_by_https(link):
    assert found(f'<a href="{link}">b</a>') == []
    assert found("<a href>b</a>") == []


@pytest.mark.parametrize("link", ["http://a.org", "//a.org", "javascript:a", "HTTPS://a.org"])
def test_any_other_link_is_refused(link):
    said = f"1: external link '{link}' has to begin with https://"
    assert found(f'<a id="b" href="{link}">b</a>') == [said]


def test_an_image_is_a_file_of_the_site():
    assert found('<img src="a.svg" alt="b">') == []
    for source in ("https://a.org/b.svg", "//a.org/b.svg", "data:b"):
        said = f"1: '{source}' is not a file of the site; a page loads nothing else"
        assert found(f'<img src="{source}">') == [said]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a\n</div>", ["2: </div> closes nothing"]),
        ("<div>\n<b>a\n</div>", ["2: <b> is never closed"]),
        ("<div>\n<b>\n<i>a</div>", ["3: <i> is never closed", "2: <b> is never closed"]),
        ("<b>\n</div>", ["2: </div> closes nothing", "1: <b> is never closed"]),
        ("<div>\n<b>", ["1: <div> is never closed", "2: <b> is never closed"]),
        ("<ul>\n<ul></ul>", ["1: <ul> is never closed"]),
        ("<div/>", ["1: <div> is never closed"]),
        ("<b></b></b>", ["1: </b> closes nothing"]),
    ],
)
def test_what_is_opened_is_closed_in_its_order(body, said):
    assert found(body) == said


@pytest.mark.parametrize("body", ["", "a < b", "`<video>`", "```\n<div>\n```", "$a <video>$"])
def test_code_and_formulas_hold_no_html(body):
    assert found(body) == []


@pytest.mark.parametrize("comment", [">a", "->a", "a--!>b", "a<!--b"])
def test_a_comment_that_ends_earlier_for_a_browser_does(comment):
    assert allowed_html.comment_ends_early(comment)


@pytest.mark.parametrize("comment", ["", "a", "a>", "a->b", " >", "-", "<!-", "--!", "!>"])
def test_any_other_comment_ends_where_it_seems_to(comment):
    assert not allowed_html.comment_ends_early(comment)


def test_a_comment_that_ends_early_is_refused():
    assert found("<!-- a -->") == []
    assert found("a\n<!-- b <!-- c -->") == [
        "2: the comment <!-- b <!-- c --> ends earlier for a browser"
    ]


def test_a_declaration_and_an_instruction_are_refused():
    assert found("a\n<!DOCTYPE html>") == ["2: <!DOCTYPE html> is not allowed in an article"]
    assert found("a\n<?php b>") == ["2: <?php b> is not allowed in an article"]


@pytest.mark.parametrize(
    ("body", "line"), [("<!-- a", 1), ("a\n\n<!-- b\nc", 3), ("<!-- a -->\n<!-- b", 2)]
)
def test_a_comment_is_closed(body, line):
    assert found(body)[-1] == f"{line}: the comment <!-- is never closed"


def test_an_end_of_a_comment_may_stand_alone():
    assert found("a --> b") == []


def test_a_piece_of_html_is_refused_without_what_stands_around_it():
    assert allowed_html.disallowed_messages("<b>a</b>") == []
    assert allowed_html.disallowed_messages("</b> <i>") == []
    html = '<p><video></div> <b onclick="c"></p>'
    assert allowed_html.disallowed_messages(html) == [
        no_tag("video"),
        "the attribute 'onclick' of <b> is not allowed in an article",
        "<b> is never closed",
    ]
