"""What is found while an article is rendered is kept in its order, and forgotten for the next."""

from dataclasses import fields
from types import SimpleNamespace

from builder.calculators import calculator_context
from builder.markdown.render_state import RenderContext, RenderState, record_value


def test_nothing_is_found_in_the_beginning_nor_after_the_article_before():
    before = RenderState(
        problems=[("a", "b")],
        in_sentences=[("a", "b")],
        cites={"a": None},
        terms={"a": None},
        calculators={"a": None},
        figures={("a", "b"): None},
        values={("a", "b"): None},
        receipts=["a"],
        titles={"a": "b"},
        links=["a"],
        images=["a"],
        formulas={("a", True): None},
        raw=[("a", "b")],
        answers=[("a", "b")],
    )
    before.unique_id("a")
    assert all(getattr(before, one.name) for one in fields(before))
    before.clear()
    assert before == RenderState()
    assert not any(getattr(before, one.name) for one in fields(before))


def test_an_id_is_told_from_its_repeats_by_a_number():
    found = RenderState()
    named = [found.unique_id(name) for name in ("a", "b", "a", "a", "b")]
    assert named == ["a", "b", "a-2", "a-3", "b-2"]
    found.clear()
    assert found.unique_id("a") == "a"


def test_a_value_that_is_shown_gets_its_receipt_and_its_references_once():
    found = RenderState(cites={"z": None, "y": None})
    ring = SimpleNamespace(name="ring", sources={"time": ("x", "y"), "size": ()})
    for name in ("time", "size", "time"):
        record_value(ring, name, found)
    assert list(found.calculators) == ["ring"]
    assert list(found.values) == [("ring", "time"), ("ring", "size")]
    assert list(found.cites) == ["z", "y", "x"]


def test_articles_are_rendered_with_the_engine_and_as_they_are_written():
    around = RenderContext(library=None, load=None, macros=None, blocks=None)
    assert around.at is calculator_context.value_at
    assert around.expand("## A\n") == "## A\n"
