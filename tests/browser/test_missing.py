"""The page for an address that leads nowhere offers what its words find."""

import functools
import http.server
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.conftest import WINDOW, Handler
from tests.browser.hosting import hosting

pytestmark = pytest.mark.browser
HITS = ".hits li"


class Lost(Handler):
    """A host of the whole name, which answers an unknown address as GitHub Pages does."""

    def translate_path(self, path: str) -> str:
        return http.server.SimpleHTTPRequestHandler.translate_path(self, path)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        body = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def root(site: Path) -> Iterator[str]:
    with hosting(functools.partial(Lost, directory=str(site))) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def lost(browser, root):
    context = browser.new_context(viewport=WINDOW, service_workers="block")
    page = context.new_page()
    page.set_default_timeout(30_000)

    def go(address: str):
        page.goto(root + address)
        return page

    yield go
    context.close()


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("guides/pipeline-schedule/", "Pipeline schedule lab"),
        ("guides/old-pipeline-schedules.html", "Pipeline schedule lab"),
        ("deep/er/glossary/index.html", "Glossary"),
    ],
)
def test_the_words_of_the_address_are_searched_for(lost, address, title):
    page = lost(address)
    page.locator(HITS).first.wait_for()
    assert title in page.locator(".hit-title").all_text_contents()
    page.locator(f"{HITS} a", has_text=title).first.click()
    expect(page.locator("h1")).to_have_text(title)


def test_a_page_whose_address_has_the_words_comes_first(lost):
    page = lost("guides/zero/")
    page.locator(HITS).first.wait_for()
    first = page.locator(f"{HITS} a").first.get_attribute("href")
    assert "/guides/zero-" in (first or "")


def test_other_words_can_be_asked(lost):
    page = lost("nothing/of/the/kind-wzrq")
    box = page.get_by_role("searchbox")
    box.fill("roofline")
    expect(page.locator("[data-missing-said]")).to_contain_text("found.", timeout=30_000)
    assert page.locator(HITS).count() > 0
    box.fill("wzrqwzrq")
    said = page.locator("[data-missing-said]")
    expect(said).to_have_text("Nothing was found for wzrqwzrq.", timeout=30_000)


def test_without_its_index_it_says_so_and_leads_home(lost):
    page = lost("guides/lost-ring/")
    page.route("**/where.json", lambda route: route.abort())
    page.reload()
    expect(page.locator("[data-missing-said]")).to_contain_text("could not be loaded")
    assert page.get_by_role("link", name="Start from the guides.").get_attribute("href") == "/"


def test_in_whatever_folder_the_site_lies_it_has_its_header_and_finds_its_pages(browser, site):
    class Below(Lost):
        def translate_path(self, path: str) -> str:
            inside = path.removeprefix("/deep/er/")
            return super().translate_path("/" + inside if inside != path else "/nowhere/")

    with hosting(functools.partial(Below, directory=str(site))) as port:
        context = browser.new_context(viewport=WINDOW, service_workers="block")
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/deep/er/guides/zero/index.html")
        page.locator(HITS).first.wait_for()
        ways = page.locator(".masthead a").evaluate_all("all => all.map((one) => one.pathname)")
        assert ways[:3] == ["/deep/er/", "/deep/er/paths/", "/deep/er/tools/"]
        page.wait_for_function("() => [...document.fonts].some((one) => one.status === 'loaded')")
        page.get_by_role("link", name="Tools").click()
        expect(page.locator("h1")).to_have_text("Tools")
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_no_violation(lost, scheme):
    page = lost("guides/ring/")
    page.emulate_media(color_scheme=scheme)
    page.locator(HITS).first.wait_for()
    assert violations(page) == []
