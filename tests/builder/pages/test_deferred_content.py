"""What closed folds hold is sent on the page of the receipts, and comes back from there."""

import json
import re

import pytest

from builder.pages.deferred_content import defer_content, restore_content

RECEIPTS = '<article class="receipts"><div class="receipt" id="receipt-a-b">1</div>\n</article>\n'
ROWS = (
    '<div class="scroll" tabindex="0" role="group" aria-label="Every constant"><table>'
    '<tr><th scope="row">A<td><a href="#ref-x">X</a></table></div>'
)
CHART = (
    "<figure><figcaption><strong>Where it goes</strong> <span>b</span></figcaption>"
    '<details class="data"><summary>Data and files</summary><div data-table>%s</div></details>'
    "</figure>"
)
STEPS = (
    '<figure><figcaption><strong>By hand</strong></figcaption><details class="data">'
    "<summary>Steps and files</summary><ol data-steps><li>one</li></ol></details></figure>"
)
VIEW = (
    "<details>\n<summary>All of them</summary>\n"
    '<div class="view table" data-of="a" data-output="b" data-kind="table"><div data-fragment>'
    f'{ROWS}<p class="caption">Said.</p></div></div>\n</details>'
)
ANSWER = f"<details>\n<summary>Answer</summary>\n<p>{'It is so. ' * 40}</p>\n</details>"
SOURCES = '<ol><li id="ref-x" data-cite-label="A &amp; B 2021">A, B.</li></ol>'
TERM = '<button class="term" popovertarget="term-node" type="button">nodes</button>'
DEFINITION = (
    '<div class="popovers">\n<div popover class="definition" id="term-node"><p>'
    '<strong>node</strong> One. <a href="../../guides/a/">More</a></p></div>\n</div>'
)


def sent(html):
    return defer_content(html, RECEIPTS, "../../reference/glossary/")


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
    assert restore_content(page, receipts) == html


def test_several_folds_come_back_each_to_its_own():
    html = f"<article>{STEPS}{ANSWER}{CHART % ROWS}{VIEW}{CHART % ROWS}</article>"
    page, receipts = sent(html)
    assert len(set(re.findall(r"#(beside-\d)", page))) == 4  # the same table stands there once
    assert restore_content(page, receipts) == html


@pytest.mark.parametrize(
    "html",
    [
        ANSWER.replace("<p>", '<p id="there">'),
        ANSWER.replace("<p>", '<p><a class="number" href="receipts/#receipt-a-b">1</a>'),
        ANSWER.replace("It is so. " * 40, "Yes."),
        ANSWER.replace("<details>", "<details data-answer>"),
        CHART % "",
    ],
)
def test_what_is_short_or_led_to_or_live_stays(html):
    assert sent(html)[0] == html


def test_a_term_leads_to_the_glossary_and_its_definition_comes_with_the_receipts():
    page, receipts = sent(f"<p>{TERM}</p>{DEFINITION}")
    assert '<a class="term" href="../../reference/glossary/#term-node">nodes</a>' in page
    assert "definition" not in page
    assert '<div class="definition" id="term-node"><p>' in receipts
    assert 'href="../../../guides/a/"' in receipts


def test_without_a_glossary_a_term_leads_to_its_definition():
    page, _ = defer_content(f"<p>{TERM}</p>{DEFINITION}", RECEIPTS, "")
    assert '<a class="term" href="receipts/#term-node">' in page


def test_how_sources_are_called_comes_with_the_receipts():
    page, receipts = sent(SOURCES)
    assert '<li id="ref-x">' in page
    (told,) = re.findall(r"<script[^>]* data-cite-labels>(.*)</script>", receipts)
    assert json.loads(told) == {"x": "A & B 2021"}
