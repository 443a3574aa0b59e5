"""Packages in a reader's browser: a pure and a compiled one from a registry, one from a folder."""

import functools
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from builder.cli import new_project
from builder.project.python_packages import LOCK
from tests.browser.conftest import UNTIL_KEPT, WINDOW
from tests.browser.hosting import hosting
from tests.browser.reading import arrive
from tests.browser.test_second_site import ROOT, Plain

pytestmark = pytest.mark.browser
CALCULATOR = '''"""Three packages: one is only Python, one is compiled, one comes from a folder."""

from dataclasses import dataclass
from typing import Annotated

import css_inline
from iniconfig import IniConfig
from own_words import WORD

from engine.core.inputs import Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count

TITLE = "Mail"
QUESTION = "How long is a mail with its styles inside?"
HEADLINE = "signs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    words: Annotated[
        float, Number(label="Words", unit=Unit("", 1.0), low=1.0, high=99.0, whole=True)
    ] = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the page."""

    read: Annotated[Count, Output("What the pure package read")]
    signs: Annotated[Count, Output("Signs of the mail")]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    read = int(IniConfig("mail", data=f"[mail]\\nwords = {inputs.words:.0f}")["mail"]["words"])
    mail = css_inline.inline(f"<style>p {{ color: red }}</style><p>{WORD * read}</p>")
    assert 'style="color: red' in mail
    return Result(read=float(read), signs=float(mail.count("word")))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    return Presenter(inputs, result, equations=()).values("read", "signs")
'''


def wheel(folder: Path) -> None:
    """Write a wheel of one's own."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "own_words-1.0-py3-none-any.whl", "w") as opened:
        opened.writestr("own_words/__init__.py", "WORD = 'word '\n")
        told = "own_words-1.0.dist-info"
        opened.writestr(f"{told}/METADATA", "Name: own_words\nVersion: 1.0\n")
        opened.writestr(f"{told}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        opened.writestr(f"{told}/RECORD", "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with three packages, built; skipped where no registry answers."""
    root = tmp_path_factory.mktemp("packages") / "mail"
    new_project.make_project(root)
    wheel(root / "wheels")
    site = root / "site.toml"
    named = 'packages = ["iniconfig", "css-inline", "own-words==1.0"]\nwheels = "wheels"\n'
    site.write_text(site.read_text().replace('language = "en"\n', f'language = "en"\n{named}'))
    (root / "mail/calculators/examples/letter.py").write_text(CALCULATOR)
    front = '+++\ntitle = "Mail"\nquestion = "How long?"\nsummary = "Signs."\n+++\n\n'
    text = "With [[letter.words]] it has [[letter.signs]] words, [[letter.read]] were read."
    (root / "content/tools/letter.md").write_text(f"{front}{text}\n")
    command = [sys.executable, str(ROOT / "build.py"), "build", "--project", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "no registry answers" in done.stdout:
        pytest.skip(f"packages cannot be fetched here: {done.stdout.splitlines()[0]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.fixture(scope="module")
def page(project: Path, browser: Browser) -> Iterator[Page]:
    """The page of the calculator, with what went wrong on it."""
    context = browser.new_context(viewport=WINDOW, service_workers="block")
    with hosting(functools.partial(Plain, directory=str(project / "site"))) as port:
        opened = context.new_page()
        opened.set_default_timeout(60_000)
        opened.goto(f"http://127.0.0.1:{port}/tools/letter/")
        arrive(opened)
        yield opened
    context.close()


def shown(page: Page, name: str) -> Locator:
    return page.locator(f'.number[data-output="{name}"]').first


@pytest.mark.left_to_all("test_python_packages.py puts the same three into an archive")
def test_all_three_answer_in_the_browser(page):
    assert shown(page, "signs").text_content() == "3"
    page.locator('input[name="words"][data-of="letter"]').first.fill("7")
    expect(shown(page, "signs")).to_have_text("7")
    expect(shown(page, "read")).to_have_text("7")


@pytest.mark.left_to_all("test_python_packages.py puts the same three into an archive")
def test_a_later_visit_starts_from_the_snapshot_and_they_answer(page):
    page.evaluate(UNTIL_KEPT)
    page.goto(page.url.partition("?")[0])  # as it is for anybody
    arrive(page)
    page.wait_for_timeout(4000)  # longer than it takes until the page's memory would be kept
    # A part of css-inline is compiled: its functions are not in Python's memory.
    assert not [url for url in page.evaluate(UNTIL_KEPT) if "page=" in url]
    page.locator('input[name="words"][data-of="letter"]').first.fill("9")
    expect(shown(page, "signs")).to_have_text("9")


@pytest.mark.left_to_all("test_python_packages.py puts the same three into an archive")
def test_what_travels_is_recorded(project):
    found = json.loads((project / LOCK).read_text())["packages"]
    assert sorted(found) == ["css-inline", "iniconfig", "own-words"]
    assert re.search(r"-pyemscripten_\d+_\d+_wasm32\.whl$", found["css-inline"]["file_name"])
    assert all(len(one["sha256"]) == 64 for one in found.values())
