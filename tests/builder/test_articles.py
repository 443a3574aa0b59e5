"""Every article of the site by itself: its Markdown renders without a problem."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from builder import pipeline
from builder.calculators import calculator_context
from builder.content import library
from builder.content.article import parse_article
from builder.core import folders
from builder.markdown import article_html, article_rendering
from builder.markdown.render_state import RenderContext

ROOT = Path(__file__).parents[2]
ARTICLES = {path.stem: path for path in folders.files(ROOT / "content", "*.md")}


@cache
def load(name):
    """A calculator with empty pictures and no sources.

    What Node draws has tests of its own; all that a receipt cites, whatever is chosen, is looked up
    by the tests of the calculator and by the build.
    """
    found = calculator_context.load_without_sources(name)[0]
    extra = found.reply["extra"]
    pictures = dict.fromkeys(extra["spoken"], "<svg></svg>")
    reply = {**found.reply, "extra": {**extra, "svg": pictures}}
    return replace(found, reply=reply, sources=dict.fromkeys(found.outputs, ()))


@cache
def around():
    shelf = [(ROOT / name).read_text("utf-8") for name in library.FILES]
    templates = pipeline.load_templates(ROOT / "theme" / "templates", ROOT / ".cache")
    macros = [templates.get_template(name).module for name in ("calculator.html", "blocks.html")]
    return RenderContext(
        library=library.parse_library(*shelf)[0],
        load=load,
        expand=article_rendering.expand_body,
        macros=macros[0],
        blocks=macros[1],
    )


@pytest.mark.parametrize("slug", ARTICLES)
def test_an_article_renders_without_a_problem(slug):
    path = ARTICLES[slug]
    article, problems = parse_article(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    assert problems == []
    made = article_html.render(article, around())
    assert list(map(str, made.problems)) == []
    assert made.html
