"""Prose -> Page: marks resolved, formulas filled in, the template around it.

Where the numbers of a page come from stands on a page of its own beside it: readers with a script
get it when one opens a number, all others by the link that every number is.
"""

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from builder.calculators import embed_pages
from builder.content import link_targets as links
from builder.content.article import Article
from builder.content.bibliography import Reference
from builder.content.learning_paths import Way
from builder.content.library import Library, Term
from builder.content.link_targets import Index
from builder.content.navigation import (
    Entry,
    LearningPath,
    Place,
    ReaderPath,
    ToolGroup,
    tools_by_path,
)
from builder.content.placeholders import fill
from builder.core.folders import RECEIPTS
from builder.core.problem import ContentError, Problem, located
from builder.core.project import Project
from builder.markdown import tex_to_mathml
from builder.markdown.article_html import Heading, Prose
from builder.markdown.extensions.glossary import term_id
from builder.theme.assets import Shell, needed

POLICY = (
    # The search compiles its WebAssembly on the page where its Worker does not start in time.
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'"
)


_HREF = re.compile(r'\bhref="(?!https?:)')

Shown = tuple[tuple[Term, str, str], ...]  # term, id, URL of its guide or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What all pages share.

    Attributes:
        project: whose pages they are.
        base_url: where the output will be published, "" if unknown.
        repository: address of the project's repository, "" if none.
        reload: address of the script that reloads the page while serving, "" otherwise.
        tools: name, title, question and url of every calculator's page.
    """

    project: Project
    shell: Shell
    paths: tuple[LearningPath, ...]
    readers: tuple[ReaderPath, ...]
    references: tuple[Entry, ...]
    tools: tuple[Entry, ...]
    base_url: str
    repository: str
    reload: str

    @property
    def toolbox(self) -> tuple[ToolGroup, ...]:
        """Return the tools as the home page lists them."""
        return tools_by_path(self.tools, self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Everything the template of one page gets: equal contents give equal pages.

    Addresses with a hash are marks (see builder/pages/asset_urls.py): `figures` stands for that of
    its charts, "" without any, `archives` for those of what only its calculators need to run. `way`
    is that of a path's page, `pictures` and `moving` those of guides by slug, still and in motion,
    for pages that list them. `card` is the address of the page's social card and what it says, both
    "" without one.
    """

    article: Article
    place: Place
    html: str
    headings: tuple[Heading, ...]
    receipts: tuple[str, ...]
    cited: tuple[Reference, ...]
    terms: Shown
    equations: tuple[tex_to_mathml.Template, ...]
    figures: str
    live: bool
    archives: str
    surface: Surface
    way: Way | None = None
    pictures: Mapping[str, str] = field(default_factory=dict)
    moving: Mapping[str, str] = field(default_factory=dict)
    card: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An article's HTML without marks; `written` gives each link's URL as the author wrote it."""

    html: str
    problems: tuple[Problem, ...]
    written: Mapping[str, str]


def root_of(url: str) -> str:
    """Return the way from a page back to the output folder: "./", "../../"."""
    return "../" * url.count("/") or "./"


def resolve(
    article: Article,
    prose: Prose,
    index: Index,
    images: Mapping[str, str],
    math: Mapping[str, str],
) -> Resolved:
    """Return the article's HTML without marks, and the links and images that lead nowhere.

    Args:
        article: whose prose it is.
        prose: with marks.
        index: what links can lead to.
        images: path from the project's folder -> where it lies in the output.
        math: name of a formula -> MathML.
    """
    wrong: list[Problem] = []
    written: dict[str, str] = {}
    root = root_of(article.url)

    def trying(argument: str, find: Callable[[str], str]) -> str:
        try:
            return find(argument)
        except ContentError as error:
            wrong.extend(located(article.source, article.body, argument, str(error)))
            return ""

    def url(link: str) -> str:
        target, anchor = links.resolve(link, article.source, index)
        at = "" if target is index[article.source] and anchor else (root + target.url or "./")
        found = at + (f"#{anchor}" if anchor else "")
        written[found] = link
        return found

    def image(source: str) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(article.source), source))
        if path not in images:
            raise ContentError(f"image '{source}': there is no file {path}")
        return root + images[path]

    html = fill(
        prose.html,
        {
            "page": lambda link: trying(link, url),
            "title": lambda link: trying(link, lambda x: links.title(x, article.source, index)),
            "image": lambda source: trying(source, image),
            "math": lambda name: math.get(name, ""),
        },
    )
    return Resolved(html=html, problems=tuple(wrong), written=written)


def with_labels(html: str, library: Library) -> str:
    """Return the HTML with "Author Year" in place of bare keys in the receipts' citations."""

    def one(match: re.Match[str]) -> str:
        known = library.references.get(match[2])
        return f"{match[1]}{escape(known.label) if known else match[2]}</a>"

    return re.sub(r'(<a data-cite="([^"]+)"[^>]*>)\2</a>', one, html)


def render(content: Content, templates: Any, blocks: Any) -> str:  # noqa: ANN401 (Jinja's)
    """Return the page's HTML.

    Args:
        content: what stands on it.
        templates: the Jinja environment of theme/templates.
        blocks: the module of blocks.html.
    """
    root = root_of(content.article.url)
    definitions = [
        str(blocks.definition(term, name, root + url if url else ""))
        for term, name, url in content.terms
    ]
    kinds = {"home": "home.html", "path": "path.html", embed_pages.KIND: embed_pages.TEMPLATE}
    return _filled(
        templates.get_template(kinds.get(content.article.kind, "guide.html")),
        content,
        root,
        popovers=definitions,
        # With receipts, they come with these.
        equations=[
            str(blocks.equation(entry)) for entry in content.equations if not content.receipts
        ],
        references=str(blocks.references(content.cited)) if content.cited else "",
    )


def receipts(content: Content, templates: Any, blocks: Any) -> str:  # noqa: ANN401 (Jinja's)
    """Return the page with the receipts of a page's numbers, "" where it has none.

    What only they show of the equations comes with them.
    """
    if not content.receipts:
        return ""
    beside = replace(
        content,
        html="",
        headings=(),
        live=False,
        figures="",
        receipts=tuple(_HREF.sub('href="../', one) for one in content.receipts),
    )
    return _filled(
        templates.get_template("receipts.html"),
        beside,
        root_of(content.article.url + RECEIPTS),
        popovers=[],
        equations=[str(blocks.equation(entry)) for entry in content.equations],
        references="",
        beside=True,
    )


def _filled(template: Any, content: Content, root: str, **rest: Any) -> str:  # noqa: ANN401
    """Return the HTML of a template with what all of them take, and with the rest."""
    html = str(
        template.render(
            content=content,
            article=content.article,
            place=content.place,
            surface=content.surface,
            project=content.surface.project,
            shell=content.surface.shell,
            root=root,
            policy=POLICY,
            **rest,
        )
    )
    return needed(html, content.surface.shell.some)


def cited(keys: tuple[str, ...], library: Library) -> tuple[Reference, ...]:
    """Return the references a page cites, by label; unknown keys are left out."""
    found = [library.references[key] for key in keys if key in library.references]
    return tuple(sorted(found, key=lambda entry: entry.place))


def terms(names: tuple[str, ...], library: Library, urls: Mapping[str, str], here: str) -> Shown:
    """Return (term, id, URL of its guide) of every term a page uses."""
    found = [library.terms[name.lower()] for name in names]
    return tuple(
        (term, term_id(term.name), "" if urls.get(term.see) == here else urls.get(term.see, ""))
        for term in found
    )


def figures_text(items: Mapping[str, str]) -> bytes:
    """Return the page's Bokeh documents, name -> JSON text, as one JSON file."""
    inside = ",".join(f"{one_line(name)}:{items[name]}" for name in sorted(items))
    return f"{{{inside}}}".encode()


def one_line(value: object) -> str:
    """Return a value as JSON, the same text for the same value."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
