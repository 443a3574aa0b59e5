"""Prints a learning path as PDF: cover, contents with page numbers, guides in order.

An installed Chromium prints it, twice: the first print tells on which page each guide begins.
"""

import os
import posixpath
import re
import shutil
import subprocess
from collections.abc import Mapping, Set
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from builder.content.navigation import LearningPath, PageLink
from builder.core import html_tree
from builder.core.folders import RECEIPTS
from builder.core.html_tree import Element
from builder.core.problem import ServiceError
from builder.core.project import Project
from builder.pages import page_passes

CHROMIUM_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chromium-headless-shell",
)
CHROMIUM_FLAGS = ("--headless", "--disable-gpu", "--no-sandbox", "--no-pdf-header-footer")
PRINT_TIMEOUT = 900  # seconds; a path has hundreds of pages
STYLES = """
@page { size: A4; margin: 18mm 17mm 20mm; @bottom-center { content: counter(page); } }
@page :first { @bottom-center { content: ""; } }
.sheet { display: block; }
.chapter { break-before: page; }
.cover { padding-top: 60mm; break-after: page; }
.book-contents ol { padding: 0; list-style: none; }
.book-contents li { display: flex; gap: 1em; }
.book-contents a { flex: 1; color: inherit; text-decoration: none; }
.book-contents .page { font-variant-numeric: tabular-nums; }
.breadcrumb, .tabs, .headerlink, .samples, [data-status], [data-own-job] { display: none; }
details.copy-as, details.data { display: none; }
.calculator, .scroll { overflow: visible; }
pre { white-space: pre-wrap; }
h2, h3 { break-after: avoid; }
"""
_REFERENCES = ("for", "aria-labelledby", "aria-describedby")  # attributes that name ids
_IN_STYLE = re.compile(r"url\(#([\w.:-]+)\)")
_OBJECT = re.compile(rb"(\d+) 0 obj(.*?)endobj", re.DOTALL)


def book_html(
    path: LearningPath,
    pages: Mapping[str, str],
    site: Path,
    stylesheet: str,
    numbers: Mapping[str, int],
    project: Project,
) -> str:
    """Return the HTML of the book.

    Args:
        path: the guides in their order.
        pages: slug of a guide -> its finished page.
        site: the folder of the built site, from which pictures and fonts come.
        stylesheet: the address of the style sheet below it.
        numbers: slug -> first page of the guide, as far as it is known.
        project: the project's settings.
    """
    rows = "".join(
        f'<li><a href="#{guide.slug}">{escape(guide.title)}</a>'
        f'<span class="page">{numbers.get(guide.slug, "")}</span></li>'
        for guide in path.guides
    )
    chapters = "".join(
        f'<section class="chapter" id="{guide.slug}">'
        f"{_chapter(pages[guide.slug], guide, path, site)}</section>"
        for guide in path.guides
    )
    title = f"Path {path.letter}: {path.name}"
    styles = (site / stylesheet).resolve().as_uri()
    return (
        f'<!doctype html><html lang="{project.language}"><head><meta charset="utf-8">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="{styles}">'
        f'<style>{STYLES}</style></head><body class="guide"><main class="sheet">'
        f'<section class="cover"><p>{escape(project.name)}</p><h1>{escape(title)}</h1></section>'
        f'<nav class="book-contents"><h2>Contents</h2><ol>{rows}</ol></nav>{chapters}'
        "</main></body></html>"
    )


def _chapter(page: str, guide: PageLink, path: LearningPath, site: Path) -> str:
    """Return a guide's article with open folds and with ids that are unique in the book."""
    article = html_tree.parse(page).first("article")
    if article is None:
        return ""
    for part in list(article.elements("script", "template")):
        part.replace_with()
    for fold in article.elements("details"):
        fold.set("open", None)
    ids = {element.get("id") for element in article.elements() if element.get("id")}
    slugs = {other.url.rstrip("/"): other.slug for other in path.guides}
    for element in article.elements():
        _set_unique_ids(element, ids, guide.slug)
        _set_book_links(element, guide, slugs, site)
    return article.inner_html()


def _set_unique_ids(element: Element, ids: Set[str], slug: str) -> None:
    """Put the slug of the guide before the ids that an element has and names."""

    def unique(name: str) -> str:
        return f"{slug}--{name}" if name in ids else name

    for name, value in element.attributes.items():
        new = value or ""
        if name == "id":
            new = unique(new)
        elif name == "href" and new.startswith("#"):
            new = f"#{unique(new[1:])}"
        elif name in _REFERENCES:
            new = " ".join(map(unique, new.split()))
        elif "url(#" in new:
            new = _IN_STYLE.sub(lambda match: f"url(#{unique(match[1])})", new)
        if new != (value or ""):
            element.set(name, new)


def _set_book_links(
    element: Element, guide: PageLink, slugs: Mapping[str, str], site: Path
) -> None:
    """Let an element lead to guides of the book and to files of the site, and to no other page."""
    for name in ("src", "href"):
        url = urlsplit(element.get(name))
        if not url.path.startswith(("./", "../")):
            continue
        target = posixpath.normpath(posixpath.join(guide.url, url.path))
        if name == "src":
            element.set(name, (site / target).resolve().as_uri())
        elif target in slugs:
            anchor = f"--{url.fragment}" if url.fragment else ""
            element.set(name, f"#{slugs[target]}{anchor}")
        else:
            element.drop(name)


def pages_of_links(pdf: bytes, names: list[str]) -> dict[str, int]:
    """Return name -> page number, from 1, of the link target with this name in a PDF."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    order = _page_objects(objects)
    pages = {}
    for name in names:
        match = re.search(rb"/" + re.escape(name.encode()) + rb"\s*\[?\s*(\d+) 0 R", pdf)
        if match and int(match[1]) in order:
            pages[name] = order.index(int(match[1])) + 1
    return pages


def _page_objects(objects: Mapping[int, bytes]) -> list[int]:
    """Return the numbers of a PDF's page objects in page order."""
    kids = {
        number: [int(kid) for kid in re.findall(rb"(\d+) 0 R", match[1])]
        for number, body in objects.items()
        if b"/Type /Pages" in body and (match := re.search(rb"/Kids\s*\[(.*?)\]", body, re.DOTALL))
    }
    children = {kid for page_kids in kids.values() for kid in page_kids}

    def walk(number: int) -> list[int]:
        if number not in kids:
            return [number]
        return [leaf for kid in kids[number] for leaf in walk(kid)]

    return [leaf for number in kids if number not in children for leaf in walk(number)]


def find_chromium() -> str:
    """Return the path of a Chromium browser.

    Raises:
        ServiceError: there is no Chromium.
    """
    configured = os.environ.get("WALLCLOCK_CHROMIUM") or ""
    path = configured or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), "")
    if not path:
        raise ServiceError(
            "a book is printed by Chromium; install one, or name it in WALLCLOCK_CHROMIUM"
        )
    return path


def print_pdf(html: str, browser: str) -> bytes:
    """Return the HTML printed as PDF.

    Raises:
        ServiceError: the browser cannot print it.
    """
    with TemporaryDirectory() as temporary:
        source, target = Path(temporary) / "book.html", Path(temporary) / "book.pdf"
        source.write_text(html, "utf-8")
        profile_option = f"--user-data-dir={Path(temporary) / 'profile'}"
        command = [
            browser,
            *CHROMIUM_FLAGS,
            profile_option,
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=PRINT_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServiceError(f"Chromium could not print: {error}") from error
        if process.returncode or not target.is_file():
            raise ServiceError(f"Chromium could not print: {process.stderr.strip()[-300:]}")
        return target.read_bytes()


def _page_with_receipts(folder: Path) -> str:
    """Return a guide's page with the content of its folds."""
    page = (folder / "index.html").read_text("utf-8")
    receipts = folder / RECEIPTS / "index.html"
    return (
        page_passes.restore_content(page, receipts.read_text("utf-8"))
        if receipts.is_file()
        else page
    )


def print_book(path: LearningPath, site: Path, project: Project) -> bytes:
    """Return a learning path as PDF, with page numbers in its contents.

    Raises:
        ServiceError: there is no Chromium, or it cannot print.
    """
    browser = find_chromium()
    pages = {guide.slug: _page_with_receipts(site / guide.url) for guide in path.guides}
    links = html_tree.parse(pages[path.guides[0].slug]).elements("link")
    sheets = (link.get("href") for link in links if link.get("rel") == "stylesheet")
    stylesheet = next(sheets, "").lstrip("./")
    draft = print_pdf(book_html(path, pages, site, stylesheet, {}, project), browser)
    numbers = pages_of_links(draft, [guide.slug for guide in path.guides])
    return print_pdf(book_html(path, pages, site, stylesheet, numbers, project), browser)
