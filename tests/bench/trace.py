"""How long the page takes for large traces: `python -m tests.bench.trace [SITE]` after a build.

The traces are synthetic and the same every time: one rank as PyTorch records it, a tenth of its
events on the GPU, at the size of the goal and at the largest that the page promises to read, and
one of the latter size that holds the GPU's events alone. Prints the time from the choice of the
file to the numbers on the page, the most memory that the browser and this program held meanwhile
beyond what they held before, the longest wait between two words on the progress, how long a press
of Cancel takes, and how many times as long all of it takes as `JSON.parse` of the same file. Linux
only: memory is read from /proc.
"""

import gzip
import json
import os
import shutil
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.bench.host import serve
from tests.browser.runtime_fixtures import FLAGS

ROOT = Path(__file__).resolve().parents[2]
STEPS = 5
MB = 1e6
# Name -> (events, every how many runs on the GPU, packed as gzip).
CASES = {
    "54 MB": (216_000, 10, False),
    "54 MB, gzip": (216_000, 10, True),
    "100 MB": (387_000, 10, False),
    "100 MB, gzip": (387_000, 10, True),
    "100 MB, GPU alone": (342_000, 1, False),
}
GOALS = {"seconds": 4.0, "memory, MB": 600.0}  # of the first two
LIVE = '[data-calculator="trace_check"][data-state="live"]'
NUMBERS = "document.querySelector('[data-of=trace_check][data-output=kernels]').dataset.value"
# When the line of the progress changes, and when it goes.
WATCH = """() => {
  window.heard = [];
  const line = document.querySelector("[data-reading]");
  const bar = line.querySelector("progress");
  new MutationObserver(() => heard.push([performance.now(), line.hidden ? -1 : bar.value]))
    .observe(line, { attributes: true, childList: true, subtree: true });
}"""


def synthetic(events: int, every: int) -> bytes:
    """Return Kineto's JSON of one rank, of so many events, one in `every` on the GPU."""
    names = [f"void at::native::vectorized_elementwise_kernel<4, Functor{n}>" for n in range(60)]
    names += [f"nvjet_tst_{n}x128" for n in range(60)]
    found = []
    each = events // STEPS
    for at in range(events):
        number, inside = divmod(at, each)
        start = 1e9 + 1e6 * number + 900_000 / each * inside
        if inside == 0:
            found.append(_event("user_annotation", f"ProfilerStep#{number}", start, 9e5, {}))
        elif at % every:
            args = {"External id": at, "Sequence number": at, "Fwd thread id": 0, "Ev Idx": at}
            args["Input Dims"] = "[[8192, 4096], [4096, 4096]]"
            found.append(_event("cpu_op", f"aten::op_{at % 97}", start, 15.5, args))
        else:
            args = {"External id": at, "device": 0, "stream": 7, "correlation": at}
            args |= {"registers per thread": 90, "grid": [64, 1, 1], "block": [256, 1, 1]}
            name = names[inside // every % len(names)]
            found.append(_event("kernel", name, start, 120.25 * every / 10, args))
    head = {"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}}
    return json.dumps({**head, "traceEvents": found}).encode()


def _event(kind: str, name: str, start: float, length: float, args: object) -> dict[str, object]:
    place = {"pid": 0, "tid": 7, "ts": start, "dur": length, "args": args}
    return {"ph": "X", "cat": kind, "name": name, **place}


def kernels(events: int, every: int) -> int:
    """Return the events of a synthetic trace that run on the GPU."""
    return sum(1 for at in range(events) if at % every == 0 and at % (events // STEPS))


def held(root: int) -> int:
    """Return the bytes that a process and all below it hold (Linux)."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            sizes[int(folder.name)] = 4096 * int((folder / "statm").read_text().split()[1])
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])

    def below(number: int) -> bool:
        while number not in (0, 1, root):
            number = parents.get(number, 0)
        return number == root

    return sum(size for number, size in sizes.items() if below(number))


def opened(page: Page, port: int) -> None:
    """Open the page, and wait until it computes and rests."""
    page.goto(f"http://127.0.0.1:{port}/tools/trace/index.html")
    page.wait_for_selector(LIVE, state="attached", timeout=120_000)
    page.wait_for_timeout(3000)
    page.evaluate(WATCH)


def read(page: Page, path: Path, there: int) -> dict[str, float]:
    """Return what it takes until the numbers of a trace stand on the page."""
    most = before = held(os.getpid())
    start = time.perf_counter()
    page.locator('[data-file="trace"]').set_input_files(path)
    while float(page.evaluate(NUMBERS)) != there:
        most = max(most, held(os.getpid()))
        time.sleep(0.02)
        if time.perf_counter() - start > 300:
            raise TimeoutError(page.locator('[data-error="trace"]').text_content())
    seconds = time.perf_counter() - start
    heard = page.evaluate("() => heard")
    shown = [at for at, value in heard if value >= 0]
    waits = [later - one for one, later in pairwise(shown)]
    return {
        "seconds": round(seconds, 2),
        "over plain JSON.parse": round(seconds / parsed(page, path), 1),
        "memory, MB": round((most - before) / MB),
        "words on the progress": len(shown),
        "longest wait for one, ms": round(max(waits, default=0.0)),
    }


def parsed(page: Page, path: Path) -> float:
    """Return the seconds that the browser alone takes for the JSON of a file.

    Unpacked and parsed at once, nothing kept: what no reader can be faster than.
    """
    page.evaluate(
        """() => {
          const chooser = document.createElement("input");
          Object.assign(chooser, { type: "file", id: "plain" });
          document.body.append(chooser);
        }"""
    )
    page.locator("#plain").set_input_files(path)
    return float(
        page.locator("#plain").evaluate(
            """async (chooser, packed) => {
              const start = performance.now();
              let stream = chooser.files[0].stream();
              if (packed) stream = stream.pipeThrough(new DecompressionStream("gzip"));
              JSON.parse(await new Response(stream).text());
              chooser.remove();
              return (performance.now() - start) / 1000;
            }""",
            path.suffix == ".gz",
        )
    )


def stopped(page: Page, path: Path) -> float:
    """Return milliseconds from a press of Cancel until nothing is read any more."""
    page.locator('[data-file="trace"]').set_input_files(path)
    cancel = page.locator("[data-reading] button")
    page.wait_for_function("() => heard.some(([, value]) => value > 0.2)")
    return float(
        cancel.evaluate(
            """(button) => {
              const start = performance.now();
              button.click();
              if (!button.closest("[data-reading]").hidden) throw Error("still reading");
              return performance.now() - start;
            }"""
        )
    )


def run(folder: Path) -> dict[str, object]:
    """Measure every case, each on a page of its own; print a table; return the numbers."""
    found: dict[str, object] = {}
    chromium = shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as place,
        serve({"/": folder}, {}) as port,
        sync_playwright() as playwright,
    ):
        for name, (events, every, packed) in CASES.items():
            content = synthetic(events, every)
            path = Path(place) / ("trace.json.gz" if packed else "trace.json")
            path.write_bytes(gzip.compress(content, 6) if packed else content)
            browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
            page = browser.new_page()
            opened(page, port)
            numbers = {"file, MB": round(len(content) / MB, 1), "events": events}
            numbers |= read(page, path, kernels(events, every))
            page.evaluate("() => { heard.length = 0; }")
            numbers["cancel, ms"] = round(stopped(page, path), 1)
            found[name] = {**numbers, "load": round(os.getloadavg()[0], 1)}
            print(name, *(f"{key} {value:,}" for key, value in numbers.items()), sep="; ")
            browser.close()
    return found


if __name__ == "__main__":
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")
