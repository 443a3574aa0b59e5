"""Every row of tests/features.toml is on its page, and reacts where it has inputs."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, TimeoutError

from tests.browser.reading import arrive

pytestmark = pytest.mark.browser
Row = dict[str, Any]
ROWS: list[Row] = tomllib.loads(
    (Path(__file__).resolve().parents[1] / "features.toml").read_text("utf-8")
)["row"]
PAGES = sorted({row["page"] for row in ROWS})
SEEN = "selector => document.querySelector(selector)?.outerHTML"
DIFFERS = "([selector, before]) => document.querySelector(selector)?.outerHTML !== before"


def of_page(page: str) -> list[Row]:
    return [row for row in ROWS if row["page"] == page]


def states(rows: list[Row]) -> Iterator[tuple[dict[str, str], list[Row]]]:
    """Yield (inputs, rows) so that every row's inputs are set in one state of the page."""
    waiting = [row for row in rows if "set" in row]
    while waiting:
        inputs: dict[str, str] = {}
        later: list[Row] = []
        together: list[Row] = []
        for row in waiting:
            agrees = all(inputs.get(key, value) == value for key, value in row["set"].items())
            (together if agrees else later).append(row)
            inputs |= row["set"] if agrees else {}
        yield inputs, together
        waiting = later


@pytest.mark.parametrize("path", PAGES)
def test_every_feature_is_on_its_page_and_reacts_to_its_inputs(visit, base, path):
    page: Page = visit(path)
    rows = of_page(path)
    missing = [row["id"] for row in rows if not page.locator(row["selector"]).count()]
    assert missing == []
    before = {r["changes"]: page.evaluate(SEEN, r["changes"]) for r in rows if "changes" in r}
    still: list[str] = []
    for inputs, together in states(rows):
        page.goto(f"{base}{path}?{urlencode(inputs)}")
        arrive(page)
        for row in together:
            try:
                arg = [row["changes"], before[row["changes"]]]
                page.wait_for_function(DIFFERS, arg=arg, timeout=15_000)
            except TimeoutError:
                still.append(row["id"])
    assert still == []
