"""Citations of a page: a line of text and a BibTeX entry, without a script."""

import re
from dataclasses import dataclass

from builder.content.article import Article
from builder.core.project import Project

_SPECIAL = re.compile(r"[&%$#_{}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """How a page is cited: `text` has no address, a script or a reader adds it."""

    text: str
    bibtex: str


def cite_page(article: Article, project: Project, base_url: str) -> Citation:
    """Return the citation of a page; its date is that of its last change, or of the release."""
    date = article.updated or project.released
    title = project.name if article.kind == "home" else article.title
    key = "_".join(filter(None, (project.key, re.sub(r"\W+", "_", article.url).strip("_"))))
    fields = {
        "title": _escaped(title),
        "author": f"{{{_escaped(project.name)}}}",
        "year": date[:4],
        "date": date,
        "version": project.version,
        "url": f"{base_url}{article.url}" or "./",
    }
    filled = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items() if text)
    named = title if article.kind == "home" else f"{title}. {project.name}"
    edition = ", ".join(filter(None, (f"{named} {project.version}".strip(), date)))
    return Citation(text=f"{edition}.", bibtex=f"@misc{{{key},\n{filled}\n}}")


def _escaped(text: str) -> str:
    """Return text in which no character has a meaning for LaTeX."""
    return _SPECIAL.sub(r"\\\g<0>", text)
