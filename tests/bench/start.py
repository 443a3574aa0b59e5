"""How long the runtime takes to its first result, against a plain `loadPyodide()`.

Both start in a module Worker of the same page, answer the same request with the same engine, and
are measured from the request to start until the result is on the page, in one run. The plain side
is the unmodified npm package and the engine's source files in one zip.
"""

import io
import json
import shutil
import statistics
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Playwright, sync_playwright

from builder.core import node
from tests.bench.host import serve
from tests.bench.proxy import slow
from tests.bench.slow_cpu import slowed
from tests.browser.runtime_fixtures import FLAGS, ROOT, write_page

REQUEST = json.dumps({"calculator": "gradient_sync"})
PLAIN_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Plain</title>
<link rel="icon" href="data:,"><script type="module" src="page.js"></script></html>"""
PLAIN_SCRIPT = """window.engine = { ask: (name, request) => new Promise((resolve) => {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.postMessage(request);
}) };
"""
PLAIN_WORKER = """self.onmessage = async ({ data }) => {
  const archive = fetch("engine.zip").then((response) => response.arrayBuffer());
  const { loadPyodide } = await import("/pyodide/pyodide.mjs");
  const python = await loadPyodide({ indexURL: "/pyodide/" });
  python.unpackArchive(await archive, "zip");
  self.postMessage(python.pyimport("engine.answer").answer(data));
};
"""
MEASURE = """async (request) => {
  const began = performance.now();
  const reply = await window.engine.ask("gradient_sync", request);
  if (!JSON.parse(reply).outputs) throw new Error(reply);
  return performance.now() - began;
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A network and a processor, and what is asked of the ratio to plain.

    Attributes:
        bandwidth: bytes per second, 0 for no limit.
        slowdown: how many times slower the processor is.
        warm: the third visit, the page of each of the first two left open for four seconds.
    """

    name: str
    goal: float | None
    bandwidth: float = 0
    slowdown: int = 1
    warm: bool = False


MOBILE = 10e6 / 8
CONDITIONS = (
    Condition(name="localhost, cold", goal=0.35),
    Condition(name="localhost, warm", goal=0.2, warm=True),
    Condition(name="10 Mbit/s + 40 ms, cold", goal=0.6, bandwidth=MOBILE),
    Condition(
        name="10 Mbit/s + 40 ms, 4x slower CPU, cold", goal=0.6, bandwidth=MOBILE, slowdown=4
    ),
    Condition(
        name="10 Mbit/s + 40 ms, 4x slower CPU, warm",
        goal=None,
        bandwidth=MOBILE,
        slowdown=4,
        warm=True,
    ),
)


def write_plain(folder: Path) -> None:
    """Write the page that starts the unmodified package."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((ROOT / "engine").rglob("*.py")):
            archive.write(path, path.relative_to(ROOT))
    (folder / "engine.zip").write_bytes(target.getvalue())
    (folder / "index.html").write_text(PLAIN_PAGE)
    (folder / "page.js").write_text(PLAIN_SCRIPT)
    (folder / "worker.js").write_text(PLAIN_WORKER)


def visit(context: BrowserContext, url: str, rest: float) -> float:
    """Open the page, return the milliseconds to its first result, leave it open `rest` seconds."""
    page = context.new_page()
    page.goto(url)
    page.wait_for_function("() => window.engine")
    taken = page.evaluate(MEASURE, REQUEST)
    page.wait_for_timeout(rest * 1000)
    page.close()
    return taken


def measure(playwright: Playwright, port: int, side: str, condition: Condition) -> float:
    """Return the milliseconds to the first result in a fresh profile."""
    with ExitStack() as stack:
        profile = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        if condition.bandwidth:
            port = stack.enter_context(slow(port, condition.bandwidth, 0.04))
        url = f"http://127.0.0.1:{port}/{side}/index.html"
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=shutil.which("chromium"), args=list(FLAGS)
        )
        stack.callback(context.close)
        if condition.warm:
            # The browser itself keeps compiled scripts from the second visit on.
            visit(context, url, rest=4)
            visit(context, url, rest=4)
        else:
            context.new_page().goto("about:blank")
        with slowed(profile, condition.slowdown):
            return visit(context, url, rest=0)


def run(conditions: tuple[Condition, ...] = CONDITIONS, rounds: int = 3) -> dict[str, object]:
    """Measure every condition, plain and ours in turn; print a table; return the numbers.

    Returns:
        Condition -> {"plain", "ours": median milliseconds, "ratio" of the medians, "best":
        ratio of the fastest runs, which other work on the machine disturbs least, "goal", "runs"}.
    """
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        sides = {"plain": Path(folder, "plain"), "ours": Path(folder, "ours")}
        for path in sides.values():
            path.mkdir()
        write_plain(sides["plain"])
        write_page(sides["ours"], ROOT / "engine", ROOT / ".cache")
        folders = {"/pyodide/": node.ensure_packages() / "pyodide"}
        with serve({**folders, **{f"/{name}/": path for name, path in sides.items()}}) as port:
            for condition in conditions:
                runs: dict[str, list[float]] = {side: [] for side in sides}
                for _ in range(rounds):
                    for side, taken in runs.items():
                        taken.append(measure(playwright, port, side, condition))
                found[condition.name] = row(condition, runs)
    return found


def row(condition: Condition, runs: Mapping[str, list[float]]) -> dict[str, object]:
    """Return a condition's numbers, printed as a line of the table."""
    plain, ours = statistics.median(runs["plain"]), statistics.median(runs["ours"])
    goal = "-" if condition.goal is None else f"{condition.goal:.2f}"
    line = f"{plain:7.0f} ms {ours:7.0f} ms   ratio {ours / plain:.2f}   goal {goal}"
    print(f"{condition.name:42}{line}", flush=True)
    numbers = {side: [round(each) for each in taken] for side, taken in runs.items()}
    ratio = round(ours / plain, 3)
    best = round(min(runs["ours"]) / min(runs["plain"]), 3)
    return {
        "plain": round(plain),
        "ours": round(ours),
        "ratio": ratio,
        "best": best,
        "goal": condition.goal,
        "runs": numbers,
    }


if __name__ == "__main__":
    run()
