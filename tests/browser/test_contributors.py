"""What a contributor sends, opened in a browser: nothing of theirs runs, nothing leaves the site.

The pages that the build refuses are opened too, as if it had not: the policy of a page is the
second wall.
"""

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

from tests.browser.conftest import WINDOW
from tests.browser.hosting import hosting
from tests.browser.test_second_site import ROOT, Plain, copied
from tests.hostile import DRAWINGS, HARMLESS, REFUSED, UNREAD

pytestmark = pytest.mark.browser
# A policy does not keep a page from leading away: here the build is the only wall.
LEADS_AWAY = {"a page that leads away"}
SENT = {
    **HARMLESS,
    **{name: text for name, text in REFUSED.items() if name not in UNREAD | LEADS_AWAY},
}
AT_ONCE = 8  # pages that are open beside each other
FRONT = '+++\ntitle = "Sent"\nquestion = "What is it?"\nsummary = "Text."\n+++\n\n'
# Builds and writes all pages, whatever the build says of them.
ALL_THE_SAME = """
import sys
from pathlib import Path
from builder.cli import build_command
from builder.core import build_cache, progress
from builder.outputs import output_folder
from builder.project import activate_project
places = activate_project.activate_project(Path(sys.argv[1]))
built = build_command.build_with_services(places, progress.Options(), build_cache.BuildCache())
print(*sorted({one.path for one in built.problems}))
output_folder.replace_output(places.root / "site", built.output)
"""


def slug(name: str) -> str:
    return "-".join(name.replace(",", "").replace("'", "").lower().split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copied(tmp_path_factory.mktemp("sent"))
    for name, text in SENT.items():
        (project / "content" / f"{slug(name)}.md").write_text(f"{FRONT}Sent:\n\n{text}\n", "utf-8")
    command = [sys.executable, "-c", ALL_THE_SAME, str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    refused = {f"content/{slug(name)}.md" for name in set(REFUSED) - UNREAD - LEADS_AWAY}
    assert set(done.stdout.split()) & refused == refused
    for number, drawing in enumerate(DRAWINGS):
        (project / "site" / f"drawn-{number}.svg").write_text(drawing)
        (project / "site" / f"drawn-{number}.html").write_text(f'<img src="drawn-{number}.svg">')
    return project / "site"


def asked(request: Request, own: str, wrong: list[str]) -> None:
    """Note what was asked of another host; what the page's policy stopped was not asked."""
    stopped = "csp" in (request.failure or "").lower()
    if not stopped and not request.url.startswith((own, "data:", "blob:")):
        wrong.append(request.url)


def open_page(context: BrowserContext, own: str, path: str, wrong: list[str]) -> Page:
    """Open a page and move over it, as a reader does; note what it did that it should not."""
    page = context.new_page()
    page.on("dialog", lambda one: (wrong.append(one.message), one.dismiss()))
    page.on("requestfinished", lambda one: asked(one, own, wrong))
    page.on("requestfailed", lambda one: asked(one, own, wrong))
    page.goto(own + path)
    page.mouse.move(300, 300)
    return page


@pytest.fixture(scope="module")
def seen(folder: Path, browser: Browser) -> Iterator[dict[str, list[str]]]:
    """What every page did that it should not."""
    context: BrowserContext = browser.new_context(viewport=WINDOW, service_workers="block")
    found: dict[str, list[str]] = {}
    pages = [f"{slug(name)}/" for name in SENT]
    pages += [f"drawn-{number}.html" for number in range(len(DRAWINGS))]
    with hosting(functools.partial(Plain, directory=str(folder))) as port:
        own = f"http://127.0.0.1:{port}/"
        while pages:
            some, pages = pages[:AT_ONCE], pages[AT_ONCE:]
            opened = [open_page(context, own, path, found.setdefault(path, [])) for path in some]
            opened[-1].wait_for_timeout(100)
            for path, page in zip(some, opened, strict=True):
                found[path] += ["it ran"] if page.evaluate("() => window.ran") else []
                page.close()
        yield found
    context.close()


def test_nothing_runs_and_nothing_leaves(seen):
    assert len(seen) == len(SENT) + len(DRAWINGS)
    assert {path: wrong for path, wrong in seen.items() if wrong} == {}
