"""How long the page takes for a large trace: `python -m tests.bench.trace` after a build.

The trace is synthetic: 54 MB and 216,000 events, a tenth of them on the GPU, as PyTorch records
them. Prints the time from the choice of the file to the numbers on the page, and the most memory
that the browser and this program held meanwhile.
"""

import functools
import gzip
import http.server
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import NAMES
from tests.browser.hosting import hosting

ROOT = Path(__file__).resolve().parents[2]
EVENTS, STEPS = 216_000, 5
LIVE = '[data-calculator="trace_check"][data-state="live"]'
NUMBERS = "document.querySelector('[data-of=trace_check][data-output=kernels]').dataset.value"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A static host that prints nothing."""

    def log_message(self, *args: object) -> None:
        pass


def synthetic() -> bytes:
    """Return Kineto's JSON of one rank."""
    names = [f"void at::native::vectorized_elementwise_kernel<4, Functor{n}>" for n in range(60)]
    names += [f"nvjet_tst_{n}x128" for n in range(60)]
    events = []
    each = EVENTS // STEPS
    for at in range(EVENTS):
        number, inside = divmod(at, each)
        start = 1e9 + 1e6 * number + 20.0 * inside
        if inside == 0:
            events.append(_event("user_annotation", f"ProfilerStep#{number}", start, 9e5, {}))
        elif at % 10:
            args = {"External id": at, "Sequence number": at, "Fwd thread id": 0, "Ev Idx": at}
            args["Input Dims"] = "[[8192, 4096], [4096, 4096]]"
            events.append(_event("cpu_op", f"aten::op_{at % 97}", start, 15.5, args))
        else:
            args = {"External id": at, "device": 0, "stream": 7, "correlation": at}
            args |= {"registers per thread": 90, "grid": [64, 1, 1], "block": [256, 1, 1]}
            name = names[inside // 10 % len(names)]
            events.append(_event("kernel", name, start, 120.25, args))
    head = {"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}}
    return json.dumps({**head, "traceEvents": events}).encode()


def _event(kind: str, name: str, start: float, length: float, args: object) -> dict[str, object]:
    place = {"pid": 0, "tid": 7, "ts": start, "dur": length, "args": args}
    return {"ph": "X", "cat": kind, "name": name, **place}


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


def measured(page: Page, path: Path, browser: int) -> tuple[float, int, int]:
    """Return seconds until the numbers stand on the page, bytes held before, and the most held."""
    there = sum(1 for at in range(EVENTS) if at % 10 == 0 and at % (EVENTS // STEPS))
    most = before = held(browser)
    start = time.perf_counter()
    page.locator('[data-file="trace"]').set_input_files(path)
    while float(page.evaluate(NUMBERS)) != there:
        most = max(most, held(browser))
        time.sleep(0.02)
    return time.perf_counter() - start, before, most


def main() -> None:
    """Measure the plain file and its gzip, each on a page of its own."""
    content = synthetic()
    print(f"{len(content) / 1e6:.1f} MB, {EVENTS:,} events")
    handler = functools.partial(Quiet, directory=str(ROOT / "site"))
    path = next(filter(None, map(shutil.which, NAMES)))
    with (
        tempfile.TemporaryDirectory() as folder,
        hosting(handler) as port,
        sync_playwright() as run,
    ):
        plain, packed = Path(folder) / "trace.json", Path(folder) / "trace.json.gz"
        plain.write_bytes(content)
        packed.write_bytes(gzip.compress(content, 6))
        for file in (plain, packed):
            browser = run.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{port}/tools/trace/")
            page.wait_for_selector(LIVE, state="attached", timeout=120_000)
            page.wait_for_timeout(3000)
            taken, before, most = measured(page, file, os.getpid())
            load = os.getloadavg()[0]
            memory = f"{before / 1e6:.0f} MB before, {most / 1e6:.0f} MB at most"
            print(f"{file.name}: {taken:.2f} s, {memory}, load {load:.1f}")
            browser.close()


if __name__ == "__main__":
    main()
