"""A learning path as one document to print: cover, contents with page numbers, the guides in order.

An installed Chromium prints it, twice: the first print tells on which page each guide begins.
"""

import os
import posixpath
import re
import shutil
import subprocess
from collections.abc import Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.content.navigation import Entry, LearningPath
from builder.core.folders import RECEIPTS
from builder.core.problem import ServiceError
from builder.core.project import Project
from builder.pages import deferred_content

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chromium-headless-shell",
)
FLAGS = ("--headless", "--disable-gpu", "--no-sandbox", "--no-pdf-header-footer")
PATIENCE = 900  # seconds; a path has hundreds of pages
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
_SHEET = re.compile(r'rel="stylesheet" href="(?:\.\./)*([^"]+)"')
_RELATIVE = re.compile(r'\b(src|href)="(\.{1,2}/[^"#?]*)[^"#]*(#[^"]*)?"')
_ARTICLE = re.compile(r"<article>(.*)</article>", re.DOTALL)
_LEFT_OUT = re.compile(r"<(script|template)\b.*?</\1>", re.DOTALL)
_ID = re.compile(r'\b(id|for|href|aria-labelledby|aria-describedby)="(#?)([\w.:-]+)"')
_IN_STYLE = re.compile(r"url\(#([\w.:-]+)\)")
_OBJECT = re.compile(rb"(\d+) 0 obj(.*?)endobj", re.DOTALL)


def document(
    path: LearningPath,
    pages: Mapping[str, str],
    site: Path,
    sheet: str,
    numbers: Mapping[str, int],
    project: Project,
) -> str:
    """Return the HTML of the whole.

    Args:
        path: the guides in their order.
        pages: slug of a guide -> its finished page.
        site: the folder of the built site, from which pictures and fonts come.
        sheet: the address of the style sheet below it.
        numbers: slug -> page on which it begins, as far as that is known.
        project: whose book it is.
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
    styles = (site / sheet).resolve().as_uri()
    return (
        f'<!doctype html><html lang="{project.language}"><head><meta charset="utf-8">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="{styles}">'
        f'<style>{STYLES}</style></head><body class="guide"><main class="sheet">'
        f'<section class="cover"><p>{escape(project.name)}</p><h1>{escape(title)}</h1></section>'
        f'<nav class="book-contents"><h2>Contents</h2><ol>{rows}</ol></nav>{chapters}'
        "</main></body></html>"
    )


def _chapter(page: str, guide: Entry, path: LearningPath, site: Path) -> str:
    """Return a guide's article, unfolded, its ids apart from those of the others."""
    slug = guide.slug
    found = _ARTICLE.search(page)
    inside = _LEFT_OUT.sub("", found[1] if found else "")
    inside = re.sub(r"<details\b(?![^>]*\bopen\b)", "<details open", inside)
    ids = set(re.findall(r'\bid="([\w.:-]+)"', inside))

    def renamed(match: re.Match[str]) -> str:
        name, mark, value = match.groups()
        own = value in ids and (name != "href" or mark)
        return f'{name}="{mark}{slug}--{value}"' if own else match[0]

    inside = _ID.sub(renamed, _IN_STYLE.sub(rf"url(#{slug}--\1)", inside))
    return _addressed(inside, guide, path, site)


def _addressed(html: str, guide: Entry, path: LearningPath, site: Path) -> str:
    """Return the HTML with links into the book, and none to pages that are not in it."""
    inside = {one.url.rstrip("/"): one.slug for one in path.guides}

    def led(match: re.Match[str]) -> str:
        name, address, anchor = match[1], match[2], match[3] or ""
        place = posixpath.normpath(posixpath.join(guide.url, address))
        if name == "src":
            return f'src="{(site / place).resolve().as_uri()}"'
        if place not in inside:
            return ""
        slug = inside[place]
        return f'href="#{slug}{anchor and "--" + anchor[1:]}"'

    return _RELATIVE.sub(led, html)


def pages_of(pdf: bytes, names: list[str]) -> dict[str, int]:
    """Return name -> the page, from 1, that a link to it in the document leads to."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    order = _leaves(objects)
    found = {}
    for name in names:
        place = re.search(rb"/" + re.escape(name.encode()) + rb"\s*\[?\s*(\d+) 0 R", pdf)
        if place and int(place[1]) in order:
            found[name] = order.index(int(place[1])) + 1
    return found


def _leaves(objects: Mapping[int, bytes]) -> list[int]:
    """Return the numbers of the page objects in their order."""
    kids = {
        number: [int(kid) for kid in re.findall(rb"(\d+) 0 R", found[1])]
        for number, body in objects.items()
        if b"/Type /Pages" in body and (found := re.search(rb"/Kids\s*\[(.*?)\]", body, re.DOTALL))
    }
    children = {kid for found in kids.values() for kid in found}

    def walk(number: int) -> list[int]:
        if number not in kids:
            return [number]
        return [leaf for kid in kids[number] for leaf in walk(kid)]

    return [leaf for number in kids if number not in children for leaf in walk(number)]


def chromium() -> str:
    """Return the browser's path.

    Raises:
        ServiceError: there is none.
    """
    given = os.environ.get("WALLCLOCK_CHROMIUM") or ""
    path = given or next(filter(None, map(shutil.which, NAMES)), "")
    if not path:
        raise ServiceError(
            "a book is printed by Chromium; install one, or name it in WALLCLOCK_CHROMIUM"
        )
    return path


def printed(html: str, browser: str) -> bytes:
    """Return the document as PDF.

    Raises:
        ServiceError: the browser cannot print it.
    """
    with TemporaryDirectory() as temporary:
        source, target = Path(temporary) / "book.html", Path(temporary) / "book.pdf"
        source.write_text(html, "utf-8")
        own = f"--user-data-dir={Path(temporary) / 'profile'}"
        command = [browser, *FLAGS, own, f"--print-to-pdf={target}", source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServiceError(f"Chromium could not print: {error}") from error
        if done.returncode or not target.is_file():
            raise ServiceError(f"Chromium could not print: {done.stderr.strip()[-300:]}")
        return target.read_bytes()


def _whole(folder: Path) -> str:
    """Return a guide's page, and in it what lies in its folds."""
    page = (folder / "index.html").read_text("utf-8")
    receipts = folder / RECEIPTS / "index.html"
    return (
        deferred_content.joined(page, receipts.read_text("utf-8")) if receipts.is_file() else page
    )


def book(path: LearningPath, site: Path, project: Project) -> bytes:
    """Return the path as PDF, with the pages of its guides in the contents.

    Raises:
        ServiceError: there is no Chromium, or it cannot print.
    """
    browser = chromium()
    pages = {guide.slug: _whole(site / guide.url) for guide in path.guides}
    found = _SHEET.search(pages[path.guides[0].slug])
    sheet = found[1] if found else ""
    first = printed(document(path, pages, site, sheet, {}, project), browser)
    numbers = pages_of(first, [guide.slug for guide in path.guides])
    return printed(document(path, pages, site, sheet, numbers, project), browser)
