"""How fast the simulators play: natively, and in the Python that readers' browsers run.

The second is Pyodide under Node: the same WebAssembly in the same JavaScript engine as Chromium's.
"""

import json
from pathlib import Path
from typing import Any, cast

from builder.core import node

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = ROOT / "builder" / "runtime" / "bundle.mjs"
GOALS = {
    "1F1B, 64 stages x 1,024 micro-batches, natively, ms": 1500,
    "1F1B, 64 stages x 1,024 micro-batches, Pyodide, ms": 4000,
    "all schedules, 8 stages x 32 micro-batches, natively, ms": 20,
    "all schedules, 8 stages x 32 micro-batches, Pyodide, ms": 60,
}
# Runs on both sides: plays each thing a few times and answers medians in milliseconds.
WORK = """
import json, pathlib, statistics, sys, time

def run(text):
    root = pathlib.Path("/bench")
    for name, source in json.loads(text).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    if root.exists():
        sys.path.insert(0, str(root))
    from engine.core import registry
    from engine.simulate import pipeline

    times = pipeline.Times(forward=1.0, backward_input=1.0, backward_weight=1.0, pair=3.0)

    def large():
        pipeline.simulate("one_f_one_b", 64, 1024, 1, times)

    def every():
        pipeline._kept.cache_clear()
        for name in registry.names(pipeline.PACKAGE):
            chunks = registry.module(pipeline.PACKAGE, name).CHUNKS[0]
            pipeline.simulate(name, 8, 32, chunks, times)

    found = {}
    for label, work in (
        ("1F1B, 64 stages x 1,024 micro-batches", large),
        ("all schedules, 8 stages x 32 micro-batches", every),
    ):
        work()
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            work()
            taken.append(1e3 * (time.perf_counter() - start))
        found[label] = statistics.median(taken)
    return json.dumps(found)
"""


def natively() -> dict[str, float]:
    """Return milliseconds in this Python."""
    namespace: dict[str, Any] = {}
    exec(WORK, namespace)  # the very text that Pyodide runs
    return cast(dict[str, float], json.loads(namespace["run"]("{}")))


def in_pyodide() -> dict[str, float]:
    """Return milliseconds in Pyodide."""
    engine = sorted((ROOT / "engine").rglob("*.py"))
    sources = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in engine}
    payload = {"library": None, "python": WORK, "request": sources}
    return cast(dict[str, float], node.run(BUNDLE, payload))


def run() -> dict[str, object]:
    """Measure both; print a table; return the numbers."""
    found = {
        f"{label}, {where}, ms": round(taken, 1)
        for where, measured in (("natively", natively()), ("Pyodide", in_pyodide()))
        for label, taken in measured.items()
    }
    for name, value in found.items():
        print(f"{name:64}{value:>10,}   goal {GOALS[name]:,}", flush=True)
    return dict(found)
