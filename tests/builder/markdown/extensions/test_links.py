"""Links and images become marks, and those that lead elsewhere are looked at."""

import xml.etree.ElementTree as etree

import pytest
from markdown import Markdown

from builder.markdown.extensions.links import (
    LinkExtension,
    LinkPlaceholders,
    external_link_problem,
    is_internal,
)
from builder.markdown.render_state import RenderState


def converted(text):
    findings = RenderState()
    return Markdown(extensions=[LinkExtension(findings)]).convert(text), findings


def marked(xml):
    findings = RenderState()
    root = etree.fromstring(xml)
    LinkPlaceholders(Markdown(), findings).run(root)
    return etree.tostring(root, encoding="unicode"), findings


@pytest.mark.parametrize(
    ("target", "ours"),
    [
        ("", True),
        ("#a", True),
        ("#a:b", True),
        ("ring", True),
        ("../guides/ring#a", True),
        ("/ring", True),
        ("ring#a//b:c", True),
        ("//e.org/", False),
        ("https://e.org/", False),
        ("mailto:a@e.org", False),
        ("javascript:go()#a", False),
        ("a//b", True),
    ],
)
def test_a_link_without_a_scheme_and_a_host_is_ours(target, ours):
    assert is_internal(target) is ours


@pytest.mark.parametrize("target", ["https://e.org/", "mailto:a@e.org"])
def test_a_link_elsewhere_may_begin_so(target):
    assert external_link_problem(target) == ""


@pytest.mark.parametrize("target", ["http://e.org/", "https:/e.org", "//e.org/", "xhttps://e.org"])
def test_a_link_elsewhere_that_begins_otherwise_is_wrong(target):
    message = f"external link '{target}' has to begin with https://"
    assert external_link_problem(target) == message


def test_a_link_of_ours_becomes_a_mark_and_is_noted():
    html, findings = converted("[Ring](ring#cost) and [here](#a)")
    assert html == '<p><a href="⟦page=ring#cost⟧">Ring</a> and <a href="⟦page=#a⟧">here</a></p>'
    assert findings.links == ["ring#cost", "#a"]
    assert findings.problems == []


@pytest.mark.parametrize("inner", ["", " ", "\n"])
def test_an_empty_link_says_the_title_of_what_it_leads_to(inner):
    made, findings = marked(f'<p><a href="ring">{inner}</a></p>')
    assert made == '<p><a href="⟦page=ring⟧">⟦title=ring⟧</a></p>'
    assert findings.links == ["ring"]


@pytest.mark.parametrize("inner", ["x", "<b>x</b>", " <b />", "x<b />"])
def test_a_link_that_holds_something_keeps_it(inner):
    made, _ = marked(f'<p><a href="ring">{inner}</a></p>')
    assert made == f'<p><a href="⟦page=ring⟧">{inner}</a></p>'


def test_an_address_is_noted_as_it_is_meant():
    made, findings = marked('<p><a href="a&amp;amp;b">x</a></p>')
    assert findings.links == ["a&b"]
    assert made == '<p><a href="⟦page=a&amp;b⟧">x</a></p>'


def test_a_link_without_an_address_leads_to_the_page_itself():
    made, findings = marked("<p><a>x</a></p>")
    assert made == '<p><a href="⟦page=⟧">x</a></p>'
    assert findings.links == [""]


def test_a_link_elsewhere_stays_as_it_is():
    html, findings = converted("[E](https://e.org/) <https://f.org/>")
    assert html == (
        '<p><a href="https://e.org/">E</a> <a href="https://f.org/">https://f.org/</a></p>'
    )
    assert findings == RenderState()


def test_an_empty_link_elsewhere_gets_no_title():
    made, _ = marked('<p><a href="https://e.org/"></a></p>')
    assert made == '<p><a href="https://e.org/" /></p>'


def test_a_wrong_link_elsewhere_is_named_and_no_page_of_ours():
    html, findings = converted("[E](http://e.org/) [a](ring)")
    assert html == '<p><a href="http://e.org/">E</a> <a href="⟦page=ring⟧">a</a></p>'
    assert findings.problems == [
        ("http://e.org/", "external link 'http://e.org/' has to begin with https://")
    ]
    assert findings.links == ["ring"]


@pytest.mark.parametrize(
    "given",
    [
        'class="footnote-ref"',
        'class="footnote-backref"',
        'class="headerlink"',
        'data-cite="a"',
        'class="x" data-cite="a"',
    ],
)
def test_links_that_the_builder_made_itself_are_passed_by(given):
    xml = f'<p><a {given} href="#a">1</a><a href="ring">b</a></p>'
    made, findings = marked(xml)
    assert made == xml.replace('"ring"', '"⟦page=ring⟧"')
    assert findings.links == ["ring"]


def test_a_link_of_another_class_is_the_author_s():
    made, findings = marked('<p><a class="wide" href="ring">b</a></p>')
    assert made == '<p><a class="wide" href="⟦page=ring⟧">b</a></p>'
    assert findings.links == ["ring"]


def test_an_image_becomes_a_mark_and_is_noted():
    html, findings = converted("![A dot](../images/dot.svg)")
    assert html == '<p><img alt="A dot" src="⟦image=../images/dot.svg⟧" /></p>'
    assert findings.images == ["../images/dot.svg"]
    assert findings.problems == []


@pytest.mark.parametrize("alt", ["", 'alt=""', 'alt=" "'])
def test_an_image_without_words_is_named(alt):
    made, findings = marked(f'<p><img {alt} src="a.svg" /></p>')
    message = "image 'a.svg' has no alt text; write ![what it shows](a.svg)"
    assert findings.problems == [("a.svg", message)]
    assert findings.images == ["a.svg"]
    assert 'src="⟦image=a.svg⟧"' in made


def test_an_image_of_another_host_is_named_and_stays_out():
    made, findings = marked('<p><img src="https://e.org/a.png" /></p>')
    source = "https://e.org/a.png"
    assert findings.problems == [
        (source, f"image '{source}' has no alt text; write ![what it shows]({source})"),
        (source, f"image '{source}' is not a file of content/; a page loads nothing else"),
    ]
    assert findings.images == []
    assert made == '<p><img src="https://e.org/a.png" /></p>'


def test_an_image_without_a_source_is_of_no_name():
    _, findings = marked('<p><img alt="x" /></p>')
    assert findings.images == [""]
    assert findings.problems == []


@pytest.mark.parametrize("line", ["===", "---"])
def test_a_line_below_a_text_makes_no_heading(line):
    html, _ = converted(f"Text\n{line}")
    assert "<h" not in html.replace("<hr", "")


def test_links_are_marked_after_inline_parsing():
    made = Markdown(extensions=["markdown.extensions.attr_list", LinkExtension(RenderState())])
    names = [one.name for one in sorted(made.treeprocessors._priority, key=lambda x: -x.priority)]
    assert names == ["inline", "links", "prettify", "attr_list", "unescape"]
