"""Placements become what the templates make of them, and the page notes what it shows."""

from types import SimpleNamespace

import pytest
from markdown import Markdown

from builder.calculators import calculator_context
from builder.calculators.calculator_context import CalculatorContext
from builder.content.library import Library
from builder.core.problem import ContentError
from builder.markdown.extensions.calculators import PlacementExtension, block_html, sentence_html
from builder.markdown.extensions.references import CitationExtension, GlossaryExtension
from builder.markdown.render_state import RenderContext, RenderState

KINDS = {
    "time": "value",
    "bytes": "value",
    "verdict": "badge",
    "late": "value",
    "rows": "table",
    "curve": "lines",
    "bars": "bars",
    "lanes": "timeline",
    "heat": "heatmap",
    "frames": "scene",
    "words": "formula",
}
RING = CalculatorContext(
    name="ring",
    title="The ring",
    question="How long?",
    headline="time",
    groups={},
    fields=(SimpleNamespace(name="size", kind="number"), SimpleNamespace(name="n", kind="number")),
    outputs={name: {"kind": kind, "also": "1 <GiB>"} for name, kind in KINDS.items()},
    presets=(),
    reply={},
    views={},
    equations=(),
    sources={name: (f"of-{name}",) for name in KINDS},
    job=(),
    searches=False,
)
CHARTS = ["curve", "bars", "lanes", "heat", "frames"]
ALL = " ".join(KINDS)
NO_PLACEMENT = "a placement with settings or '|also' has to stand in a sentence"


def at(found, settings, output):
    told = (
        f'[{found.name} {settings["size"]} {output}] <a data-cite="a">A</a> <a data-cite="b">B</a>'
    )
    return {"also": "2 <GiB>"}, told


def names(found, ids, only=None):
    shown = " ".join(found.outputs if only is None else only)
    return f" calculator {found.name}: {shown} ({ids('x')}) "


MACROS = SimpleNamespace(
    calculator=names,
    field=lambda found, field, ids: f"field {found.name}.{field.name} {ids('f')}",
    output_block=lambda found, name: f"block {found.name}.{name}",
    inline_input=lambda found, field: f"input {found.name}.{field.name}",
    badge=lambda found, name: f"badge {found.name}.{name}",
    also=lambda found, name: f"also {found.name}.{name}",
    value=lambda found, name: f" value {found.name}.{name} ",
    fixed_value=lambda view, name: f"fixed {view['also']} {name}",
    fixed_receipt=lambda view, name, receipt: f"receipt {view['also']} {name} {receipt}",
)
AROUND = RenderContext(
    library=Library(references={}, terms={}),
    load=lambda name: RING,
    macros=MACROS,
    blocks=None,
    at=at,
)


@pytest.fixture(autouse=True)
def one(monkeypatch):
    monkeypatch.setattr(calculator_context, "calculator_names", lambda: ("ring",))


def block(inside):
    findings = RenderState()
    return block_html(inside, AROUND, findings), findings


def sentence(inside):
    findings = RenderState()
    return sentence_html(inside, AROUND, findings), findings


def converted(text):
    findings = RenderState()
    return Markdown(extensions=[PlacementExtension(AROUND, findings)]).convert(text), findings


def test_a_whole_calculator_shows_all_its_outputs():
    html, findings = block("ring")
    assert html == f" calculator ring: {ALL} (x) "
    assert list(findings.values) == [("ring", "time"), ("ring", "bytes"), ("ring", "late")]
    assert list(findings.figures) == [("ring", name) for name in CHARTS]
    assert list(findings.cites) == ["of-time", "of-bytes", "of-late", "of-rows"]
    assert list(findings.calculators) == ["ring"]
    assert findings.titles == {"ring": "The ring"}


def test_a_calculator_without_some_outputs_notes_none_of_them():
    html, findings = block("ring without=time,bytes,late,curve,bars,lanes,heat,rows")
    assert html == " calculator ring: verdict frames words (x) "
    assert findings.values == {}
    assert list(findings.figures) == [("ring", "frames")]
    assert findings.cites == {}
    assert findings.titles == {"ring": "The ring"}


def test_the_inputs_of_a_calculator_come_with_the_numbers_that_stand_first():
    html, findings = block("ring.inputs")
    assert html == " calculator ring: time bytes (x) "
    assert list(findings.values) == [("ring", "time"), ("ring", "bytes")]
    assert findings.figures == {}
    assert list(findings.calculators) == ["ring"]
    assert findings.titles == {"ring": "The ring"}


@pytest.mark.parametrize("name", ["size", "n"])
def test_an_input_alone_is_its_field(name):
    html, findings = block(f"ring.{name}")
    assert html == f"field ring.{name} f"
    assert list(findings.calculators) == ["ring"]
    assert findings.titles == {}
    assert findings.values == {}


@pytest.mark.parametrize(
    ("name", "values", "figures", "cites"),
    [
        ("bytes", [("ring", "bytes")], [], ["of-bytes"]),
        ("rows", [], [], ["of-rows"]),
        ("verdict", [], [], []),
        ("words", [], [], []),
        *((name, [], [("ring", name)], []) for name in CHARTS),
    ],
)
def test_an_output_alone_is_noted_by_its_kind(name, values, figures, cites):
    html, findings = block(f"ring.{name}")
    assert html == f"block ring.{name}"
    assert list(findings.values) == values
    assert list(findings.figures) == figures
    assert list(findings.cites) == cites
    assert list(findings.calculators) == ["ring"]
    assert findings.titles == {}


def test_a_block_with_settings_is_refused_before_anything_is_noted():
    findings = RenderState()
    with pytest.raises(ContentError, match=r"^a placement with settings or '\|also' has to stand"):
        block_html("ring.time size=1", AROUND, findings)
    assert findings == RenderState()


@pytest.mark.parametrize("name", ["size", "n"])
def test_an_input_in_a_sentence_can_be_dragged(name):
    html, findings = sentence(f"ring.{name}")
    assert html == f"input ring.{name}"
    assert list(findings.calculators) == ["ring"]


def test_a_number_in_a_sentence_has_a_receipt():
    html, findings = sentence("ring.time")
    assert html == " value ring.time "
    assert list(findings.values) == [("ring", "time")]
    assert list(findings.cites) == ["of-time"]
    assert list(findings.calculators) == ["ring"]


def test_a_number_in_the_other_unit_has_a_receipt_too():
    html, findings = sentence("ring.time|also")
    assert html == "also ring.time"
    assert list(findings.values) == [("ring", "time")]


def test_a_badge_in_a_sentence_is_a_badge():
    html, findings = sentence("ring.verdict")
    assert html == "badge ring.verdict"
    assert list(findings.calculators) == ["ring"]
    assert findings.values == {}


def test_a_chart_in_a_sentence_is_refused():
    with pytest.raises(ContentError, match=r"^'ring\.curve' \(lines\) cannot stand in a sentence"):
        sentence("ring.curve")


def test_a_fixed_number_has_a_receipt_of_its_own_and_its_sources():
    html, findings = sentence("ring.time size=3")
    assert html == "fixed 2 <GiB> receipt-fixed"
    told = '[ring 3 time] <a data-cite="a">A</a> <a data-cite="b">B</a>'
    assert findings.receipts == [f"receipt 2 <GiB> receipt-fixed {told}"]
    assert list(findings.cites) == ["a", "b"]
    assert list(findings.calculators) == ["ring"]
    assert findings.values == {}


def test_a_second_fixed_number_has_another_name():
    findings = RenderState()
    made = [sentence_html("ring.time size=3", AROUND, findings) for _ in range(2)]
    assert made == ["fixed 2 <GiB> receipt-fixed", "fixed 2 <GiB> receipt-fixed-2"]


def test_a_fixed_number_in_the_other_unit_has_no_receipt():
    html, findings = sentence("ring.time size=3|also")
    assert html == '<span class="also">2 &lt;GiB&gt;</span>'
    assert findings.receipts == []
    assert findings.cites == {}
    assert list(findings.calculators) == ["ring"]


def test_a_paragraph_that_is_one_placement_is_a_block():
    html, findings = converted("A.\n\n [[ring.time]] \n\nB.")
    assert html == "<p>A.</p>\n<p>block ring.time</p>\n<p>B.</p>"
    assert findings.problems == []


def test_the_html_of_a_block_has_no_space_around_it():
    assert converted("[[ring.inputs]]")[0] == "<p>calculator ring: time bytes (x)</p>"


def test_a_block_that_cannot_be_used_is_named_and_leaves_nothing():
    html, findings = converted("A.\n\n[[ring.time|also]]\n\nB.")
    assert html == "<p>A.</p>\n<p>B.</p>"
    assert findings.problems == [("[[ring.time|also]]", NO_PLACEMENT)]
    assert findings.in_sentences == []


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("It takes [[ring.time]].", "<p>It takes value ring.time.</p>"),
        ("[[ring.time]] [[ring.n]]", "<p>value ring.time input ring.n</p>"),
        ("[[ring.time]](a)", "<p>value ring.time(a)</p>"),
        ("`[[ring.time]]`", "<p><code>[[ring.time]]</code></p>"),
        ("[[Ring]] [[9]] [[]]", "<p>[[Ring]] [[9]] [[]]</p>"),
    ],
)
def test_a_placement_in_a_sentence_is_replaced_where_it_stands(text, html):
    assert converted(text)[0] == html


def test_a_placement_in_a_sentence_that_cannot_be_used_is_named_and_goes():
    html, findings = converted("See [[ring.curve]] now.")
    assert html == "<p>See  now.</p>"
    message = "'ring.curve' (lines) cannot stand in a sentence; give it a paragraph of its own"
    assert findings.in_sentences == [("[[ring.curve]]", message)]
    assert findings.problems == []


def test_placements_come_before_citations_and_terms_in_whatever_order_they_are_registered():
    findings, shelf = RenderState(), AROUND.library
    extensions = [
        GlossaryExtension(shelf, findings),
        CitationExtension(shelf, findings),
        PlacementExtension(AROUND, findings),
    ]
    made = Markdown(extensions=extensions)
    order = sorted(made.inlinePatterns._priority, key=lambda one: -one.priority)
    assert [one.name for one in order][2:6] == ["live", "cite", "glossary", "reference"]
    blocks = sorted(made.parser.blockprocessors._priority, key=lambda one: -one.priority)
    assert [one.name for one in blocks][2:5] == ["code", "live", "hashheader"]
