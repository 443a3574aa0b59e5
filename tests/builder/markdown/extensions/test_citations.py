"""Citations in brackets become links to the list of sources."""

import pytest
from markdown import Markdown

from builder.content import library
from builder.markdown.extensions.references import CitationExtension
from builder.markdown.render_state import RenderState

SOURCES = "\n".join(
    f'[{key}]\nauthors = ["{author}"]\nyear = {year}\ntitle = "T"\nurl = "https://e.org/"\n'
    for key, author, year in (
        ("hockney1994", "Roger W. Hockney", 1994),
        ("q", "A *b* <i>", 2001),
        ('"x:y.z+1-2"', "Xu", 2002),
    )
)
MISSING = "citation '@gone' is not in content/references.toml"


def converted(text):
    findings = RenderState()
    shelf, problems = library.parse_library(SOURCES, "")
    assert problems == []
    return Markdown(extensions=[CitationExtension(shelf, findings)]).convert(text), findings


def link(key, label):
    return f'<a data-cite="{key}" href="#ref-{key}">{label}</a>'


def test_a_citation_is_a_link_in_parentheses():
    html, findings = converted("As [@hockney1994] says.")
    made = link("hockney1994", "Hockney 1994")
    assert html == f'<p>As <span class="citation">({made})</span> says.</p>'
    assert list(findings.cites) == ["hockney1994"]
    assert findings.problems == []


def test_several_keys_are_parted_by_semicolons_whatever_space_is_between():
    html, findings = converted("[@x:y.z+1-2 ;\n @hockney1994;@x:y.z+1-2]")
    first, second = link("x:y.z+1-2", "Xu 2002"), link("hockney1994", "Hockney 1994")
    assert first in html
    assert second in html
    assert list(findings.cites) == ["x:y.z+1-2", "hockney1994"]


def test_two_keys_are_written_with_one_semicolon_and_one_parenthesis():
    html, _ = converted("[@hockney1994; @x:y.z+1-2]")
    first, second = link("hockney1994", "Hockney 1994"), link("x:y.z+1-2", "Xu 2002")
    assert html == f'<p><span class="citation">({first}; {second})</span></p>'


def test_a_label_is_text_whatever_signs_it_has():
    html, _ = converted("[@q]")
    label = html.partition('href="#ref-q">')[2].partition("</a>")[0]
    assert label == "A *b* &lt;i&gt; 2001"


def test_a_key_that_is_not_there_is_named_with_the_citation_and_the_others_stay():
    html, findings = converted("[@gone; @hockney1994]")
    made = link("hockney1994", "Hockney 1994")
    assert html == f'<p><span class="citation">({made})</span></p>'
    assert findings.problems == [("[@gone; @hockney1994]", MISSING)]
    assert list(findings.cites) == ["hockney1994"]


@pytest.mark.parametrize("text", ["[@]", "[@a @b]", "[hockney1994]", "[@a;]", "[@a;;@b]", "@a"])
def test_what_is_no_citation_stays_as_it_is(text):
    html, findings = converted(text)
    assert html == f"<p>{text}</p>"
    assert findings == RenderState()


def test_a_citation_is_no_reference_link():
    html, findings = converted("[@hockney1994]\n\n[@hockney1994]: https://e.org/")
    assert link("hockney1994", "Hockney 1994") in html
    assert list(findings.cites) == ["hockney1994"]


def test_a_citation_in_code_is_code():
    html, findings = converted("`[@hockney1994]`")
    assert html == "<p><code>[@hockney1994]</code></p>"
    assert findings == RenderState()
