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

KEEPS = """async () => (await (await caches.open("wallclock-visited")).keys())
  .some(({{ url }}) => url.endsWith("{part}"))"""


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
    assert number.text_content() == "79.8 ms"
    context.close()


FAR = "window.IntersectionObserver = class { observe() {} unobserve() {} disconnect() {} };"


def test_a_page_of_which_no_figure_came_near_is_kept_after_a_while(browser: Browser, site: Path):
    handler = functools.partial(Handler, directory=str(site))
    context = browser.new_context(viewport=WINDOW)
    with hosting(handler) as port:
        page = context.new_page()
        page.add_init_script(FAR)
        page.clock.install()
        page.goto(f"http://127.0.0.1:{port}{SUB_PATH}guides/rooflines/")
        page.clock.run_for(8000)
        page.clock.resume()
        wait(page, KEEPS.format(part="/guides/rooflines/"))
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


def test_without_a_network_an_unknown_page_gives_way_to_the_list_of_what_is_kept(
    browser: Browser, site: Path
):
    handler = functools.partial(Handler, directory=str(site))
    context = browser.new_context(viewport=WINDOW)
    with hosting(handler, hangs_up=True) as port:
        home = f"http://127.0.0.1:{port}{SUB_PATH}"
        page = context.new_page()
        page.goto(home + "reference/glossary/")
        page.locator("body[data-kept]").wait_for()
        wait(page, KEEPS.format(part="/reference/glossary/"))
        wait(page, KEEPS.format(part="/reference/kept/"))
        page.goto(home + LAB)
        page.locator("body[data-kept]").wait_for()
        wait(page, KEEPS.format(part=LAB))
        page.goto(home + "reference/kept/")
        assert page.locator("[data-wanted]").is_hidden()
        page.close()
    again = context.new_page()
    again.goto(f"{home}guides/zero-1/?zero_1_lab.stage=1")
    again.wait_for_url("**/reference/kept/?wanted=*")
    rows = again.locator("[data-kept-pages] a").all_text_contents()
    assert rows == ["Glossary", "Gradient sync lab"]
    assert "to read" in (again.locator("[data-kept-pages] li").nth(1).text_content() or "")
    wanted = again.locator("[data-wanted] a")
    assert (wanted.get_attribute("href") or "") == f"{home}guides/zero-1/?zero_1_lab.stage=1"
    again.get_by_role("link", name="Glossary", exact=True).last.click()
    again.wait_for_url("**/reference/glossary/")
    assert again.locator("h1").text_content() == "Glossary"
    context.close()


def test_an_address_of_another_host_is_not_offered_as_the_page_that_was_wanted(
    browser: Browser, site: Path
):
    handler = functools.partial(Handler, directory=str(site))
    context = browser.new_context(viewport=WINDOW)
    with hosting(handler) as port:
        page = context.new_page()
        kept = f"http://127.0.0.1:{port}{SUB_PATH}reference/kept/"
        page.goto(kept)
        wait(page, "() => Boolean(navigator.serviceWorker.controller)")
        page.goto(f"{kept}?wanted=https%3A%2F%2Fexample.org%2F")
        assert page.locator("[data-wanted]").is_hidden()
        context.close()
