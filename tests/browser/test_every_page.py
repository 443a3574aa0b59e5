"""What holds on every page of the built site."""

from pathlib import Path

import pytest

from tests.browser.test_a11y import violations

pytestmark = pytest.mark.browser


def pages(site: Path) -> list[str]:
    return [path.parent.relative_to(site).as_posix() + "/" for path in site.rglob("index.html")]


# Of a scheme only colors depend.
@pytest.mark.parametrize(("scheme", "rules"), [("light", ()), ("dark", ("color-contrast",))])
def test_no_page_has_a_violation(visit, base, site, scheme, rules):
    page, found = visit("", color_scheme=scheme), {}
    for path in pages(site):
        page.goto(base + path)
        found[path] = violations(page, *rules)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("width", [360, 820])
def test_no_page_is_wider_than_the_window(visit, base, site, width):
    page, wider = visit("", viewport={"width": width, "height": 900}), []
    for path in pages(site):
        page.goto(base + path)
        if page.evaluate("() => document.documentElement.scrollWidth") > width:
            wider.append(path)
    assert wider == []


def test_no_page_reports_an_error(visit, base, watch, site):
    page = visit("")
    for path in pages(site):
        page.goto(base + path)
    assert watch.errors == []


def test_every_receipt_offers_to_report_its_number(visit, base, site):
    page, without = visit(""), {}
    for path in pages(site):
        page.goto(base + path)
        lost = page.locator(".receipt:not(:has([data-report]))").count()
        without |= {path: lost} if lost else {}
    assert without == {}
