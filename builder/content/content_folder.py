"""Reads the content folder: articles, library files and images; checks of SVG."""

import re
import xml.etree.ElementTree as etree
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from builder.content import article, library
from builder.content.article import Article
from builder.content.library import Library
from builder.core import text_files
from builder.core.build_cache import BuildCache
from builder.core.folders import Folders, digest, files
from builder.core.problem import Problem
from builder.core.project import Project

_PARSER_DIGEST = digest((Path(__file__).with_name("article.py").read_bytes(),))


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteContent:
    """All articles and images, the library, and the digest of the library files.

    With `problems` it is incomplete: a file could not be read, so links to it are not checked.
    `key_problems` are those of the front matter of articles that could be read otherwise.
    """

    articles: tuple[Article, ...]
    library: Library
    library_digest: str
    images: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    key_problems: tuple[Problem, ...] = ()


def read_content(
    folders: Folders, *, drafts: bool, build_cache: BuildCache | None = None
) -> SiteContent:
    """Return the content of the project; drafts only on request.

    With a build cache, an unchanged article is not parsed again.
    """
    cache = build_cache or BuildCache()
    paths = files(folders.content)
    problems = [
        *text_files.name_problems(folders, paths),
        *svg_file_problems(folders, paths),
    ]
    articles: list[Article] = []
    key_problems: list[Problem] = []
    for path in paths:
        if not path.name.endswith(".md"):
            continue
        source = path.relative_to(folders.root).as_posix()
        text, file_problems = text_files.read_text(path, source)
        parsed, article_problems = (
            (None, file_problems) if file_problems else _parse_cached(source, text, cache)
        )
        if parsed is None:
            problems += article_problems
        else:
            key_problems += article_problems
        if parsed is not None and (drafts or not parsed.draft):
            articles.append(parsed)
    library_texts: list[str] = []
    for name in library.FILES:
        text, file_problems = text_files.read_text(folders.root / name, name)
        problems += file_problems
        library_texts.append(text)
    shared_library, file_problems = library.parse_library(*library_texts)
    return SiteContent(
        articles=tuple(_with_home_page(articles, folders.project)),
        library=shared_library,
        library_digest=digest(library_texts),
        images=_read_images(folders, paths),
        problems=(*problems, *file_problems),
        key_problems=tuple(key_problems),
    )


def _parse_cached(
    source: str, text: str, cache: BuildCache
) -> tuple[Article | None, list[Problem]]:
    key = digest((_PARSER_DIGEST, text))
    return cache.get(f"article {source}", key, partial(article.parse_article, source, text))


def _with_home_page(articles: list[Article], project: Project) -> list[Article]:
    if any(article.kind == "home" for article in articles):
        return articles
    # A folder of guides without a home page still gets one, with the list of guides.
    home = Article(
        source="content/index.md",
        slug="index",
        url="",
        kind="home",
        title=project.name,
        summary=project.summary,
        text="",
        body="",
    )
    return [home, *articles]


def _read_images(folders: Folders, paths: Iterable[Path]) -> Mapping[str, bytes]:
    """Return path, relative to the project, -> content of every image in the content folder."""
    suffixes = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif")
    return {
        path.relative_to(folders.root).as_posix(): path.read_bytes()
        for path in paths
        if path.suffix.lower() in suffixes
    }


# Checks of SVG images: only drawing elements, no scripts and no external references.
#
# On a page such a file is a picture, in which a browser runs nothing. Opened by its own address it
# is a document of the site.

_TAGS = (
    "svg g defs symbol use title desc metadata style path rect circle ellipse line polyline "
    "polygon text tspan textPath image marker pattern mask clipPath filter linearGradient "
    "radialGradient stop view switch animate animateTransform animateMotion mpath a"
)
_ALLOWED_TAGS = frozenset(_TAGS.split())
_EMBEDDED = re.compile(r"#|data:image/(png|jpeg|webp|gif);")
_EXTERNAL_REFERENCE = re.compile(r"@import|url\((?!\s*[\"']?#)", re.IGNORECASE)
_DECLARATION = re.compile(r"<!(DOCTYPE|ENTITY)|<\?(?!xml\s)", re.IGNORECASE)


def svg_file_problems(folders: Folders, paths: Iterable[Path]) -> list[Problem]:
    """Return the problems of the SVG files among these paths."""
    problems = []
    for path in paths:
        if path.suffix.lower() == ".svg":
            text = path.read_bytes().decode(errors="replace")
            source = path.relative_to(folders.root).as_posix()
            problems += [
                Problem(source, _line_of(text, snippet), message)
                for snippet, message in svg_problems(text)
            ]
    return problems


def svg_problems(text: str) -> Iterator[tuple[str, str]]:
    """Yield (snippet of the text, message) for content that an SVG image may not have."""
    declaration = _DECLARATION.search(text)
    if declaration:
        yield declaration[0], f"{declaration[0]} is not allowed in a drawing"
        return
    try:
        root = etree.fromstring(text.lstrip("\ufeff"))
    except etree.ParseError as error:
        yield "", f"is no SVG: {error}"
        return
    for elem in root.iter():
        space, _, tag = elem.tag.rpartition("}")
        if "svg" in space or not space:
            yield from _element_problems(elem, tag)


def _element_problems(elem: etree.Element, tag: str) -> Iterator[tuple[str, str]]:
    if tag not in _ALLOWED_TAGS and not tag.startswith("fe"):
        yield f"<{tag}", f"the tag <{tag}> is not allowed in a drawing"
    if tag == "style" and _EXTERNAL_REFERENCE.search(elem.text or ""):
        yield "<style", "a style of a drawing loads nothing"
    for name, value in elem.attrib.items():
        local_name = name.rpartition("}")[2]
        if local_name.lower().startswith("on"):
            yield local_name, f"the attribute '{local_name}' is not allowed in a drawing"
        is_link = local_name == "href" or (local_name == "attributeName" and value.endswith("href"))
        if is_link and not (
            _EMBEDDED.match(value) or (tag == "a" and value.startswith("https://"))
        ):
            yield value, f"'{value}' is not allowed in a drawing; it loads nothing"
        if _EXTERNAL_REFERENCE.search(value):
            yield value, f"'{value}' is not allowed in a drawing; it loads nothing"


def _line_of(text: str, snippet: str) -> int:
    position = text.find(snippet) if snippet else -1
    return text.count("\n", 0, position) + 1 if position >= 0 else 1
