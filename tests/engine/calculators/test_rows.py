"""The rows of tests/features.toml, natively: a figure says what its row asks for.

That the same rows stand on their pages and react there is tests/browser/test_features.py.
"""

import json
import re
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from engine.answer import reply
from tests.each import each

Row = dict[str, Any]
Place = tuple[str, str]

ROOT = Path(__file__).resolve().parents[3]
ROWS: list[Row] = tomllib.loads((ROOT / "tests/features.toml").read_text("utf-8"))["row"]
# The paths all of whose rows say what they ask for.
WHOLE = (
    "A One GPU",
    "B Moving bytes",
    "C Data parallelism and sharding",
    "D Splitting the model",
)
_PLACES = (r"data-of=(\w+)\]\[data-output=(\w+)", r"#(\w+) \[data-output=(\w+)")
_PATH = re.compile(r'^path = "([^"]*)"', re.MULTILINE)


def place(selector: str) -> Place | None:
    """Return (calculator, output) of a selector, None where it names no output."""
    found = [one for pattern in _PLACES if (one := re.search(pattern, selector))]
    return (found[0][1], found[0][2]) if found else None


def answer(row: Row, at: Place, values: dict[str, str]) -> dict[str, Any]:
    calculator, output = at
    own = {key.removeprefix(f"{calculator}."): value for key, value in values.items()}
    asked = {"calculator": calculator, "values": own}
    kind = reply(asked)["outputs"][output]["kind"]
    if kind in ("lines", "bars", "timeline", "heatmap"):
        asked["want"] = {"spoken": [output], "table": [output]}
    return reply(asked)


def told(row: Row, at: Place, values: dict[str, str]) -> str:
    """Return all that a view says: its texts, and what a chart tells a screen reader."""
    found = answer(row, at, values)
    extra = found.get("extra", {})
    more = [extra.get(name, {}).get(at[1], "") for name in ("spoken", "table")]
    whole = json.dumps(found["outputs"][at[1]], ensure_ascii=False) + " ".join(map(str, more))
    return unescape(re.sub(r"</?[a-z][^>]*>", " ", whole.replace('\\"', '"')))


def name(row: Row) -> str:
    return f"{row['id']} {row['changes']}"


@each("row", [row for row in ROWS if "says" in row], ids=name)
def test_a_figure_says_what_its_row_asks_for(row):
    places = {place(row["selector"]), place(row["changes"])} - {None}
    values = row["set"]
    calculators = {key.split(".")[0] for key in values}
    text = " ".join(told(row, at, values) for at in places if at and at[0] in calculators)
    text = text.replace("\u00a0", " ")  # which holds numbers and their units together
    assert [one for one in row["says"] if one not in text] == []


@each("row", [row for row in ROWS if "moves" in row], ids=name)
def test_a_number_goes_the_way_that_its_row_asks_for(row):
    at = place(row["changes"])
    assert at is not None
    before, after = (answer(row, at, v)["outputs"][at[1]]["value"] for v in ({}, row["set"]))
    assert row["moves"] in ("more", "less")
    assert (after > before) == (row["moves"] == "more")
    assert after != before


@pytest.mark.parametrize("path", WHOLE)
def test_every_row_of_these_paths_that_reacts_says_what_it_asks_for(path):
    pages = {
        f"guides/{file.stem}/"
        for file in (ROOT / "content/guides").glob("*.md")
        if (found := _PATH.search(file.read_text("utf-8"))) and found[1] == path
    }
    assert pages
    silent = [
        name(row)
        for row in ROWS
        if row["page"] in pages and "changes" in row and not {"says", "moves"} & set(row)
    ]
    assert silent == []
