"""What a sweep leaves: a journal that grows by a line for each point, and at the end its table.

The journal is what a killed sweep goes on from. Each line is handed to the system at once, so that
it outlasts the process; a line that was cut off counts as not written.
"""

import csv
import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def read_journal(path: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every point in a journal by its key, and take off a line cut short."""
    found: dict[str, list[dict[str, Any]]] = {}
    with open(path, "a+b") as file:  # noqa: PTH123 (the engine knows no paths)
        file.seek(0)
        whole = 0
        for line in file:
            try:
                one = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                one = None
            if one is None:
                break
            found[one["key"]] = one["rows"]
            whole += len(line)
        file.truncate(whole)
    return found


def add_to_journal(path: str, key: str, rows: Sequence[Row]) -> None:
    """Add the rows of a point in one write."""
    line = json.dumps({"key": key, "rows": list(rows)}, ensure_ascii=False) + "\n"
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123
        file.write(line.encode())


def write_tables(stem: str, rows: Iterable[Row]) -> list[str]:
    """Write the table as CSV and, where PyArrow is installed, as Parquet; return the files."""
    told = list(rows)
    written = [f"{stem}.csv"]
    with open(written[0], "w", newline="", encoding="utf-8") as file:  # noqa: PTH123
        writer = csv.DictWriter(file, fieldnames=list(told[0]))
        writer.writeheader()
        writer.writerows(told)
    # By name, since the engine runs without it: it belongs to the extra [sweep].
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        return written
    written.append(f"{stem}.parquet")
    parquet.write_table(arrow.Table.from_pylist(told), written[-1])
    return written
