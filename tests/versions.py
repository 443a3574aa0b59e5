"""`python -m tests.versions`: the newest releases in the catalog beside those of the package index.

Asks pip for each package, whatever Python it needs, and prints which rows of the catalog are older
than the index. Exits with 1 if one is, and with 2 if the index cannot be asked.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable

from engine.catalog.software import SOFTWARE, Software, version_key

_NEWEST = re.compile(r"^Available versions: ([^\s,]+)", re.MULTILINE)


def newest_in(answer: str) -> str:
    """Return the newest release in what `pip index versions` printed, "" where it names none."""
    match = _NEWEST.search(answer)
    return match[1] if match else ""


def ask_index(package: str) -> str:
    """Return the newest release of a package in the index, "" where there is no answer."""
    command = [sys.executable, "-m", "pip", "index", "versions", "--ignore-requires-python"]
    try:
        asked = subprocess.run(
            [*command, package], capture_output=True, text=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    return newest_in(asked.stdout)


def compare(rows: Iterable[Software], ask: Callable[[str], str]) -> tuple[list[str], int]:
    """Return a line for each row that has a package, and the exit status."""
    lines: list[str] = []
    behind = silent = 0
    for row in rows:
        if not row.package:
            continue
        newest = ask(row.package)
        if not newest:
            silent += 1
            lines.append(f"{row.name}: the package index gave no answer for {row.package}")
            continue
        is_older = version_key(newest) > version_key(row.newest)
        behind += is_older
        state = "BEHIND" if is_older else "as listed"
        lines.append(
            f"{row.name}: read at {row.read_at}, listed {row.newest}, index {newest}: {state}"
        )
    if lines and silent == len(lines):
        return ["No answer from the package index; is there a network?"], 2
    return lines, 1 if behind else 2 if silent else 0


def main() -> int:
    """Print the comparison."""
    lines, status = compare(SOFTWARE, ask_index)
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
