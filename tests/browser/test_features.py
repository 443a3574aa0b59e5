"""Every row of tests/features.toml is on its page, and reacts where it has inputs."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from engine.calculator import load
from engine.core.parsing import exact_text
from tests.browser.reading import AT_REST, PATIENCE, all_live, at_rest

pytestmark = pytest.mark.browser
Row = dict[str, Any]
ROWS: list[Row] = tomllib.loads(
    (Path(__file__).resolve().parents[1] / "features.toml").read_text("utf-8")
)["row"]
PAGES = sorted({row["page"] for row in ROWS})
# What is there, without the marks that it waits for an answer.
SEEN = """selector => {
  const found = document.querySelector(selector)?.cloneNode(true);
  for (const one of found ? [found, ...found.querySelectorAll(".stale, [data-behind]")] : []) {
    one.classList.remove("stale");
    one.removeAttribute("data-behind");
  }
  return found?.outerHTML;
}"""
DIFFERS = f"([selector, before]) => ({SEEN})(selector) !== before"
# Set as a link of the page does (`data-set`), calculator by calculator.
SET = """inputs => {
  asking.last = performance.now();
  const queries = {};
  for (const [key, value] of Object.entries(inputs)) {
    (queries[key.split(".")[0]] ??= new URLSearchParams()).set(key, value);
  }
  for (const [name, query] of Object.entries(queries)) {
    const link = document.createElement("a");
    link.href = `#${name}`;
    link.dataset.set = query.toString();
    document.querySelector("main").append(link);
    link.click();
    link.remove();
  }
}"""


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


def default(key: str) -> str:
    """Return what "calculator.input" is set to where nobody has changed it."""
    calculator, _, name = key.partition(".")
    return exact_text(load(calculator).defaults[name])


def unmoved(page: Page, inputs: dict[str, str], rows: list[Row]) -> list[Row]:
    """Set inputs and set them back; return the rows of which nothing changed."""
    at_rest(page)
    before = {row["changes"]: page.evaluate(SEEN, row["changes"]) for row in rows}
    page.evaluate(SET, inputs)
    found: list[Row] = []
    for row in rows:
        arg = [row["changes"], before[row["changes"]]]
        either = f"arg => ({DIFFERS})(arg) || ({AT_REST})()"
        page.wait_for_function(either, arg=arg, timeout=PATIENCE)
        found += [] if page.evaluate(DIFFERS, arg) else [row]
    page.evaluate(SET, {key: default(key) for key in inputs})
    at_rest(page)
    return found


@pytest.mark.parametrize("path", PAGES)
def test_every_feature_is_on_its_page(opened, path):
    page: Page = opened(path).page
    missing = [row["id"] for row in of_page(path) if not page.locator(row["selector"]).count()]
    assert missing == []


@pytest.mark.parametrize("path", PAGES)
def test_every_feature_reacts_to_its_inputs(opened, path):
    page: Page = opened(path).page
    all_live(page)
    still: list[str] = []
    for inputs, together in states(of_page(path)):
        for row in unmoved(page, inputs, together):  # what is set for another may undo it
            still += [one["id"] for one in unmoved(page, row["set"], [row])]
    assert still == []
