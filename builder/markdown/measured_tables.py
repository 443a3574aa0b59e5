"""What a program measured beside other tools, as tables: `[[measured.*]]`.

`content/measured.json` holds {"date", "machine", "load", "places"}, and `places` place ->
side -> {"first", "again"}: the numbers of a first visit and of one after it, each by name.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.core.numbers import DEFAULT
from engine.core.views import Table
from engine.draw.fragments import table_fragment

_BYTES = "bytes"


def tables(measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of every place, of its first visits and of those after them, as HTML."""
    for place, sides in measured.get("places", {}).items():
        for visit, said in (("first", "first visit"), ("again", "repeated visit")):
            rows = {side: numbers[visit] for side, numbers in sides.items()}
            names = list(dict.fromkeys(name for row in rows.values() for name in row))
            table = Table(
                title=f"{place[:1].upper()}{place[1:]}, {said}",
                columns=("Made with", *(_head(name) for name in names)),
                rows=tuple(
                    (side, *(_text(name, row.get(name)) for name in names))
                    for side, row in rows.items()
                ),
            )
            yield table_fragment(table, DEFAULT)


def _head(name: str) -> str:
    """Return a heading; the unit of bytes keeps its small letter."""
    return "kB" if name == _BYTES else f"{name[:1].upper()}{name[1:]}"


def _text(name: str, value: float | None) -> str:
    """Return a cell; a side has no number where it does not get that far."""
    if value is None:
        return "none"
    if name == _BYTES:
        return f"{value / 1000:,.0f}"
    return f"{value:,.3f}" if 0 < value < 1 else f"{value:,.0f}"
