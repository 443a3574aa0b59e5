"""Files of a sweep: a journal with a line per point, and the final tables.

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
    """Return rows by point key, and truncate an incomplete last line."""
    rows_by_point: dict[str, list[dict[str, Any]]] = {}
    with open(path, "a+b") as file:  # noqa: PTH123 (the engine knows no paths)
        file.seek(0)
        valid_bytes = 0
        for line in file:
            try:
                entry = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                entry = None
            if entry is None:
                break
            rows_by_point[entry["key"]] = entry["rows"]
            valid_bytes += len(line)
        file.truncate(valid_bytes)
    return rows_by_point


def append_to_journal(path: str, key: str, rows: Sequence[Row]) -> None:
    """Append the rows of a point to the journal in one write."""
    line = json.dumps({"key": key, "rows": list(rows)}, ensure_ascii=False) + "\n"
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123
        file.write(line.encode())


def write_tables(stem: str, rows: Iterable[Row]) -> list[str]:
    """Write the table as CSV and, where PyArrow is installed, as Parquet; return the files."""
    table_rows = list(rows)
    written = [f"{stem}.csv"]
    with open(written[0], "w", newline="", encoding="utf-8") as file:  # noqa: PTH123
        writer = csv.DictWriter(file, fieldnames=list(table_rows[0]))
        writer.writeheader()
        writer.writerows(table_rows)
    # By name, since the engine runs without it: it belongs to the extra [sweep].
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        return written
    written.append(f"{stem}.parquet")
    parquet.write_table(arrow.Table.from_pylist(table_rows), written[-1])
    return written
