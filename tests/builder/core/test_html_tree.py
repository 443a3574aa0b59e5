"""A page is read into a tree and written as it was read, but for what is changed."""

import pytest

from builder.core import html_tree
from builder.core.html_tree import Element, parse

PAGE = """<!doctype html>
<html lang=en><head><meta charset="utf-8"><title>A &amp; B</title>
<script type="application/json">{"a": "</p><b>"}</script><style>p > b { }</style></head>
<body data-a='{"b": 1}' hidden><!-- a <b> comment --><p>1 &lt; 2 &nbsp; &copy 3<br/>4
<svg viewBox="0 0 1 1"><linearGradient id="g"/><foreignObject><p>x</p></foreignObject>
<path d="M0 0"/></svg><math><mi>x</mi><mo>&#x2212;</mo></math><template><td>cell</template>
<ul><li>one<li>two</ul></i><A HREF=x>y</A></body></html>
"""


def test_a_page_is_written_as_it_was_read():
    assert parse(PAGE).html() == PAGE


def test_drawings_and_formulas_keep_the_case_of_their_names():
    (gradient,) = parse(PAGE).elements("lineargradient")
    assert gradient.html() == '<linearGradient id="g"/>'
    (drawing,) = parse(PAGE).elements("svg")
    assert drawing.start_tag() == '<svg viewBox="0 0 1 1">'
    drawing.set("class", "scene")
    assert drawing.start_tag() == '<svg viewBox="0 0 1 1" class="scene">'


@pytest.mark.parametrize(
    ("html", "tags"),
    [
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "ul(li li(ul(li)))"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "dl(dt dd dt)"),
        (
            "<table><thead><tr><th>a<tbody><tr><td>b<td>c<tr><td>d</table>",
            "table(thead(tr(th)) tbody(tr(td td) tr(td)))",
        ),
        ("<table><tr><td><table><tr><td>a</table><td>b</table>", "table(tr(td(table(tr(td))) td))"),
        ("<select><option>a<option>b</select><p>c", "select(option option) p"),
        ("<p>a<p>b<div>c</div><em>d</em>", "p p div em"),
        ("<p>a<span>b</p><b>c</b>", "p(span) b"),
        ("<div/>a<b>c</b></div><i>d</i>", "div(b) i"),
        ("<svg><rect/><g><path/></g></svg><b></b>", "svg(rect g(path)) b"),
        ("<p>a</b>c<br>d<img src=e></p>", "p(br img)"),
        ("<script><b></b></script><b></b>", "script b"),
    ],
)
def test_elements_are_nested_as_in_a_browser(html, tags):
    assert _nested(parse(html)) == tags
    assert parse(html).html() == html


def _nested(root):
    inner = [node for node in root.children if isinstance(node, Element)]
    return " ".join(f"{node.tag}({_nested(node)})" if _nested(node) else node.tag for node in inner)


def test_only_what_is_changed_is_written_anew():
    page = parse("<p  class='a' title=\"x &amp; y\">1</p><p  class='b'>2</p>")
    first, second = page.elements("p")
    first.set("id", "it's")
    assert page.html() == """<p class="a" title="x &amp; y" id="it's">1</p><p  class='b'>2</p>"""
    second.drop("class")
    assert page.html().endswith("<p>2</p>")


@pytest.mark.parametrize("value", ["", "a&b", 'say "a"', "it's", '"a" isn\'t <b>', "&amp;"])
def test_an_attribute_is_read_as_it_was_set(value):
    element = Element("i", {"title": value, "hidden": None})
    (again,) = parse(element.html()).elements()
    assert again.attributes == {"title": value, "hidden": None}
    assert again.get("hidden") == again.get("id") == ""
    assert again.has("hidden")
    assert not again.has("id")


def test_tags_that_are_alike_are_changed_one_by_one():
    page = parse('<a href="x">1</a><a href="x">2</a>')
    next(page.elements("a")).set("href", "y")
    assert page.html() == '<a href="y">1</a><a href="x">2</a>'
    assert parse('<a href="x">1</a>').first("a").get("href") == "x"


def test_an_element_is_replaced_and_removed_with_its_line():
    page = parse("<p>a<b>c</b>d</p>\n<i></i>\n<u></u>")
    page.first("b").replace_with("x", Element("em", children=["y"]), "z")
    assert page.html() == "<p>ax<em>y</em>zd</p>\n<i></i>\n<u></u>"
    assert [around.tag for around in page.first("em").ancestors()] == ["p", ""]
    page.first("i").remove_line()
    assert page.html() == "<p>ax<em>y</em>zd</p>\n<u></u>"


def test_an_element_alone_has_no_place():
    with pytest.raises(ValueError, match="<p> has no parent"):
        Element("p").replace_with("x")


def test_the_text_is_what_a_reader_sees():
    assert parse("a &lt;<b>b &amp; c</b><!-- no --></x>").text() == "a <b & c"


def test_white_space_around_nodes_is_apart():
    nodes = parse("\n a <b></b>\n").children
    before, inner, after = html_tree.split_space(nodes)
    assert (before, html_tree.inner_html(inner), after) == ("\n ", "a <b></b>", "\n")
    assert html_tree.split_space([" "]) == (" ", [], "")
