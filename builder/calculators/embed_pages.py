"""Embed pages: one page per calculator, `embed/NAME/`, for iframes on other sites."""

from collections.abc import Mapping
from pathlib import Path

from builder.calculators.calculator_context import CalculatorContext
from builder.content.article import Article

KIND, TEMPLATE = "embed", "embed.html"


def embed_articles(
    theme: Path, calculators: Mapping[str, CalculatorContext]
) -> tuple[Article, ...]:
    """Return generated articles that hold one calculator each.

    A theme without a template for them has none.
    """
    if not (theme / "templates" / TEMPLATE).is_file():
        return ()
    return tuple(
        Article(
            source=f"embed/{calculator.name}",
            slug=f"embed-{calculator.name}",
            url=f"embed/{calculator.name}/",
            kind=KIND,
            title=calculator.title,
            question=calculator.question,
            summary=calculator.question,
            text=f"[[{calculator.name}]]",
            body=f"[[{calculator.name}]]",
        )
        for calculator in calculators.values()
    )
