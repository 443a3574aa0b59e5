"""What an author of another site sees: the page follows the file, and keeps its inputs."""

import queue
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import WINDOW
from tests.browser.reading import arrive
from tests.browser.test_second_site import ROOT, copied

pytestmark = pytest.mark.browser
PATIENCE = 240  # seconds for the first build beside other tests


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):
    """A copy of the second site, and the address at which it is served."""
    project = copied(tmp_path_factory.mktemp("serving"))
    command = [sys.executable, str(ROOT / "build.py"), "serve", "--project", str(project)]
    server = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True)
    lines: queue.Queue[str] = queue.Queue()
    reader = threading.Thread(target=lambda: [lines.put(one) for one in server.stdout])
    reader.start()
    said = ""
    while not said.startswith("serving"):
        said = lines.get(timeout=PATIENCE)
    yield project, re.search(r"http://\S+/", said)[0]
    server.terminate()
    server.wait()
    reader.join()
    server.stdout.close()


@pytest.fixture
def page(served, browser: Browser):
    page = browser.new_context(viewport=WINDOW).new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{served[1]}guides/one-counter/")
    # A watch that has just begun may still report the copy itself; the page is then loaded again.
    page.wait_for_timeout(1500)
    arrive(page)
    yield page
    page.context.close()


def edited(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")


def test_an_edit_shows_by_itself_and_the_inputs_stay(served, page):
    wait = page.locator('.number[data-output="wait"]').first
    load = page.locator('input[name="load"][data-of="single_counter"]').first
    load.fill("50")
    load.press("Enter")
    expect(wait).to_have_text("3.00 min", timeout=60_000)
    guide = served[0] / "content/guides/one-counter.md"
    guide.write_text(guide.read_text("utf-8") + "\nA new sentence.\n", "utf-8")
    expect(page.get_by_text("A new sentence.")).to_be_visible(timeout=60_000)
    arrive(page)
    expect(wait).to_have_text("3.00 min", timeout=60_000)
    formula = served[0] / "queueing/formulas/counters.py"
    edited(formula, "return ", "return 2 * ")
    expect(wait).not_to_have_text("3.00 min", timeout=60_000)
    expect(load).to_have_value("50 %")
    edited(formula, "return 2 * ", "return ")


def test_an_error_is_shown_with_its_file_its_line_and_its_text(served, page):
    guide = served[0] / "content/guides/one-counter.md"
    guide.write_text(guide.read_text("utf-8") + "\nA ??word??.\n", "utf-8")
    told = page.locator("[data-problems]")
    expect(told).to_contain_text("content/guides/one-counter.md:", timeout=60_000)
    expect(told).to_contain_text(re.compile(r"> +\d+ \| A \?\?word\?\?\."))
    edited(guide, "\nA ??word??.\n", "")
    expect(told).to_have_count(0, timeout=60_000)
