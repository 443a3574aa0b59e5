"""Terms between question marks open their definition."""

import pytest
from markdown import Markdown

from builder.content import library
from builder.markdown.extensions.references import CitationExtension, GlossaryExtension, term_id
from builder.markdown.render_state import RenderState

TERMS = """["Bus bandwidth"]
text = "Bytes per second."
also = ["busbw"]
[GPU]
text = "A processor."
"""


def converted(text):
    findings = RenderState()
    shelf, problems = library.parse_library("", TERMS)
    assert problems == []
    return Markdown(extensions=[GlossaryExtension(shelf, findings)]).convert(text), findings


def button(shown, target):
    return f'<button class="term" popovertarget="{target}" type="button">{shown}</button>'


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("Bus bandwidth", "term-bus-bandwidth"),
        ("3D parallelism (TP+PP)", "term-3d-parallelism-tp-pp"),
        ("--Az09--", "term-az09"),
        ("GPU", "term-gpu"),
    ],
)
def test_an_id_has_small_letters_digits_and_single_dashes(name, made):
    assert term_id(name) == made


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("??bus bandwidth??", "bus bandwidth"),
        ("?? Bus   BANDWIDTH ??", "Bus   BANDWIDTH"),
        ("??busbw??", "busbw"),
        ("??the bandwidth|busbw??", "the bandwidth"),
        ("?? the bandwidth | Bus Bandwidth ??", "the bandwidth"),
    ],
)
def test_a_term_is_a_button_with_the_text_that_the_author_wants(text, shown):
    html, findings = converted(f"The {text} of it.")
    made = button(shown, "term-bus-bandwidth")
    assert html == f"<p>The {made} of it.</p>"
    assert list(findings.terms) == ["Bus bandwidth"]
    assert findings.problems == []


def test_terms_are_noted_in_the_order_of_their_first_use():
    _, findings = converted("??GPU?? and ??busbw?? and ??gpu??")
    assert list(findings.terms) == ["GPU", "Bus bandwidth"]


@pytest.mark.parametrize(
    ("text", "shown", "name"),
    [("??gone??", "gone", "gone"), ("?? this | Gone  far ??", "this", "Gone  far")],
)
def test_a_term_that_is_not_defined_is_named_and_its_text_stays(text, shown, name):
    html, findings = converted(f"A {text} b.")
    assert html == f"<p>A {shown} b.</p>"
    message = f"term '{name}' is not defined in content/glossary.toml"
    assert findings.problems == [(text, message)]
    assert findings.terms == {}


@pytest.mark.parametrize("text", ["????", "??a\nb??", "??a|b|c??", "??|a??", "?a?"])
def test_what_is_no_term_stays_as_it_is(text):
    html, findings = converted(text)
    assert html == f"<p>{text}</p>"
    assert findings == RenderState()


def test_citations_come_before_terms_in_whatever_order_they_are_registered():
    shelf, _ = library.parse_library("", TERMS)
    findings = RenderState()
    made = Markdown(
        extensions=[GlossaryExtension(shelf, findings), CitationExtension(shelf, findings)]
    )
    names = [one.name for one in sorted(made.inlinePatterns._priority, key=lambda x: -x.priority)]
    assert names[:5] == ["backtick", "escape", "cite", "glossary", "reference"]
