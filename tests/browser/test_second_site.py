"""Another site by the same generator: its own field, engine, theme, language; used by a reader."""

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WINDOW, Handler
from tests.browser.hosting import hosting
from tests.browser.reading import arrive

pytestmark = pytest.mark.browser
expect.set_options(timeout=60_000)  # Python has to start
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "second_site"


class Plain(Handler):
    """The host of the first site, at the root."""

    def translate_path(self, path: str) -> str:
        return super().translate_path("/wallclock" + path)


def copied(place: Path) -> Path:
    """A copy of the project."""
    project = place / "second"
    shutil.copytree(SOURCE, project, ignore=shutil.ignore_patterns("__pycache__", ".cache", "site"))
    return project


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built by the command from a copy of the project that lies anywhere."""
    project = copied(tmp_path_factory.mktemp("anywhere"))
    command = [sys.executable, str(ROOT / "build.py"), "build", "--project", str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "site"


@pytest.fixture(scope="module")
def errors() -> list[str]:
    return []


@pytest.fixture(scope="module")
def open_page(folder: Path, browser: Browser, errors: list[str]) -> Iterator[object]:
    context = browser.new_context(viewport=WINDOW, service_workers="block")
    with hosting(functools.partial(Plain, directory=str(folder))) as port:

        def opened(path: str) -> Page:
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.on("console", lambda m: m.type == "error" and errors.append(m.text))
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(f"http://127.0.0.1:{port}/{path}")
            arrive(page)  # charts come alive when a reader does
            return page

        yield opened
    context.close()


def number(page: Page, name: str) -> object:
    return page.locator(f'.number[data-output="{name}"]').first


def test_nothing_of_the_first_site_is_in_it(folder):
    texts = {path: path.read_text("utf-8") for path in folder.rglob("*") if is_text(path)}
    assert len(texts) > 10
    assert [
        path for path, text in texts.items() if re.search(r"Wallclock|GPU|training", text)
    ] == []


def is_text(path):
    return path.suffix in (".html", ".md", ".txt", ".xml") and "panels" not in path.parts


def test_the_field_of_the_first_site_does_not_travel(folder):
    sizes = [path.stat().st_size for path in folder.glob("assets/runtime/engine-*.bin")]
    assert len(sizes) == 1
    assert sizes[0] < 81_000


def test_name_language_and_theme_are_its_own(open_page):
    page = open_page("guides/one-counter/")
    expect(page).to_have_title("One counter · Waiting & Serving")
    assert page.locator("html").get_attribute("lang") == "en-GB"
    expect(page.locator(".wordmark")).to_have_text("Waiting & Serving, please")
    expect(page.locator(".masthead nav a")).to_have_text(["Lines", "Many counters"])
    expect(page.locator(".skip")).to_have_text("Jump the queue")
    expect(page.locator(".onward")).to_contain_text("Next, please: Many counters")
    expect(page.locator(".masthead")).to_have_css("border-bottom-style", "double")
    expect(page.locator(".footer")).to_contain_text("Real customers are not as patient")
    expect(page.locator("body")).to_have_attribute("data-paper", "as on the screen")


def test_the_links_of_the_header_are_its_own(open_page):
    page = open_page("guides/one-counter/")
    page.locator(".masthead nav a", has_text="Many counters").click()
    expect(page).to_have_title("Many counters, one line · Waiting & Serving")


def test_what_is_copied_as_python_asks_its_own_engine(open_page):
    page = open_page("guides/one-counter/")
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; }")
    page.locator(".copy-as summary").first.click()
    page.locator('[data-copy-as="python"]:enabled').first.click()
    page.wait_for_function("() => window.copied")
    assert "active_project.CALCULATORS = 'queueing.calculators'\n" in page.evaluate("window.copied")


def test_a_number_in_a_sentence_follows_its_input(open_page, errors):
    page = open_page("guides/one-counter/")
    assert number(page, "wait").text_content() == "12.0 min"
    assert number(page, "in_line").text_content() == "3.20"
    load = page.locator('input[name="load"][data-of="single_counter"]').first
    load.fill("50")
    expect(number(page, "wait")).to_have_text("3.00 min")
    load.press("Enter")
    expect(load).to_have_value("50 %")  # its unit comes back, and the words behind it move
    number(page, "wait").click()
    receipt = page.locator("#receipt-single_counter-wait")
    expect(receipt).to_be_visible()
    expect(receipt).to_contain_text("Nobody leaves the line.")
    assert errors == []


def test_the_player_of_another_field_plays(open_page, errors):
    page = open_page("guides/many-counters/")
    figure = page.locator("figure[data-of=counter_hours]").first
    figure.locator("[data-play]:enabled").click()
    expect(figure.locator("[data-play]")).to_have_text("Pause")
    page.locator('input[name="counters"][data-of="counter_hours"]').first.fill("3")
    expect(number(page, "mean_wait")).not_to_have_text("47.8 s")
    assert errors == []
