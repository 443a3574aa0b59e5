"""What a page sends beyond what all pages share: its text, its figures, its calculators."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.browser.pages import PAGES
from tests.each import each

pytestmark = pytest.mark.browser
MOST = 325_000  # bytes, compressed as a host sends them; a sixth are methods that start faster
TO_READ = 60_800  # the same of a guide and all it needs before a figure is near
# The signs of thirty formats, and what is said of a job once it is read; a reader comes when a text
# is of its format (5 to 20 kB, the words of a script another 32, the library for YAML 113).
READERS = {"tools/import": 350_000, "guides/bring-your-own-job": 370_000}
PUBLISHED = 400  # of them for the address and the card of a published page, which this one has not
LEAST = {"zero-1": 49_000, "rooflines": 45_100}


@each("address", PAGES)
def test_no_page_sends_more_than_its_share(site, address):
    page = site / address / "index.html"
    html = page.read_text("utf-8")
    # What moves is fetched alone, when the reader points at it.
    at_once = re.sub(r'<img\b[^>]*? src="[^"]*/moving-[^>]*>', "", html)
    own = [
        page,
        *_files(page, re.findall(r'data-figures="([^"]+)"|<img\b[^>]*? src="([^"]+)"', at_once)),
    ]
    archives = json.loads(_first(r"data-archives='([^']*)'", html) or "{}")
    at_once = [paths for name, paths in archives.items() if "." not in name]
    own += [site / path.lstrip("./") for paths in at_once for path in paths]
    assert sum(sent(file) for file in set(own)) <= READERS.get(address.strip("/"), MOST)


@each("address", [address for address in PAGES if address.startswith("guides/")])
def test_no_guide_sends_more_than_its_share_before_a_figure_is_near(site, address):
    page = site / address / "index.html"
    html = page.read_text("utf-8")
    named = re.findall(r'<link rel="stylesheet" href="([^"]+)"|<script[^>]* src="([^"]+)"', html)
    named += re.findall(r'<img\b[^>]*? src="([^"]+)"()', html)
    files = {page, *_files(page, named)}
    if "data-archives" not in html:  # a page with live figures is kept once one is near
        offline = re.findall(r'data-offline="([^"]+)"()', html)
        files |= {site / "reference/kept/index.html", *_files(page, offline)}
        receipts = re.findall(r'data-receipts="([^"]+)"', html)
        files |= {page.parent / one / "index.html" for one in receipts}
    for sheet in [file for file in files if file.suffix == ".css"]:
        fonts = re.findall(r"url\((?!data:)\"?([^)\"]+)", sheet.read_text("utf-8"))
        files |= {sheet.parent / font for font in fonts}
    for script in [file for file in files if file.name == "main.js"]:
        imported = re.findall(r'\bfrom"(\./[^"]+)"', script.read_text("utf-8"))
        files |= {script.parent / path for path in imported}
    most = LEAST.get(page.parent.name, TO_READ) - PUBLISHED
    assert sum(sent(file) for file in files) <= most


@each("address", PAGES)
def test_every_calculator_that_a_page_asks_has_all_that_it_needs(site, address):
    html = (site / address / "index.html").read_text("utf-8")
    archives = json.loads(_first(r"data-archives='([^']*)'", html) or "{}")
    parts = re.findall(r'<[^>]*\bdata-of="([^"]+)"[^>]*>', html)
    # That of a finished number, whose receipt has a number for its name, nobody asks for.
    numbers = re.findall(r'href="receipts/#receipt-(?!fixed\b)(\w+)-', html)
    assert {*parts, *numbers} == {name for name in archives if "." not in name}


def _files(page: Path, found: list[tuple[str, str]]) -> list[Path]:
    """Return the files that a page's attributes name."""
    addresses = {address for pair in found for address in pair if address}
    return [(page.parent / one).resolve() for one in addresses if not one.startswith("data:")]


def sent(file: Path) -> int:
    """Return the bytes of a file on the wire: what is packed already is not packed again."""
    data = file.read_bytes()
    return min(len(data), len(gzip.compress(data)))


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""
