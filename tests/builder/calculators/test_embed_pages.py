"""A page for every calculator alone, where the theme has a template for it."""

from types import SimpleNamespace

from builder.calculators import calculator_context


def test_a_theme_without_a_template_has_no_pages_to_embed(tmp_path):
    assert calculator_context.embed_articles(tmp_path, {"ring": SimpleNamespace(name="ring")}) == ()


def test_every_calculator_has_an_article_that_places_it_alone(tmp_path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / calculator_context.EMBED_TEMPLATE).touch()
    one = SimpleNamespace(name="ring_time", title="Ring", question="How long?")
    (found,) = calculator_context.embed_articles(tmp_path, {"ring_time": one})
    assert (found.url, found.kind, found.body) == ("embed/ring_time/", "embed", "[[ring_time]]")
    assert (found.title, found.summary) == ("Ring", "How long?")
