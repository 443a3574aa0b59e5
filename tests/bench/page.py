"""What a page costs to read and to use: bytes, first paint, shifts, input to paint."""

import shutil
import statistics
from pathlib import Path

from playwright.sync_api import Page, Playwright, sync_playwright

from tests.bench.host import serve
from tests.browser.runtime_fixtures import FLAGS

GUIDE = "guides/gradient-sync-lab/index.html"
OBSERVE = """() => {
  window.seen = { lcp: 0, shift: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.seen.lcp = entry.startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput) window.seen.shift += entry.value;
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""
UPDATES = "() => performance.getEntriesByName('update').map((entry) => entry.duration)"
FIELD = "#gradient_sync input[name=tokens_per_gpu][type=text]"
CHART = "figure.chart[data-of=gradient_sync]"
LIVE = "#gradient_sync[data-state=live]"


def visit(page: Page, url: str) -> None:
    """Open the page and wait until it rests."""
    page.add_init_script(f"({OBSERVE})()")
    page.goto(url, wait_until="load")
    page.wait_for_timeout(5000)


def kind_of(path: str) -> str:
    """Return what a file is for: reading, receipts, what is live, its runtime, plots, being kept.

    A page with live figures is kept for readers without a network once one is near; its receipts
    come then, too.
    """
    name = path.rpartition("/")[2]
    if path.endswith("/receipts/") or (name.startswith("receipts") and name.endswith(".css")):
        return "receipts"
    if name == "offline.js" or "reference/kept/" in path:
        return "keeping"
    if name in ("live.js", "live.html") or "/calculator/" in path or name.startswith("chunk-"):
        return "live"
    if "/runtime/" in path or "/engine/" in path:
        return "runtime"
    if name.startswith(("bokeh", "figures-")) or "/charts/" in path or "/timeline/" in path:
        return "plots"
    return "reading"


def change(page: Page, count: int, beside: str = FIELD) -> list[float]:
    """Step a number of the lab with the keyboard; return milliseconds from input to paint, sorted.

    `beside` is what stands in the middle of the window meanwhile.
    """
    page.locator(beside).first.evaluate("one => one.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(500)
    page.locator(FIELD).evaluate("one => one.focus({ preventScroll: true })")
    page.wait_for_timeout(2500)  # the plots near the field are fetched and drawn first
    page.evaluate("() => performance.clearMeasures('update')")
    for step in range(count):
        page.keyboard.press("ArrowUp" if step % 20 < 10 else "ArrowDown")
        page.wait_for_timeout(120)
    return sorted(map(float, page.evaluate(UPDATES)))


def percentiles(taken: list[float], told: str) -> dict[str, object]:
    """Return the median and the 95th percentile of sorted times."""
    return {
        f"{told} p50, ms": round(statistics.median(taken), 1),
        f"{told} p95, ms": round(taken[int(len(taken) * 0.95) - 1], 1),
    }


def measure(playwright: Playwright, folder: Path) -> dict[str, object]:
    """Return the numbers of one cold visit followed by a hundred changes."""
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
    served: dict[str, int] = {}
    with serve({"/": folder}, served) as port:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        visit(page, f"http://127.0.0.1:{port}/{GUIDE}")
        sizes: dict[str, int] = {}
        for path, size in served.items():
            sizes[kind_of(path)] = sizes.get(kind_of(path), 0) + size
        seen = page.evaluate("() => window.seen")
        page.locator("#gradient_sync").scroll_into_view_if_needed()
        page.wait_for_selector(LIVE, timeout=60_000)
        taken = change(page, 100)
        beside_a_chart = change(page, 100, CHART)
        browser.close()
    return {
        "bytes for reading": sizes["reading"],
        "bytes of the live scripts": sizes["live"],
        "bytes of the receipts": sizes["receipts"],
        "bytes of the live runtime": sizes["runtime"],
        "bytes of the live plots": sizes.get("plots", 0),
        "largest contentful paint, ms": round(seen["lcp"]),
        "layout shift": round(seen["shift"], 4),
        **percentiles(taken, "update"),
        **percentiles(beside_a_chart, "update with a chart in the window"),
        "updates": len(taken) + len(beside_a_chart),
    }


GOALS = {
    "bytes for reading": 60_000,
    "bytes of the live runtime": 4_900_000,
    "layout shift": 0,
    "update p50, ms": 20,
    "update p95, ms": 33,
    "update with a chart in the window p50, ms": 20,
    "update with a chart in the window p95, ms": 33,
}


def run(folder: Path) -> dict[str, object]:
    """Measure the built site in `folder`; print a table; return the numbers."""
    with sync_playwright() as playwright:
        found = measure(playwright, folder)
    for name, value in found.items():
        goal = f"   goal {GOALS[name]:,}" if name in GOALS else ""
        print(f"{name:42}{value:>12,}{goal}", flush=True)
    return found
