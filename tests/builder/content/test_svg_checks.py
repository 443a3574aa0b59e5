"""Pictures as SVG hold nothing that runs or loads."""

from types import SimpleNamespace

import pytest

from builder.content.content_folder import svg_file_problems, svg_problems
from builder.core.problem import Problem

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'
TAGS = (
    "svg g defs symbol use title desc metadata style path rect circle ellipse line polyline "
    "polygon text tspan textPath image marker pattern mask clipPath filter linearGradient "
    "radialGradient stop view switch animate animateTransform animateMotion mpath a feBlend"
)


def told(inner):
    return list(svg_problems(SVG.format(inner)))


def loads(value):
    return (value, f"'{value}' is not allowed in a drawing; it loads nothing")


@pytest.mark.parametrize("tag", TAGS.split())
def test_what_draws_is_allowed(tag):
    assert told(f"<{tag}/>") == []


@pytest.mark.parametrize("tag", ["script", "foreignObject", "set", "Path", "iframe", "xfe"])
def test_what_does_not_draw_is_named(tag):
    assert told(f"<g><{tag}/></g>") == [(f"<{tag}", f"the tag <{tag}> is not allowed in a drawing")]


def test_a_tag_of_no_space_is_one_of_the_drawing():
    assert list(svg_problems("<svg><script/></svg>")) == [
        ("<script", "the tag <script> is not allowed in a drawing")
    ]


def test_what_another_program_keeps_in_its_own_space_is_passed_by():
    assert told('<x:script xmlns:x="http://inkscape.org/" onclick="a" href="b"/>') == []


@pytest.mark.parametrize(
    ("declared", "named"),
    [
        ("<!DOCTYPE svg>", "<!DOCTYPE"),
        ("<!doctype svg>", "<!doctype"),
        ('<!ENTITY a "b">', "<!ENTITY"),
        ('<?xml-stylesheet href="a"?>', "<?"),
        ("<?php ?>", "<?"),
    ],
)
def test_what_is_declared_is_named_alone(declared, named):
    text = declared + SVG.format("<script/>")
    assert list(svg_problems(text)) == [(named, f"{named} is not allowed in a drawing")]


@pytest.mark.parametrize("head", ['<?xml version="1.0"?>', "\ufeff", "<!-- a -->", ""])
def test_a_drawing_may_begin_with_what_says_that_it_is_xml(head):
    assert list(svg_problems(head + SVG.format("<g/>"))) == []


def test_what_is_no_xml_is_named():
    assert list(svg_problems("<svg>\n<g></svg>")) == [
        ("", "is no SVG: mismatched tag: line 2, column 5")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "@import 'a.css';",
        "@IMPORT 'a.css'",
        "rect { fill: url(a.svg) }",
        "rect { fill: url( 'https://e.org/' ) }",
        'rect { fill: URL("a") }',
        "a { fill: url(#b) } c { fill: url(d) }",
    ],
)
def test_a_style_that_loads_is_named(text):
    assert told(f"<style>{text}</style>") == [("<style", "a style of a drawing loads nothing")]


@pytest.mark.parametrize("text", ["", "rect { fill: url(#a) }"])
def test_a_style_that_names_what_is_within_loads_nothing(text):
    assert told(f"<style>{text}</style>") == []


def test_another_text_may_say_what_a_style_may_not():
    assert told("<text>@import url(a)</text>") == []


@pytest.mark.parametrize("name", ["onclick", "onload", "ONLOAD", "on"])
def test_an_attribute_that_runs_is_named(name):
    wanted = [(name, f"the attribute '{name}' is not allowed in a drawing")]
    assert told(f'<rect {name}="a"/>') == wanted


def test_an_attribute_that_runs_is_named_in_whatever_space():
    wanted = [("onload", "the attribute 'onload' is not allowed in a drawing")]
    assert told('<rect xlink:onload="a"/>') == wanted


@pytest.mark.parametrize("name", ["version", "x", "font", "hreflang", "fill"])
def test_other_attributes_are_allowed(name):
    assert told(f'<rect {name}="a"/>') == []


@pytest.mark.parametrize("name", ["href", "xlink:href"])
@pytest.mark.parametrize(
    "value",
    [
        "#a",
        "data:image/png;base64,AA",
        "data:image/jpeg;base64,AA",
        "data:image/webp;base64,AA",
        "data:image/gif;base64,AA",
    ],
)
def test_an_address_within_the_drawing_or_a_picture_in_it_is_allowed(name, value):
    assert told(f'<image {name}="{value}"/>') == []


@pytest.mark.parametrize("name", ["href", "xlink:href"])
@pytest.mark.parametrize(
    "value",
    [
        "",
        "a.svg",
        "a#b",
        "https://e.org/",
        "data:image/svg+xml;base64,AA",
        "data:image/png,AA",
        "data:text/html;AA",
        "javascript:a()",
    ],
)
def test_any_other_address_is_named(name, value):
    assert told(f'<image {name}="{value}"/>') == [loads(value)]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("https://e.org/", []),
        ("#a", []),
        ("http://e.org/", [loads("http://e.org/")]),
        ("javascript:a()", [loads("javascript:a()")]),
    ],
)
def test_a_link_may_lead_elsewhere(value, wanted):
    assert told(f'<a href="{value}"/>') == wanted


@pytest.mark.parametrize("value", ["href", "xlink:href"])
def test_an_address_is_not_animated(value):
    assert told(f'<animate attributeName="{value}"/>') == [loads(value)]


def test_another_attribute_is_animated_and_href_may_be_a_value():
    assert told('<animate attributeName="width"/><animate begin="href"/>') == []


@pytest.mark.parametrize("value", ["url(a.svg#b)", "url('https://e.org')", "x; @import 'a'"])
def test_an_attribute_that_loads_is_named(value):
    assert told(f'<rect fill="{value}"/>') == [loads(value)]


def test_an_attribute_that_names_what_is_within_loads_nothing():
    assert told('<rect fill="url(#a)" style="fill: url(#b)"/>') == []


def test_everything_is_named_in_its_order():
    found = told('<script onload="a" href="b"/><style>@import</style><rect fill="url(c)"/>')
    assert found == [
        ("<script", "the tag <script> is not allowed in a drawing"),
        ("onload", "the attribute 'onload' is not allowed in a drawing"),
        loads("b"),
        ("<style", "a style of a drawing loads nothing"),
        loads("url(c)"),
    ]


@pytest.fixture
def place(tmp_path):
    def put(name, data):
        path = tmp_path / "content" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return svg_file_problems(SimpleNamespace(root=tmp_path), [path])

    return put


def test_a_problem_names_the_file_and_the_line_where_it_stands(place):
    assert place("a.svg", b"<svg>\n<g/>\n<script/>\n</svg>") == [
        Problem("content/a.svg", 3, "the tag <script> is not allowed in a drawing"),
    ]


def test_an_empty_line_in_front_counts(place):
    assert place("a.svg", b"\n<svg>\n<set/></svg>") == [
        Problem("content/a.svg", 3, "the tag <set> is not allowed in a drawing")
    ]


def test_a_problem_at_the_very_beginning_is_of_the_first_line(place):
    assert place("a.SVG", b"<!DOCTYPE svg>\n<svg/>") == [
        Problem("content/a.SVG", 1, "<!DOCTYPE is not allowed in a drawing")
    ]


def test_a_problem_of_the_whole_file_is_of_the_first_line(place):
    assert place("a.svg", b"\n\n<svg>") == [
        Problem("content/a.svg", 1, "is no SVG: no element found: line 3, column 5")
    ]


def test_what_does_not_stand_so_in_the_text_is_of_the_first_line(place):
    assert place("a.svg", b'<svg>\n<a href="b&amp;c"/></svg>') == [
        Problem("content/a.svg", 1, "'b&c' is not allowed in a drawing; it loads nothing")
    ]


def test_bytes_that_are_no_text_are_read_as_far_as_they_can_be(place):
    assert place("a.svg", b"<svg><title>\xff</title></svg>") == []


def test_other_pictures_are_not_read(place):
    assert place("a.png", b"<script/>") == []


def test_two_drawings_are_looked_at_in_their_order(tmp_path):
    paths = [tmp_path / name for name in ("b.svg", "c.png", "a.svg")]
    for path in paths:
        path.write_text("<svg><set/></svg>")
    found = svg_file_problems(SimpleNamespace(root=tmp_path), paths)
    assert [one.path for one in found] == ["b.svg", "a.svg"]


@pytest.mark.parametrize("within", ["url(#b)", "url('#b')", 'url("#b")', "url( #b )"])
def test_a_style_may_name_a_part_of_its_own_drawing(within):
    assert told(f"<style>a {{ fill: {within} }}</style>") == []


@pytest.mark.parametrize("out", ["url(b.svg#c)", "url('b.svg')", "url( b.svg )", "URL(b.svg)"])
def test_a_style_may_name_no_other_file(out):
    told_of = ("<style", "a style of a drawing loads nothing")
    assert told(f"<style>a {{ fill: {out} }}</style>") == [told_of]
