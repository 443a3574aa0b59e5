"""A page for every calculator alone, `embed/NAME/`, which any other page can show in an iframe."""

from collections.abc import Mapping
from pathlib import Path

from builder.calculators.calculator_context import Live
from builder.content.article import Article

KIND, TEMPLATE = "embed", "embed.html"


def articles(theme: Path, calculators: Mapping[str, Live]) -> tuple[Article, ...]:
    """Return the articles that hold one calculator each; nobody has written them.

    A theme without a template for them has none.
    """
    if not (theme / "templates" / TEMPLATE).is_file():
        return ()
    return tuple(
        Article(
            source=f"embed/{one.name}",
            slug=f"embed-{one.name}",
            url=f"embed/{one.name}/",
            kind=KIND,
            title=one.title,
            question=one.question,
            summary=one.question,
            text=f"[[{one.name}]]",
            body=f"[[{one.name}]]",
        )
        for one in calculators.values()
    )
