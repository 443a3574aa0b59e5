"""A page that was visited opens without a network, and its figures still answer."""

import functools
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import LAB, SUB_PATH, WINDOW, Handler
from tests.browser.hosting import hosting

pytestmark = pytest.mark.browser

KEPT = """async () => {
  const names = (await (await caches.open("wallclock-visited")).keys()).map(({ url }) => url);
  return ["python-", "engine-", "library-", "/guides/gradient-sync-lab/"]
    .every((part) => names.some((name) => name.includes(part)));
}"""


def wait(page: Page, condition: str) -> None:
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never true: {condition}")


def test_a_visited_page_works_when_the_host_is_gone(browser: Browser, site: Path):
    handler = functools.partial(Handler, directory=str(site))
    context = browser.new_context(viewport=WINDOW)
    with hosting(handler) as port:
        address = f"http://127.0.0.1:{port}{SUB_PATH}{LAB}"
        page = context.new_page()
        page.goto(address)
        page.locator("#gradient_sync").scroll_into_view_if_needed()
        page.locator("#gradient_sync[data-state=live]").wait_for(timeout=60_000)
        wait(page, KEPT)
        page.close()
    again = context.new_page()
    again.goto(f"{address}?gradient_sync.world_size=128")
    number = again.locator("#gradient_sync [data-output=all_reduce_time]")
    again.locator("#gradient_sync[data-state=live]").wait_for(timeout=60_000)
    wait(again, "() => document.querySelector('#gradient_sync [name=world_size]').value === '128'")
    assert number.text_content() == "76.8 ms"
    context.close()


class Damaged(Handler):
    """A host that sends the standard library cut short, until it is mended."""

    broken = True

    def copyfile(self, source, outputfile):
        if Damaged.broken and "library-" in self.path:
            outputfile.write(b"\0" * Path(source.name).stat().st_size)
        else:
            super().copyfile(source, outputfile)


def test_a_damaged_file_is_not_kept_and_retry_recovers(browser: Browser, site: Path):
    handler = functools.partial(Damaged, directory=str(site))
    with hosting(handler) as port:
        context = browser.new_context(viewport=WINDOW)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}{SUB_PATH}{LAB}")
        wait(page, "() => Boolean(navigator.serviceWorker.controller)")
        page.locator("#gradient_sync").scroll_into_view_if_needed()
        page.locator("#gradient_sync[data-state=failed]").wait_for(timeout=60_000)
        said = page.locator("#gradient_sync [data-status-text]").text_content() or ""
        assert "damaged" in said
        kept = page.evaluate(
            """async () => (await (await caches.open("wallclock-visited")).keys())
              .map(({ url }) => url).filter((url) => url.includes("library-"))"""
        )
        assert kept == []
        Damaged.broken = False
        page.locator("[data-retry]:visible").first.click()
        page.locator("#gradient_sync[data-state=live]").wait_for(timeout=60_000)
        context.close()
