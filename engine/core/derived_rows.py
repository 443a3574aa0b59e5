"""Rows that a program derives from another table: a missing one names the program."""

from typing import TypeVar

Value = TypeVar("Value")


class DerivedRows(dict[str, Value]):
    """Row -> what was derived from it.

    Args:
        table: file of the derived rows.
        program: module that writes the file.
    """

    def __init__(self, rows: dict[str, Value], *, table: str, program: str) -> None:
        super().__init__(rows)
        self._table, self._program = table, program

    def __missing__(self, row: str) -> Value:
        """Raise an error that says how the row is derived."""
        raise LookupError(
            f"engine/catalog/published_table.tsv: row '{row}' has no line in "
            f"engine/catalog/{self._table} yet: python -m {self._program} writes it"
        )
