"""A page is sent without what its folds hold, with the sheets and image sizes that it needs."""

import re

import pytest

from builder.core import html_tree
from builder.core.problem import TemplateError
from builder.pages import page_passes
from builder.pages.page_passes import PageSettings, finish_pages, restore_content
from builder.theme.assets import StyleSheet

RECEIPTS = '<article class="receipts"><div class="receipt" id="receipt-a-b">1</div>\n</article>\n'
ROWS = (
    '<div class="scroll" tabindex="0" role="group" aria-label="Every constant"><table>'
    '<tr><th scope="row">A<td><a href="#ref-x">X</a></table></div>'
)
CHART = (
    "<figure><figcaption><strong>Where it goes</strong> <span>b</span></figcaption>"
    '<details class="data"><summary>Data and files</summary><div data-table>'
    '<deferred-content title="Where it goes">%s</deferred-content></div></details></figure>'
)
STEPS = (
    '<figure><figcaption><strong>By hand</strong></figcaption><details class="data"><summary>Steps '
    'and files</summary><deferred-content title="By hand"><ol data-steps><li>one</li></ol>'
    "</deferred-content></details></figure>"
)
VIEW = (
    "<details>\n<summary>All of them</summary>\n"
    '<div class="view table" data-of="a" data-output="b" data-kind="table"><div data-fragment>'
    f'{ROWS}<p class="caption">Said.</p></div></div>\n</details>'
)
ANSWER = f"<details>\n<summary>Answer</summary>\n<p>{'It is so. ' * 40}</p>\n</details>"
TERM = '<button class="term" popovertarget="term-node" type="button">nodes</button>'
MARKS = re.compile("</?deferred-content[^>]*>")


def settings(**given):
    return PageSettings(**{"image_sizes": {}, "glossary": "", "address": None, **given})


def sent(html, **given):
    page, receipts = finish_pages(html, RECEIPTS, settings(**given))
    return page.html, receipts.html


@pytest.mark.parametrize(
    ("html", "title", "held"),
    [
        (CHART % ROWS, "Where it goes", ROWS),
        (STEPS, "By hand", "<ol data-steps><li>one</li></ol>"),
        (VIEW, "Every constant", f'{ROWS}<p class="caption">Said.</p>'),
        (ANSWER, "Answer", f"<p>{'It is so. ' * 40}</p>"),
    ],
)
def test_a_fold_holds_a_link_to_what_it_held_and_gets_it_back(html, title, held):
    page, receipts = sent(html)
    assert held not in page
    assert f'<a data-beside href="receipts/#beside-1">{title}</a>' in page
    there = held.replace('href="#', 'href="../#')
    assert f'<h2>{title}</h2>\n<div class="beside" id="beside-1">{there}</div>\n' in receipts
    assert restore_content(page, receipts) == MARKS.sub("", html)


def test_several_folds_come_back_each_to_its_own():
    html = f"<article>{STEPS}{ANSWER}{CHART % ROWS}{VIEW}{CHART % ROWS}</article>"
    page, receipts = sent(html)
    assert len(set(re.findall(r"#(beside-\d)", page))) == 4  # the same table stands there once
    assert restore_content(page, receipts) == MARKS.sub("", html)


@pytest.mark.parametrize(
    "html",
    [
        ANSWER.replace("<p>", '<p id="there">'),
        ANSWER.replace("<p>", '<p><a class="number" href="receipts/#receipt-a-b">1</a>'),
        ANSWER.replace("It is so. " * 40, "Yes."),
        ANSWER.replace("<details>", "<details data-answer>"),
        ANSWER.replace("<summary>", '<summary class="own">'),
        ANSWER.replace("Answer", "<b>Answer</b>"),
    ],
)
def test_what_is_short_or_led_to_or_live_stays(html):
    assert sent(html)[0] == html


def test_a_term_leads_to_the_glossary():
    page, _ = sent(f"<p>{TERM}</p>", glossary="../../reference/glossary/")
    assert '<a class="term" href="../../reference/glossary/#term-node">nodes</a>' in page


def test_without_a_glossary_a_term_leads_to_its_definition():
    assert '<a class="term" href="receipts/#term-node">' in sent(f"<p>{TERM}</p>")[0]


def test_without_receipts_a_page_holds_everything():
    html = f"<article>{TERM}{STEPS}{ANSWER}</article>"
    (page,) = finish_pages(html, "", settings())
    assert page.html == MARKS.sub("", html)


def test_a_citation_names_its_source_once():
    page, _ = sent('<a data-cite="x" href="#ref-x">X</a><a data-cite="y" href="#ref-x">Y</a>')
    assert page == '<a href="#ref-x">X</a><a data-cite="y" href="#ref-x">Y</a>'


def test_the_search_and_the_markdown_have_what_the_page_is_sent_without():
    page, _ = finish_pages(
        f"<body><article>{ANSWER}</article></body>", RECEIPTS, settings(address="a/")
    )
    assert "It is so. It is so." not in page.html
    assert "It is so. It is so." in page.article
    assert "It is so. It is so." in page.markdown


@pytest.mark.parametrize(
    ("html", "searched"),
    [
        ("<body><p>no</p><article>yes</article><p>no</p></body>", "<article>yes</article>"),
        ('<body class="b"><p>yes</p></body>', "<div><p>yes</p></div>"),
        ("<p>no</p>", ""),
    ],
)
def test_the_search_has_the_article_or_else_the_body(html, searched):
    assert finish_pages(html, "", settings())[0].article == searched


def test_links_of_what_is_moved_lead_from_where_it_stands():
    links = '<a href="../b/">b</a> <a href="https://e.org/">e</a> <a href="mailto:a@e.org">m</a>'
    _, receipts = sent(ANSWER.replace("It is so.", links, 1))
    assert '<a href="../../b/">b</a> <a href="https://e.org/">e</a> <a href="mailto:' in receipts


@pytest.mark.parametrize(
    ("page", "receipts", "mark"),
    [
        (STEPS.replace(' title="By hand"', ""), RECEIPTS, "<deferred-content"),
        (STEPS.replace("By hand", "", 2), RECEIPTS, "<deferred-content"),
        (STEPS, "<p>1</p>", "receipts.html"),
    ],
)
def test_a_template_that_a_pass_cannot_use_is_named(page, receipts, mark):
    with pytest.raises(TemplateError) as raised:
        finish_pages(page, receipts, settings())
    assert raised.value.args[0] == mark


LINK = '<link rel="stylesheet" href="{}">'
TWO = (
    StyleSheet(classes=("way", "card"), address="assets/a-1.css"),
    StyleSheet(classes=("tab",), address="assets/b-2.css"),
)
BOTH = LINK.format("../assets/a-1.css") + "\n" + LINK.format("../assets/b-2.css") + "\n<i></i>"


def linked(html, sheets):
    page = html_tree.parse(html)
    page_passes.remove_unused_sheets(page, sheets)
    return page.html()


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('<p class="card">', LINK.format("../assets/a-1.css") + "\n<i></i>"),
        ('<p class="big way">', LINK.format("../assets/a-1.css") + "\n<i></i>"),
        ('<p class="x"><b class="tab y">', LINK.format("../assets/b-2.css") + "\n<i></i>"),
        ('<p class="card tab">', BOTH),
        ('<p class="cards" id="tab">way', "<i></i>"),
        ("", "<i></i>"),
    ],
)
def test_a_page_links_the_sheets_of_which_it_has_a_class(body, kept):
    assert linked(BOTH + body, TWO) == kept + body


def test_a_page_keeps_links_to_other_sheets():
    html = LINK.format("assets/main.css") + LINK.format("assets/aX1.css") + LINK.format("a-1.css")
    assert linked(html, (StyleSheet(classes=("a",), address="a.1.css"),)) == html
    assert linked(BOTH, ()) == BOTH


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (
            '<img alt="a" src="x.svg">',
            '<img alt="a" src="x.svg" width="20" height="10" loading="lazy">',
        ),
        ('<img alt="a" width="5" src="x.svg" />', '<img alt="a" width="5" src="x.svg" />'),
        ('<img alt="a" src="y.svg">', '<img alt="a" src="y.svg">'),
    ],
)
def test_an_image_gets_the_size_of_its_file_unless_the_author_gave_one(given, made):
    (page,) = finish_pages(given, "", settings(image_sizes={"x.svg": (20, 10)}))
    assert page.html == made
