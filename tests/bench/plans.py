"""How many plans a second the planner computes: natively by processes, and in Pyodide under Node.

`python -m tests.bench.plans [PROCESSES]` prints both with the load of the machine, and a ratio that
the load hardly changes: the CPU time of a plan over that of one turn of an empty loop that adds up
squares, measured in the same process. Llama 3 70B on 64 H100: every plan that divides is timed.
"""

import os
import sys
import time
from typing import Any

from builder.core import node
from builder.runtime.bundle import engine_sources
from builder.runtime.bytecode import NODE_SCRIPT
from engine.form.planner.inputs import PRESETS, Inputs, job_of
from engine.plan_every import all_plans
from engine.simulate.planner.survey import survey
from tests.bench.estimate import ROOT
from tests.bench.inside import BEGIN

JOB = "70B on the same 64 GPUs"
GOALS = {"processes": 20_000, "Pyodide": 300}  # plans per second
TURNS = 3_000_000
INSIDE = (
    BEGIN
    + """    from engine.form.planner.inputs import PRESETS, Inputs, job_of
    from engine.simulate.planner.survey import survey
    job = job_of(Inputs(**PRESETS[request["job"]]))
    survey(job, 1, 0, 50)
    began = time.perf_counter()
    found = survey(job, 8)
    return json.dumps([found.plans, time.perf_counter() - began])
"""
)


def turn() -> float:
    """Return the CPU seconds of one turn of the loop."""
    began, total = time.process_time(), 0
    for number in range(TURNS):
        total += number * number
    return (time.process_time() - began) / TURNS


def natively(processes: int) -> dict[str, float]:
    """Return plans per second of processes, and what one plan costs in turns of the loop."""
    job = job_of(Inputs(**PRESETS[JOB]))
    began = time.perf_counter()
    found = all_plans(job, 8, processes).found
    together = found.plans / (time.perf_counter() - began)
    before, began = turn(), time.process_time()
    alone = survey(job, 8)
    taken = time.process_time() - began
    one = taken / alone.plans
    return {
        "plans": found.plans,
        "per second": together,
        "per CPU second of one process": 1 / one,
        "turns per plan": one / ((before + turn()) / 2),
    }


def in_pyodide() -> float:
    """Return plans per second in Pyodide."""
    request: dict[str, Any] = {"sources": engine_sources(ROOT / "engine"), "job": JOB}
    found = node.run(NODE_SCRIPT, {"library": None, "python": INSIDE, "request": request})
    plans, seconds = found  # type: ignore[misc]
    return float(plans / seconds)


def main() -> None:
    """Print what was measured."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, number in natively(processes).items():
        print(f"natively, {processes} processes: {name}: {number:,.0f}")
    print(f"Pyodide: per second: {in_pyodide():,.0f}")
    print(f"load after: {os.getloadavg()[0]:.1f}; goals: {GOALS}")


if __name__ == "__main__":
    main()
