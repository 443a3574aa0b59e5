"""What holds on every page of the built site, as it arrives: each is opened once for all of it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from builder.outputs.library_wheel import FOLDER as PACKAGES
from tests.browser.axe import in_both_schemes
from tests.browser.conftest import WINDOW, Opened
from tests.browser.pages import PAGES
from tests.each import each

pytestmark = pytest.mark.browser
WIDTHS = (820, 360)
TOO_WIDE = "() => document.documentElement.scrollWidth > innerWidth"


@dataclass(slots=True)
class Seen:
    """What was seen of a page, all of it in one visit."""

    violations: list[str] = field(default_factory=list)
    too_wide: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def look(opened: Opened) -> Seen:
    """Look at a page in light and dark, in a wide window and in narrow ones."""
    page, seen = opened.page, Seen(errors=opened.errors)
    seen.violations = in_both_schemes(page)
    for width in WIDTHS:  # every page is laid out by its styles alone
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate(TOO_WIDE):
            seen.too_wide.append(width)
    page.set_viewport_size(WINDOW)
    return seen


@pytest.fixture(scope="module", params=PAGES)
def seen(opened: Callable[[str], Opened], request: pytest.FixtureRequest) -> Seen:
    return look(opened(request.param))


def test_a_page_has_no_violation(seen):
    assert seen.violations == []


def test_a_page_is_not_wider_than_the_window(seen):
    assert seen.too_wide == []


def test_a_page_reports_no_error(seen):
    assert seen.errors == []


@each("address", PAGES)
def test_every_receipt_of_a_page_offers_to_report_its_number(site, address):
    page = site / address / "receipts" / "index.html"
    text = page.read_text("utf-8") if page.is_file() else ""
    receipts = text.split('<div class="receipt"')[1:]
    assert [one[:200] for one in receipts if "data-report" not in one] == []


def test_every_page_of_the_site_is_looked_at(site):
    found = {path.parent.relative_to(site).as_posix() for path in site.rglob("index.html")}
    written = {path for path in found if not path.startswith("embed/")}
    written = {path for path in written if not path.endswith("receipts")}
    written.remove(PACKAGES.rstrip("/"))  # a bare list of wheels, which pip reads
    assert {(path.rstrip("/") or ".") for path in PAGES} == written
