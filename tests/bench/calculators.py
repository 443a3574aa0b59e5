"""How long each calculator takes to answer a change, in Pyodide under Node: p50 and p95.

`python -m tests.bench.calculators [NAME ...]` prints one table: at its defaults with the first
number stepped, and at the slowest inputs found among the ends of every input and all high or low.
The replies hold every view, while a page asks only for those near its window.

What declares a `search` says how far it is and can be interrupted between two replies; so can
figures that are made in slices, and until then the page marks them as those of before. Both are
asked for as a page asks, and the longest of the replies counts: so long the reader is not heard.
"""

import inspect
import math
import sys
from typing import Any

from builder.core import node
from builder.runtime.bundle import engine_sources
from builder.runtime.bytecode import NODE_SCRIPT
from engine import calculator as calculators
from engine.core.inputs import Choice, Field, Number, Switch
from engine.core.parsing import exact_text
from tests.bench.estimate import ROOT
from tests.bench.inside import BEGIN

ROUNDS = 20
GOALS = {"defaults": 50.0, "worst": 150.0}  # milliseconds, p95
HEARD = 150.0  # of a search, between two replies
INSIDE = (
    BEGIN
    + """    from engine.answer import answer
    import gc

    from js import process

    gc.disable()  # as the Worker does, which tidies up when the reader rests

    def now():  # CPU time: others that work on the machine do not count
        used = process.cpuUsage()
        return 1e-6 * (used.user + used.system)

    within, most = 0.03, 24  # of a page; replies of a search, which then is given up

    def at_once(asked):
        began = now()
        answer(json.dumps(asked))
        return now() - began

    def in_slices(asked):
        longest, left = 0.0, None
        for _ in range(most):
            asked |= {"within": within, "rest": True} | ({"only": left} if left else {})
            began = now()
            found = json.loads(answer(json.dumps(asked), now))
            longest = max(longest, now() - began)
            left = found.get("later")
            if not left and "progress" not in found:
                break
        return longest

    found = {}
    for name, cases in request["cases"].items():
        seconds = in_slices if cases["search"] else at_once
        stepped = cases["stepped"]
        steps = [{stepped: step} if stepped else {} for step in range(1, request["rounds"] + 1)]
        seconds({"calculator": name})
        taken = [seconds({"calculator": name, "nudge": step}) for step in steps]
        slowest = max(
            cases["ends"], key=lambda case: seconds({"calculator": name, "values": case})
        )
        worst = [seconds({"calculator": name, "values": slowest})]
        back = [{stepped: -step} if stepped else {} for step in range(1, request["rounds"])]
        worst += [seconds({"calculator": name, "values": slowest, "nudge": step}) for step in back]
        found[name] = {"defaults": taken, "worst": worst, "case": slowest}
    return json.dumps(found)
"""
)


def cases(name: str) -> dict[str, Any]:
    """Return the number to step, and inputs at their ends: one at a time, all high, all low."""
    fields = calculators.load(name).fields
    numbers = {key: field for key, field in fields.items() if isinstance(field, Number)}
    single = [{key: exact_text(end)} for key, field in fields.items() for end in ends(field)]
    both = [{key: exact_text(field.low) for key, field in numbers.items()}]
    both += [{key: exact_text(field.high) for key, field in numbers.items()}]
    return {
        "stepped": next(iter(numbers), ""),
        "ends": [{}, *single, *both],
        "search": searches(name),
    }


def searches(name: str) -> bool:
    """Return whether a calculator declares a search, or figures that are made in slices."""
    calculator = calculators.load(name)
    if calculator.search:
        return True
    defaults = calculators.make(calculator, {})
    views = calculator.views(defaults, calculator.solve(defaults)).values()
    return any(inspect.isgeneratorfunction(getattr(view, "func", view)) for view in views)


def missed(name: str, row: dict[str, list[float]]) -> list[str]:
    """Return which goals the p95 of a calculator misses."""
    goals = dict.fromkeys(GOALS, HEARD) if searches(name) else GOALS
    return [kind for kind, goal in goals.items() if row[kind][1] > goal]


def ends(field: Field) -> list[Any]:
    """Return the ends of an input, or all its options."""
    if isinstance(field, Number):
        return [field.low, field.high]
    if isinstance(field, Choice):
        return list(field.options)
    return [True, False] if isinstance(field, Switch) else []


def share(taken: list[float], part: float) -> float:
    """Return the milliseconds that this part of the runs does not exceed, by nearest rank."""
    return round(1e3 * sorted(taken)[math.ceil(part * len(taken)) - 1], 1)


def run(names: tuple[str, ...] = ()) -> dict[str, Any]:
    """Measure, print a table, return calculator -> milliseconds."""
    chosen = {name: cases(name) for name in names or calculators.names()}
    sources = engine_sources(ROOT / "engine")
    request = {"sources": sources, "cases": chosen, "rounds": ROUNDS}
    answer = node.run(NODE_SCRIPT, {"library": None, "python": INSIDE, "request": request})
    assert isinstance(answer, dict)
    print(f"{'milliseconds in Pyodide':28}{'defaults':>16}{'worst':>18}")
    print(f"{'':28}{'p50':>8}{'p95':>8}{'p50':>10}{'p95':>8}")
    found: dict[str, Any] = {}
    for name, taken in answer.items():
        row = {kind: [share(taken[kind], part) for part in (0.5, 0.95)] for kind in GOALS}
        late = missed(name, row)
        numbers = "{:8.1f}{:8.1f}{:10.1f}{:8.1f}".format(*row["defaults"], *row["worst"])
        told = "   longest reply, in slices" * searches(name)
        told += f"   missed at {' and '.join(late)}" * bool(late)
        print(f"{name:28}{numbers}{told}", flush=True)
        found[name] = {**row, "worst at": taken["case"], "missed": late}
    met = sum(not row["missed"] for row in found.values())
    print(f"{met} of {len(found)} meet the goals")
    return found


if __name__ == "__main__":
    run(tuple(sys.argv[1:]))
