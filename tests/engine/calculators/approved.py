"""Approved values: what every calculator's numbers were when somebody last looked at them.

`python -m tests.engine.calculators.approved` prints what differs from `approved.json` and then
approves today's numbers: read what it prints before you commit the file. With names of calculators
behind it, it looks at those alone. Not one of them is a
claim; a test that knows why a number is right stands elsewhere. These only notice a change that
nobody meant.

Kept are, for the defaults, every preset and some seeded inputs: each value with ten digits; of
every other view, and of all receipts together, one number that all of their numbers, keys and links
go into, in their order. Words do not count.
"""

import json
import math
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

from engine.calculator import load, names
from engine.core.units import Quantity
from engine.core.views import Value
from tests.engine.calculators.tried import combinations, views_at

FILE = Path(__file__).with_name("approved.json")
SEEDED = 3
SHOWN = 20
_KEY = re.compile(r"[a-z][a-z0-9_:.@-]*")


def approved() -> dict[str, dict[str, dict[str, float | None]]]:
    """Return calculator -> case -> output -> number, as kept."""
    return json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {}


def today(name: str) -> dict[str, dict[str, float | None]]:
    """Return case -> output -> number of a calculator, as computed now."""
    calculator = load(name)
    seeded = {f"seeded {at}": one for at, one in enumerate(combinations(name)[:SEEDED])}
    cases = {"defaults": {}, **calculator.presets, **seeded}
    inputs = {key: summary(field) for key, field in calculator.fields.items()}
    return {"inputs": inputs} | {case: _case(name, values) for case, values in cases.items()}


def _case(name: str, values: Mapping[str, object]) -> dict[str, float | None]:
    views = views_at(name, values)
    receipts = [view.receipt for view in views.values() if isinstance(view, Value)]
    return {"receipts": summary(receipts)} | {key: _number(view) for key, view in views.items()}


def _number(view: object) -> float | None:
    number = float(view.value) if isinstance(view, Value) else summary(view)
    return float(f"{number:.10g}") if math.isfinite(number) else None


def summary(view: object) -> float:
    """Return one number that changes when any number of the view, or their order, does.

    Logarithms, so that a microsecond counts as much as a gigabyte.
    """
    total = 0.0
    for index, number in enumerate(_numbers(view)):
        size = math.log1p(abs(number) * 1e9) if math.isfinite(number) else 1000.0
        total += (1 + index % 10 / 10) * math.copysign(1 + size, number)
    return float(f"{total:.10g}")


def _numbers(part: object) -> Iterator[float]:
    if isinstance(part, (int, float)):
        yield float(part)
    elif isinstance(part, str):
        yield from map(float, re.findall(r"\d+(?:\.\d+)?", part))
        if _KEY.fullmatch(part):
            yield zlib.crc32(part.encode()) / 2**32
    elif not isinstance(part, Quantity):
        for one in _inner(part):
            yield from _numbers(one)


def _inner(part: object) -> Iterable[object]:
    if isinstance(part, Mapping):
        return (one for key in sorted(part) for one in (key, part[key]))
    if isinstance(part, (tuple, list)):
        return part
    # What is no part of a record's text concerns the build alone.
    shown = fields(part) if is_dataclass(part) else ()
    return (getattr(part, one.name) for one in shown if one.repr)


def told(before: object, now: object, name: str) -> list[str]:
    """Return what differs in a calculator; seeded cases of other inputs are one line."""
    found = list(differences(before, now, name))
    if not any(line.startswith(f"{name}, inputs") for line in found):
        return found
    kept = [line for line in found if not line.startswith(f"{name}, seeded ")]
    return [*kept, f"{name}: its inputs are others, and so the seeded cases are drawn anew"]


def differences(before: object, now: object, path: str) -> Iterator[str]:
    """Yield where two sets of numbers differ by more than a billionth."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            if key not in before or key not in now:
                yield f"{path}, {key}: {'new' if key in now else 'gone'}"
            else:
                yield from differences(before[key], now[key], f"{path}, {key}")
    elif isinstance(before, float | int) and isinstance(now, float | int):
        if not math.isclose(before, now, rel_tol=1e-9, abs_tol=1e-15):
            yield f"{path}: {before:.10g} -> {now:.10g}"
    elif before != now:
        yield f"{path}: {before} -> {now}"


def main() -> None:
    """Print what differs, and approve it: of the calculators that are named, or of all."""
    kept, chosen = approved(), sys.argv[1:] or names()
    now = {
        name: today(name) if name in chosen else kept[name]
        for name in names()
        if name in chosen or name in kept
    }
    found = [line for name in now for line in told(kept.get(name, {}), now[name], name)]
    print(*found[:SHOWN], sep="\n")
    print(f"{len(found)} lines: numbers that differ, are new or gone; {FILE.name} holds today's")
    lines = (
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(
            f"  {json.dumps(case)}: {json.dumps(numbers, ensure_ascii=False)}"
            for case, numbers in cases.items()
        )
        + "\n}"
        for name, cases in now.items()
    )
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
