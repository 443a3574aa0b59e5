"""Every calculator's replies, kept and compared: a move of code must not change what readers see.

`python -m tests.replies save FILE` keeps the replies to the defaults and to every preset, receipts,
tables and files of data included; `python -m tests.replies compare FILE [NAME ...]` prints where
today's differ.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.answer import answer
from engine.calculator import load, names
from engine.core.parsing import exact_text

CHARTS = ("lines", "bars", "timeline", "heatmap")
WANTED = {"receipts": ("value",), "table": CHARTS, "csv": (*CHARTS, "table")}
SHOWN = 12


def replies(name: str) -> dict[str, Any]:
    """Return case -> reply of a calculator: its defaults, and each of its presets."""
    cases = {"defaults": {}, **load(name).presets}
    return {case: reply(name, values) for case, values in cases.items()}


def reply(name: str, values: dict[str, Any]) -> Any:
    """Return the reply to a preset, with everything that a reader can open."""
    request = {"calculator": name, "values": {k: exact_text(v) for k, v in values.items()}}
    outputs = json.loads(answer(json.dumps(request)))["outputs"]
    want = {
        extra: [name for name, view in outputs.items() if view["kind"] in kinds]
        for extra, kinds in WANTED.items()
    }
    return json.loads(answer(json.dumps(request | {"want": want})))


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield each place where two replies differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            here = f"{path}/{key}"
            if key not in before or key not in after:
                yield f"{here}: {'new' if key in after else 'gone'}"
            else:
                yield from differences(before[key], after[key], here)
        if list(before) != list(after) and set(before) == set(after):
            yield f"{path}: order {list(before)} -> {list(after)}"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{path}/{index}")
    elif before != after:
        yield f"{path}: {str(before)[:160]!r} -> {str(after)[:160]!r}"


def main(verb: str, file: str, *chosen: str) -> int:
    """Keep the replies, or print what differs from the kept ones; return 1 if anything does."""
    path = Path(file)
    if verb == "save":
        path.write_text(json.dumps({n: replies(n) for n in names()}), encoding="utf-8")
        return 0
    kept, count = json.loads(path.read_text(encoding="utf-8")), 0
    for name in chosen or sorted({*kept, *names()}):
        now = replies(name) if name in names() else {}
        found = list(differences(kept.get(name, {}), now, name))
        count += len(found)
        print(*found[:SHOWN], sep="\n", end="\n" if found else "")
        if len(found) > SHOWN:
            print(f"... and {len(found) - SHOWN} more in {name}")
    print(f"{count} differences")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
