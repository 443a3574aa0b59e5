"""Renders a page: resolves placeholders, inserts formulas and fills the page template.

The receipts of a page's numbers are on a page of their own: its script fetches them when a reader
opens a number, and without scripts every number links to them.
"""

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from builder.calculators import calculator_context
from builder.content import link_targets as links
from builder.content.article import Article
from builder.content.bibliography import Reference
from builder.content.learning_paths import PathPage
from builder.content.library import Library, Term
from builder.content.link_targets import LinkTargets, fill_placeholders
from builder.content.navigation import (
    LearningPath,
    PageLink,
    PagePosition,
    ReaderPath,
    ToolGroup,
    ToolShelf,
    tools_by_learning_path,
)
from builder.core.folders import RECEIPTS
from builder.core.problem import ContentError, Problem, problems_where
from builder.core.project import Project
from builder.markdown import tex_to_mathml
from builder.markdown.article_html import ArticleHtml, Heading
from builder.markdown.extensions.references import term_id
from builder.theme.assets import Shell

POLICY = (
    # The search compiles its WebAssembly on the page if its Worker does not start in time.
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'"
)


UsedTerms = tuple[tuple[Term, str, str], ...]  # term, id, URL of its guide or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The part of the template context that all pages share.

    Attributes:
        project: settings of the project.
        base_url: URL at which the output will be published, "" if unknown.
        repository: URL of the project's repository, "" if none.
        reload: URL of the script that reloads the page while serving, "" otherwise.
        tools: name, title, question and URL of every calculator's page.
        data: names of the data files.
        shelves: slug -> URL of the pages that list a folder.
        tool_shelves: the tools' own pages by what a reader holds.
    """

    project: Project
    shell: Shell
    paths: tuple[LearningPath, ...]
    readers: tuple[ReaderPath, ...]
    references: tuple[PageLink, ...]
    tools: tuple[PageLink, ...]
    base_url: str
    repository: str
    reload: str
    data: tuple[str, ...] = ()
    shelves: Mapping[str, str] = field(default_factory=dict)
    tool_shelves: tuple[ToolShelf, ...] = ()

    @property
    def toolbox(self) -> tuple[ToolGroup, ...]:
        """Return the calculators by the learning path of their guide."""
        return tools_by_learning_path(self.tools, self.paths)

    @property
    def author_urls(self) -> tuple[str, ...]:
        """Return the URLs of the reference pages that are for authors."""
        return tuple(page.url for page in self.references if page.url.startswith("authors/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """The template context of one page: equal contents give equal pages.

    Hashed URLs are placeholders (see builder/pages/page_context.py): `figures` is that of its
    charts, "" without any, `archives` that of its calculators' archives. `path_page` is the
    learning path of a path's page; `pictures` and `moving` map slugs of guides to still and
    animated figures, on pages that list guides. `card` is the URL and the alt text of the page's
    social card, both "" without one. `image_sizes` maps the `src` of an image to its width and
    height; `glossary` is the URL of the glossary relative to the page, "" without one.
    """

    article: Article
    place: PagePosition
    html: str
    headings: tuple[Heading, ...]
    receipts: tuple[str, ...]
    cited: tuple[Reference, ...]
    terms: UsedTerms
    equations: tuple[tex_to_mathml.Template, ...]
    figures: str
    live: bool
    archives: str
    surface: Surface
    path_page: PathPage | None = None
    pictures: Mapping[str, str] = field(default_factory=dict)
    moving: Mapping[str, str] = field(default_factory=dict)
    card: tuple[str, str] = ("", "")
    image_sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    glossary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedHtml:
    """An article's HTML and its receipts with resolved placeholders.

    `written` maps URLs to links as written, `images` those of images to their paths.
    """

    html: str
    receipts: tuple[str, ...]
    problems: tuple[Problem, ...]
    written: Mapping[str, str]
    images: Mapping[str, str]


def relative_root(url: str) -> str:
    """Return the relative URL from a page to the output folder, such as "./" or "../../"."""
    return "../" * url.count("/") or "./"


class Formulas(Protocol):
    """Typeset formulas: MathML by formula key, and templates by equation name."""

    @property
    def math(self) -> Mapping[str, str]:
        """MathML by formula key."""

    @property
    def templates(self) -> Mapping[str, tex_to_mathml.Template]:
        """Templates by equation name."""


def resolve_links(
    article: Article,
    prose: ArticleHtml,
    index: LinkTargets,
    images: Mapping[str, str],
    formulas: Formulas,
) -> ResolvedHtml:
    """Return the article's HTML with resolved placeholders, and the problems of broken links.

    Args:
        article: of the HTML.
        prose: rendered HTML with placeholders.
        index: link targets.
        images: path from the project's folder -> path in the output.
        formulas: typeset; the others are reported elsewhere.
    """
    problems: list[Problem] = []
    written: dict[str, str] = {}
    shown: dict[str, str] = {}
    root = relative_root(article.url)

    def trying(argument: str, find: Callable[[str], str]) -> str:
        try:
            return find(argument)
        except ContentError as error:
            problems.extend(problems_where(article.source, article.body, argument, str(error)))
            return ""

    def url(link: str) -> str:
        target, anchor = links.resolve_link(link, article.source, index)
        base = "" if target is index[article.source] and anchor else (root + target.url or "./")
        relative_url = base + (f"#{anchor}" if anchor else "")
        written[relative_url] = link
        return relative_url

    def image(source: str) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(article.source), source))
        if path not in images:
            raise ContentError(f"image '{source}': there is no file {path}")
        shown[root + images[path]] = path
        return root + images[path]

    def equation(argument: str) -> str:
        name, _, numbers = argument.partition(" ")
        template = formulas.templates.get(name)
        return tex_to_mathml.equation_html(template, json.loads(numbers)) if template else ""

    def symbol(argument: str) -> str:
        name, _, key = argument.rpartition(".")
        template = formulas.templates.get(name)
        return template.symbols.get(key, "") if template else ""

    fill = partial(
        fill_placeholders,
        replacements={
            "page": lambda link: trying(link, url),
            "title": lambda link: trying(
                link, lambda x: links.link_title(x, article.source, index)
            ),
            "image": lambda source: trying(source, image),
            "math": lambda name: formulas.math.get(name, ""),
            "equation": equation,
            "symbol": symbol,
        },
    )
    html, receipts = fill(prose.html), tuple(map(fill, prose.receipts))
    return ResolvedHtml(
        html=html, receipts=receipts, problems=tuple(problems), written=written, images=shown
    )


def render_page(content: PageContent, templates: Any, blocks: Any) -> str:  # noqa: ANN401 (Jinja's)
    """Return the page's HTML.

    Args:
        content: template context of the page.
        templates: the Jinja environment of theme/templates.
        blocks: the module of blocks.html.
    """
    root = relative_root(content.article.url)
    kinds = {
        "home": "home.html",
        "path": "path.html",
        "shelf": "shelf.html",
        "course": "course.html",
        calculator_context.EMBED_KIND: calculator_context.EMBED_TEMPLATE,
    }
    return _render_template(
        templates.get_template(kinds.get(content.article.kind, "guide.html")),
        content,
        root,
        # A page with receipts has its definitions, equations and source labels on that page.
        popovers=[] if content.receipts else _definitions(content, blocks, root, popover=True),
        equations=[
            str(blocks.equation(entry)) for entry in content.equations if not content.receipts
        ],
        references=str(blocks.references(content.cited, labeled=not content.receipts))
        if content.cited
        else "",
    )


def _definitions(content: PageContent, blocks: Any, root: str, *, popover: bool) -> list[str]:  # noqa: ANN401
    return [
        str(blocks.definition(term, name, root + url if url else "", popover=popover))
        for term, name, url in content.terms
    ]


def render_receipts(content: PageContent, templates: Any, blocks: Any) -> str:  # noqa: ANN401 (Jinja's)
    """Return the receipts page of a page's numbers, "" if it has none.

    It also holds the equations that only receipts show, definitions and labels of sources.
    """
    if not content.receipts:
        return ""
    receipts_content = replace(
        content,
        html="",
        headings=(),
        live=False,
        figures="",
    )
    root = relative_root(content.article.url + RECEIPTS)
    return _render_template(
        templates.get_template("receipts.html"),
        receipts_content,
        root,
        popovers=[],
        definitions=_definitions(content, blocks, root, popover=False),
        source_labels={entry.key: entry.label for entry in content.cited},
        equations=[str(blocks.equation(entry)) for entry in content.equations],
        references="",
        beside=True,
    )


def _render_template(template: Any, content: PageContent, root: str, **template_values: Any) -> str:  # noqa: ANN401
    """Return the HTML of a template rendered with the common context and `template_values`."""
    return str(
        template.render(
            content=content,
            article=content.article,
            place=content.place,
            surface=content.surface,
            project=content.surface.project,
            shell=content.surface.shell,
            root=root,
            policy=POLICY,
            citation=cite_page(content.article, content.surface.project, content.surface.base_url),
            **template_values,
        )
    )


def cited_references(keys: tuple[str, ...], library: Library) -> tuple[Reference, ...]:
    """Return the references a page cites, by label; unknown keys are left out."""
    references = [library.references[key] for key in keys if key in library.references]
    return tuple(sorted(references, key=lambda entry: entry.sort_key))


def used_terms(
    names: tuple[str, ...], library: Library, urls: Mapping[str, str], here: str
) -> UsedTerms:
    """Return (term, id, URL of its guide) of every term a page uses."""
    used = [library.terms[name.lower()] for name in names]
    return tuple(
        (term, term_id(term.name), "" if urls.get(term.see) == here else urls.get(term.see, ""))
        for term in used
    )


def figures_json(items: Mapping[str, str]) -> bytes:
    """Return one JSON file of the page's Bokeh documents, name -> JSON text."""
    inside = ",".join(f"{compact_json(name)}:{items[name]}" for name in sorted(items))
    return f"{{{inside}}}".encode()


def compact_json(value: object) -> str:
    """Return a value as compact JSON with sorted keys."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


# Citations of a page: a line of text and a BibTeX entry, without a script.

_SPECIAL = re.compile(r"[&%$#_{}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A citation of a page: `text` has no address, a script or a reader adds it."""

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
