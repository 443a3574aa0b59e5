"""What a page needs only once its calculators are used is had once, in an order that packs well."""

from types import SimpleNamespace

import pytest

from builder.core import html_tree
from builder.markdown import article_html
from builder.markdown.article_tree import make_receipt, read_facts
from builder.markdown.render_state import RenderContext, RenderState


def test_receipts_of_one_equation_lie_side_by_side():
    texts = [
        '<p data-equation="b.x">1',
        '<p data-equation="a.x">2',
        "<p>3",
        '<p data-equation="b.x">4',
        '<p data-equation="a.x"><p data-equation="c">5',
        '<p data-equation="a.x">6',
    ]
    receipts = [make_receipt(text, {}) for text in texts]
    order = [2, 1, 5, 4, 0, 3]
    assert article_html._sort_by_equation(receipts) == [receipts[at] for at in order]


CALCULATORS = {
    "ring": SimpleNamespace(
        name="ring",
        presets=("a",),
        groups=(),
        fields=(SimpleNamespace(name="size"), SimpleNamespace(name="kind")),
    ),
    "tree": SimpleNamespace(
        name="tree", presets=(), groups=(), fields=(SimpleNamespace(name="kind"),)
    ),
}
LATER = RenderContext(
    library=None,
    blocks=None,
    load=CALCULATORS.__getitem__,
    macros=SimpleNamespace(
        rulers=lambda found: f"rulers of {found.name}",
        presets=lambda found: f"presets of {found.name}",
        options=lambda found, field: f"{field.name} of {found.name}",
        receipt=lambda found, output: f"{output} of {found.name}",
    ),
)


def whole(calculator):
    return f'<section class="calculator" id="{calculator}-2" data-calculator="{calculator}">'


def choice(name, calculator):
    return f'<select name="{name}" data-of="{calculator}" data-more>'


@pytest.mark.parametrize(
    ("html", "later"),
    [
        ("", []),
        (whole("ring") + whole("ring"), ["presets of ring"]),
        (whole("tree"), []),
        (choice("kind", "ring"), ["kind of ring"]),
        ('<select name="kind" data-of="ring">', []),
        (
            choice("kind", "tree")
            + choice("size", "ring")
            + choice("kind", "tree")
            + whole("ring"),
            ["presets of ring", "kind of tree", "size of ring"],
        ),
    ],
)
def test_presets_and_further_options_are_had_once_a_calculator_is_used(html, later):
    facts = read_facts(html_tree.parse(html))
    assert list(article_html._deferred_parts(facts, LATER)) == later


def test_each_value_on_the_page_has_its_receipt():
    found = RenderState(values={("ring", "time"): None, ("tree", "time"): None})
    assert article_html._receipts(found, LATER) == ["time of ring", "time of tree"]
