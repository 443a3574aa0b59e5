"""Attributes that an author may write, in braces and among the options of blocks."""

import xml.etree.ElementTree as etree

import pytest
from markdown import Markdown

from builder.markdown.article_html import (
    AttributeLists,
    AttributesExtension,
    BlockAttributes,
    disallowed_message,
)
from builder.markdown.render_state import RenderState


def lists():
    findings = RenderState()
    return AttributeLists(Markdown(), findings), findings


def of_blocks(root):
    findings = RenderState()
    BlockAttributes(Markdown(), findings).run(root)
    return findings.problems


def converted(text):
    findings = RenderState()
    extensions = ["markdown.extensions.attr_list", AttributesExtension(findings)]
    return Markdown(extensions=extensions).convert(text), findings.problems


def test_the_message_names_the_attribute():
    assert disallowed_message("style") == "the attribute 'style' is not allowed in an article"


def test_allowed_attributes_are_set_and_return_no_remainder():
    found, findings = lists()
    elem = etree.Element("p")
    assert found.assign_attrs(elem, "#here title='A tip' lang=\"de\" width=3") == ""
    assert elem.attrib == {"id": "here", "title": "A tip", "lang": "de", "width": "3"}
    assert findings.problems == []


def test_classes_are_added_to_those_that_are_there():
    found, _ = lists()
    elem = etree.Element("p", {"class": "wide"})
    found.assign_attrs(elem, ".asked .quiet")
    assert elem.attrib == {"class": "wide asked quiet"}


def test_a_first_class_stands_alone():
    found, _ = lists()
    elem = etree.Element("p")
    found.assign_attrs(elem, ".asked")
    assert elem.attrib == {"class": "asked"}


def test_an_attribute_without_a_value_is_empty():
    found, findings = lists()
    elem = etree.Element("details")
    found.assign_attrs(elem, "open")
    assert elem.attrib == {"open": ""}
    assert findings.problems == []


def test_a_refused_attribute_is_named_as_it_stands_in_the_text():
    found, findings = lists()
    elem = etree.Element("p")
    found.assign_attrs(elem, 'onclick=go hidden style="" title=a')
    assert elem.attrib == {"title": "a"}
    assert findings.problems == [
        ("onclick=", disallowed_message("onclick")),
        ("hidden", disallowed_message("hidden")),
        ("style=", disallowed_message("style")),
    ]


def test_what_follows_a_closing_brace_is_returned():
    found, _ = lists()
    elem = etree.Element("p")
    assert found.assign_attrs(elem, "#a} and {#b") == "} and {#b"
    assert elem.attrib == {"id": "a"}


def test_a_strict_list_with_more_behind_it_sets_nothing():
    found, findings = lists()
    elem = etree.Element("p")
    assert found.assign_attrs(elem, "#a onclick=b} and {#b", strict=True) == "} and {#b"
    assert elem.attrib == {}
    assert findings.problems == []


def test_a_strict_list_with_nothing_behind_it_sets_its_attributes():
    found, _ = lists()
    elem = etree.Element("p")
    assert found.assign_attrs(elem, "#a", strict=True) == ""
    assert elem.attrib == {"id": "a"}


@pytest.mark.parametrize(
    "name", ["for", "type", "name", "checked", "data-tabs", "data-answer", "title", "class"]
)
def test_what_blocks_write_and_authors_may_write_stays(name):
    root = etree.fromstring(f'<div><p {name}="1"/></div>')
    assert of_blocks(root) == []
    assert root[0].attrib == {name: "1"}


def test_any_other_attribute_of_a_block_goes_and_is_said():
    root = etree.fromstring('<div data-x="1" id="a"><p onclick="2"><b style="3"/></p></div>')
    assert of_blocks(root) == [
        ("data-x", disallowed_message("data-x")),
        ("onclick", disallowed_message("onclick")),
        ("style", disallowed_message("style")),
    ]
    assert etree.tostring(root) == b'<div id="a"><p><b /></p></div>'


@pytest.mark.parametrize("tag", ["th", "td"])
@pytest.mark.parametrize("way", ["left", "center", "right"])
def test_cells_of_tables_keep_their_alignment(tag, way):
    root = etree.fromstring(f'<tr><{tag} style="text-align: {way};"/></tr>')
    assert of_blocks(root) == []
    assert root[0].attrib == {"style": f"text-align: {way};"}


@pytest.mark.parametrize(
    "cell",
    ['<td style="text-align: justify;"/>', '<p style="text-align: left;"/>', '<td style=""/>'],
)
def test_another_style_or_one_of_another_element_goes(cell):
    root = etree.fromstring(f"<tr>{cell}</tr>")
    assert of_blocks(root) == [("style", disallowed_message("style"))]
    assert root[0].attrib == {}


def test_an_attribute_with_the_text_of_an_alignment_is_no_alignment():
    root = etree.fromstring('<tr><td x="text-align: left;"/></tr>')
    assert of_blocks(root) == [("x", disallowed_message("x"))]


def test_an_attribute_behind_an_alignment_is_looked_at_too():
    root = etree.fromstring('<tr><td style="text-align: left;" onclick="x"/></tr>')
    assert of_blocks(root) == [("onclick", disallowed_message("onclick"))]


def test_a_list_in_braces_is_read_in_place_of_the_one_of_markdown():
    html, problems = converted("Text.\n{: .asked onclick=x }")
    assert html == '<p class="asked">Text.</p>'
    assert problems == [("onclick=", disallowed_message("onclick"))]


def test_the_tree_of_blocks_is_looked_at_before_links_are_made():
    html, problems = converted('[a](https://e.org/ "t"){: onclick=x }')
    assert html == '<p><a href="https://e.org/" title="t">a</a></p>'
    assert problems == [("onclick=", disallowed_message("onclick"))]


def test_blocks_come_before_inline_parsing_and_lists_after_it():
    made = Markdown(extensions=[AttributesExtension(RenderState())])
    names = [one.name for one in sorted(made.treeprocessors._priority, key=lambda x: -x.priority)]
    assert names == ["block_attributes", "inline", "prettify", "attr_list", "unescape"]
