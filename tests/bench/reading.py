"""What a page sends to be read, by file: `python -m tests.bench.reading [ADDRESS ...]`.

One visit each with a fresh profile in a window of a desk, five seconds long; bytes as a host sends
them, compressed. What a figure fetches once it is near counts apart, and so do the receipts and
what keeps the page for readers without a network, which a page with live figures fetches then, too.
"""

import argparse
import re
import shutil
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.bench.host import serve
from tests.bench.page import kind_of, visit
from tests.browser.runtime_fixtures import FLAGS

SITE = Path(__file__).resolve().parents[2] / "site"
PAGES = (
    "guides/gradient-sync-lab/",
    "guides/zero-1/",
    "guides/rooflines/",
    "guides/pipeline-schedule-lab/",
    "guides/tensor-parallelism/",
    "guides/job-completion-time/",
    "reference/glossary/",
    "reference/hardware/",
    "tools/trace/",
    "",
)
HASH = re.compile(r"-[0-9a-f]{16}(?=[./])")


def files(browser: Browser, folder: Path, address: str) -> dict[str, int]:
    """Return file (without the hash of its content) -> bytes of one visit."""
    served: dict[str, int] = {}
    with serve({"/": folder}, served) as port:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        visit(page, f"http://127.0.0.1:{port}/{address}index.html")
        page.close()
    return {HASH.sub("", path).removeprefix("/"): size for path, size in served.items()}


def table(found: dict[str, int]) -> str:
    """Return the files of reading, the largest first, and the sums by kind."""
    sums: dict[str, int] = {}
    for path, size in found.items():
        sums[kind_of(path)] = sums.get(kind_of(path), 0) + size
    read = {path: size for path, size in found.items() if kind_of(path) == "reading"}
    rows = sorted(read.items(), key=lambda row: -row[1])
    lines = [f"  {size:9,}  {path}" for path, size in rows]
    return "\n".join([*lines, "  " + ", ".join(f"{kind} {size:,}" for kind, size in sums.items())])


def main() -> None:
    """Print the table of every page asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("addresses", nargs="*", default=PAGES)
    parser.add_argument("--site", type=Path, default=SITE)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for address in options.addresses:
            print(f"\n{address or 'home'}\n{table(files(browser, options.site, address))}")
        browser.close()


if __name__ == "__main__":
    main()
