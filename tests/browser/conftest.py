"""The real site, built once, on a host of its own under a sub-path, and a Chromium to read it."""

import functools
import http.server
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    sync_playwright,
)

from builder.cli import commands
from tests.browser.hosting import hosting
from tests.browser.lab import Labs
from tests.browser.reading import ASKING, CALCULATOR, arrive, live
from tests.once import once

SUB_PATH = "/wallclock/"
LAB = "guides/gradient-sync-lab/"
REPOSITORY = "https://example.invalid/wallclock"
WINDOW: Any = {"width": 1280, "height": 900}
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # V8's optimizing compiler costs every page more than what it saves it in its short life.
    "--js-flags=--liftoff-only",
    # Only the last list of this flag counts, so what Playwright switches off stands here too. The
    # suggestions under the address bar, a page of their own in every window, cost as much as ours.
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,LensOverlay,MediaRouter,"
    "NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,PreconnectToSearch,AimEnabled,"
    "ThirdPartyStoragePartitioning,WebUIOmniboxAimPopup,WebUIOmniboxPopup",
)
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
UNTIL_KEPT = """async () => {
  for (let rounds = 0; rounds < 300; rounds += 1) {
    const kept = (await (await caches.open("wallclock")).keys()).map(({ url }) => url);
    if (kept.some((url) => url.includes("unpacked="))) return kept; // the last to come
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """A plain static host that knows nothing outside its sub-path."""

    extensions_map = {  # noqa: RUF012 (declared so by the base class)
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def translate_path(self, path: str) -> str:
        inside = path.removeprefix(SUB_PATH)
        return super().translate_path("/" + inside if inside != path else "/outside/" + path)

    def log_message(self, *args: object) -> None:
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What went wrong on the pages of a test, and what they asked for."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def chromium() -> str:
    """Return the browser's path."""
    given = os.environ.get("WALLCLOCK_CHROMIUM") or ""
    path = given or next(filter(None, map(shutil.which, NAMES)), "")
    if not path:
        pytest.fail("No Chromium: run `python3 build.py test`, or name one in WALLCLOCK_CHROMIUM.")
    return path


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site's folder; of several workers one builds it."""
    common = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        common = common.parent
    return once(common / "built", build) / "site"


def build(folder: Path) -> None:
    done = commands.main(["build", "--out", str(folder / "site"), "--repository", REPOSITORY])
    assert done == 0


@pytest.fixture(scope="session")
def base(site: Path) -> Iterator[str]:
    """The site's address, as that of a project page."""
    handler = functools.partial(Handler, directory=str(site))
    with hosting(handler) as port:
        yield f"http://127.0.0.1:{port}{SUB_PATH}"


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="session")
def reader(browser: Browser, base: str) -> Iterator[BrowserContext]:
    """A reader who has been here before: files, compiled code and Python's memory are cached.

    No other test stays on a page until that memory is kept, and each would start Python from
    nothing. What goes wrong here is told by the tests that need it.
    """
    context = browser.new_context(viewport=WINDOW, service_workers="block")
    page = context.new_page()
    page.goto(base + LAB)
    with suppress(Error):
        live(page)
        page.evaluate(UNTIL_KEPT)
    page.close()
    yield context
    context.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A page that several tests look at, and what went wrong on it so far."""

    page: Page
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def opened(reader: BrowserContext, base: str) -> Iterator[Callable[[str], Opened]]:
    """Open a page of the site: once for all tests of it that come one after the other."""
    kept: dict[str, Opened] = {}

    def close() -> None:
        while kept:
            page = kept.popitem()[1].page
            page.evaluate("() => localStorage.clear()")
            page.close()

    def open_page(path: str) -> Opened:
        if path not in kept:
            close()
            found = kept[path] = Opened(page=reader.new_page())
            listen(found.page, found.errors)
            found.page.add_init_script(f"({ASKING})()")
            found.page.goto(base + path)
        return kept[path]

    yield open_page
    close()


@pytest.fixture(scope="session")
def labs(browser: Browser, base: str) -> Iterator[Labs]:
    # What it keeps on the device is its own: pages of other tests would hear of it.
    context = browser.new_context(viewport=WINDOW, service_workers="block")
    yield Labs(context=context, base=base, first=LAB)
    context.close()


@pytest.fixture
def lab(labs: Labs) -> Page:
    """The gradient sync lab, live and unchanged: a page that many tests share."""
    return labs.page(LAB, CALCULATOR)


def listen(page: Page, errors: list[str]) -> None:
    """Give a page time, and note its errors."""
    page.set_default_timeout(60_000)
    page.on("console", lambda m: m.type == "error" and errors.append(m.text))
    page.on("pageerror", lambda error: errors.append(str(error)))


@pytest.fixture
def visit(
    browser: Browser, reader: BrowserContext, base: str, watch: Watch
) -> Iterator[Callable[..., Page]]:
    """Open a page of the site: visit(path, prepare=..., moved=..., **options of a context).

    A page is told its size and its scheme itself: in a context of its own nothing is cached.
    `own` gives a reader who comes for the first time.
    """
    contexts: list[BrowserContext] = []
    pages: list[Page] = []

    def open_page(
        path: str = LAB,
        *,
        prepare: Callable[[Page], None] | None = None,
        moved: bool = True,
        own: bool = False,
        viewport: Any = WINDOW,
        color_scheme: Any = None,
        reduced_motion: Any = None,
        **options: Any,
    ) -> Page:
        if own or options:
            contexts.append(
                browser.new_context(viewport=WINDOW, service_workers="block", **options)
            )
        page = (contexts[-1] if own or options else reader).new_page()
        pages.append(page)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
        listen(page, watch.errors)
        page.on("request", lambda request: watch.requests.append(request.url))
        if prepare:
            prepare(page)
        page.goto(base + path)
        if moved:
            arrive(page)
        return page

    yield open_page
    for page in pages:
        page.evaluate("() => localStorage.clear()")
        page.close()
    for context in contexts:
        context.close()
