"""What holds on every page of the built site, as it arrives: each is opened once for all of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.conftest import WINDOW
from tests.browser.pages import PAGES
from tests.browser.test_a11y import violations

pytestmark = pytest.mark.browser
WIDTHS = (820, 360)
TOO_WIDE = "() => document.documentElement.scrollWidth > innerWidth"
WITHOUT_REPORT = ".receipt:not(:has([data-report]))"


@dataclass(slots=True)
class Seen:
    """What was seen of a page, all of it in one visit."""

    light: list[str] = field(default_factory=list)
    dark: list[str] = field(default_factory=list)
    too_wide: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    without_report: int = 0


def look(page: Page, address: str) -> Seen:
    """Look at a page in light and dark, in a wide window and in narrow ones."""
    seen = Seen()
    page.on("console", lambda m: m.type == "error" and seen.errors.append(m.text))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.goto(address)
    seen.light = violations(page)
    page.emulate_media(color_scheme="dark")
    seen.dark = violations(page, "color-contrast")  # of a scheme only colors depend
    seen.without_report = page.locator(WITHOUT_REPORT).count()
    for width in WIDTHS:  # every page is laid out by its styles alone
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate(TOO_WIDE):
            seen.too_wide.append(width)
    return seen


@pytest.fixture(scope="module", params=PAGES)
def seen(reader: BrowserContext, base: str, request: pytest.FixtureRequest) -> Iterator[Seen]:
    page = reader.new_page()
    page.set_default_timeout(60_000)
    yield look(page, base + request.param)
    page.set_viewport_size(WINDOW)
    page.close()


def test_a_page_has_no_violation(seen):
    assert (seen.light, seen.dark) == ([], [])


def test_a_page_is_not_wider_than_the_window(seen):
    assert seen.too_wide == []


def test_a_page_reports_no_error(seen):
    assert seen.errors == []


def test_every_receipt_of_a_page_offers_to_report_its_number(seen):
    assert seen.without_report == 0


def test_every_page_of_the_site_is_looked_at(site):
    found = {path.parent.relative_to(site).as_posix() for path in site.rglob("index.html")}
    written = {path for path in found if not path.startswith("embed/")}
    assert {(path.rstrip("/") or ".") for path in PAGES} == written
