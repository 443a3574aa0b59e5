"""Marks stand in prose until the page knows what they say."""

import pytest

from builder.content import link_targets


def test_a_mark_names_its_kind_and_its_argument():
    assert link_targets.page_placeholder("ring#a") == "⟦page=ring#a⟧"
    assert link_targets.title_placeholder("ring") == "⟦title=ring⟧"
    assert link_targets.image_placeholder("a.svg") == "⟦image=a.svg⟧"
    assert link_targets.math_placeholder("m1") == "⟦math=m1⟧"


@pytest.mark.parametrize("kind", ["page", "title", "image"])
def test_what_replaces_a_mark_is_text(kind):
    html = link_targets.fill_placeholders(f"a ⟦{kind}=b⟧ c", {kind: lambda given: f'<{given}> & "'})
    assert html == "a &lt;b&gt; &amp; &quot; c"


def test_a_formula_is_html():
    html = link_targets.fill_placeholders(
        "a ⟦math=b⟧ c", {"math": lambda given: f"<math>{given} &amp;</math>"}
    )
    assert html == "a <math>b &amp;</math> c"


def test_every_mark_is_asked_for_by_its_kind_and_its_argument_as_text():
    answers = {"page": "P {}".format, "title": "T {}".format}
    html = link_targets.fill_placeholders("⟦page=a&amp;b⟧⟦title=⟧-⟦page=c⟧", answers)
    assert html == "P a&amp;bT -P c"


@pytest.mark.parametrize("text", ["", "⟦asset=a⟧", "⟦page a⟧", "⟦page=a", "⟦page=a⟦b", "page:a⟧"])
def test_what_is_no_mark_stays(text):
    assert link_targets.fill_placeholders(text, {}) == text


def test_a_mark_ends_at_its_first_bracket():
    assert link_targets.fill_placeholders("⟦page=⟦page=a⟧⟧", {"page": str.upper}) == "⟦page=A⟧"
