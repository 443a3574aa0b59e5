"""Which views call a formula: `python -m tests.engine.calculators.climbs [NAME ...]`.

A view tells what `solve` found. While the views of a calculator are made, at its defaults and at
every preset, no module-level function of the rooms that compute is called from a calculator or from
`form/`, except below a `Later` of the result or a search of it in slices. Methods and properties of
records are the records telling of themselves; what `draw/` asks of them is drawing; an exporter
tells a run in the words of other software.
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from engine.calculator import load, make, names
from engine.core.lazy import Lazy
from engine.core.slices import SlicedRun, run_to_end

ENGINE = str(Path(__file__).parents[3] / "engine") + "/"
COMPUTE = ("formulas", "simulate", "run", "collectives", "schedules", "tiny")
TELL = ("calculators", "form")
# Parts of a result that wait until they are asked for.
PARTS = (Lazy.__call__.__code__, SlicedRun.until.__code__)


def climbs(name: str, *, presets: bool = True) -> tuple[str, ...]:
    """Return the calls of formulas that the views of a calculator make, "FILE: caller -> called".

    Each stands once, however often it is made.
    """
    calculator = load(name)
    found: dict[str, None] = {}
    for values in ({}, *(calculator.presets.values() if presets else ())):
        inputs = make(calculator, values)
        result = calculator.solve(inputs)
        sys.setprofile(lambda frame, event, _: _note(frame, found) if event == "call" else None)
        try:
            for view in dict(calculator.views(inputs, result)).values():
                made: Any = view() if callable(view) else view
                if hasattr(made, "send"):
                    run_to_end(made)
        finally:
            sys.setprofile(None)
    return tuple(found)


def _note(frame: FrameType, calls: dict[str, None]) -> None:
    code = frame.f_code
    if _room(code.co_filename) not in COMPUTE or "." in code.co_qualname:
        return
    callers = _engine(frame.f_back)
    caller = next(callers, None)
    if caller is None or _room(caller.f_code.co_filename) not in TELL:
        return
    if any(one.f_code in PARTS for one in (caller, *callers)):
        return
    file = caller.f_code.co_filename.removeprefix(ENGINE)
    calls[f"{file}: {caller.f_code.co_qualname} -> {code.co_name}"] = None


def _engine(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the engine, from the innermost outwards."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(ENGINE):
            yield frame
        frame = frame.f_back


@cache
def _room(file: str) -> str:
    if not file.startswith(ENGINE) or "/run/exporters/" in file:
        return ""
    return file.removeprefix(ENGINE).split("/")[0]


def main(*chosen: str) -> int:
    """Print the calls, by calculator; return 1 if there are any."""
    found = {name: climbs(name) for name in chosen or names()}
    for name, calls in found.items():
        if calls:
            print(name, *calls, sep="\n  ")
    print(f"{sum(map(bool, found.values()))} of {len(found)} calculators have views that compute.")
    return int(any(found.values()))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
