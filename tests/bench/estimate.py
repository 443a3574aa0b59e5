"""How long one full estimate takes, natively and inside Pyodide (under Node, the engine of Chrome).

A full estimate reads the document, predicts time and memory and builds the answer; the process
start and the parsing of JSON are left out. The runs: a thousand different ones drawn at random,
half of them mixtures of experts, and GPT-3 175B on 1,024 A100, the example of the help text.
"""

import random
import statistics
import time
from pathlib import Path
from typing import Any

from builder.core import node
from builder.runtime.bundle import engine_sources
from builder.runtime.bytecode import NODE_SCRIPT
from engine.estimate import estimate
from engine.run.file import read_run
from tests.bench.inside import BEGIN
from tests.validation.any_run import any_document

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 15
RUN: dict[str, Any] = {
    "model": "gpt-3-175b",
    "sequence_length": 2048,
    "cluster": {
        "gpu": "A100-SXM-80GB",
        "gpus_per_node": 8,
        "nics_per_node": 8,
        "nic_bandwidth": 25e9,
    },
    "parallelism": {"world_size": 1024, "tensor_parallel": 8, "pipeline_parallel": 16},
    "training": {
        "micro_batch_size": 1,
        "global_batch_size": 1536,
        "precision": "bf16",
        "recompute": "full",
    },
}
RUNS: dict[str, list[dict[str, Any]]] = {
    "1,000 different": [any_document(random.Random(f"bench {seed}")) for seed in range(1000)],
    "GPT-3": [RUN] * 200,
}
# What Pyodide runs: the same loop as `times`, on the engine's sources.
INSIDE = (
    BEGIN
    + """    from engine.estimate import estimate
    from engine.run.file import read_run
    found = []
    for _ in range(request["rounds"]):
        began = time.perf_counter()
        for run in request["runs"]:
            estimate(read_run(run))
        found.append((time.perf_counter() - began) / len(request["runs"]))
    return json.dumps(found)
"""
)


def times(runs: list[dict[str, Any]]) -> list[float]:
    """Return the seconds of one estimate, the mean of each round."""
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for run in runs:
            estimate(read_run(run))
        found.append((time.perf_counter() - began) / len(runs))
    return found


def in_pyodide(runs: list[dict[str, Any]]) -> list[float]:
    """Return the same, measured inside Pyodide."""
    request = {"sources": engine_sources(ROOT / "engine"), "runs": runs, "rounds": ROUNDS}
    found = node.run(NODE_SCRIPT, {"library": None, "python": INSIDE, "request": request})
    assert isinstance(found, list)
    return found


def run() -> dict[str, object]:
    """Measure both, print a table, return the numbers: milliseconds, and the goal."""
    found: dict[str, object] = {}
    for what, runs in RUNS.items():
        for where, taken, goal in (
            ("natively", times(runs), 0.2),
            ("in Pyodide", in_pyodide(runs), 0.4),
        ):
            name = f"{what}, {where}"
            numbers = (statistics.median(taken), min(taken))
            median, best = (round(1e3 * value, 3) for value in numbers)
            print(f"{name:28}{median:7.3f} ms, best {best:.3f} ms   goal {goal}", flush=True)
            found[name] = {"median": median, "best": best, "goal": goal}
    return found


if __name__ == "__main__":
    run()
