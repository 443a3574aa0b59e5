"""The data under a chart is that of the chart: opened late, open, and on paper; tables fit."""

import pytest

from engine.answer import reply
from tests.browser.conftest import LAB
from tests.browser.reading import CALCULATOR, drag_number, expected, live, wait_for

pytestmark = pytest.mark.browser
FIGURE = f'figure[data-of="{CALCULATOR}"][data-output="algorithms"]'
PRINTED = f"""() => {{
  dispatchEvent(new Event("beforeprint"));
  const open = document.querySelector('{FIGURE} details.data').open;
  dispatchEvent(new Event("afterprint"));
  return open;
}}"""


def numbers(**values):
    """The texts of the table's cells for these inputs."""
    asked = {"calculator": CALCULATOR, "values": values}
    view = reply(asked)["outputs"]["algorithms"]
    return {part["text"] for bar in view["bars"] for part in bar["segments"]}


def cells(page):
    return set(page.locator(f"{FIGURE} [data-table] td").all_text_contents())


def changed(visit):
    page = visit(LAB + "?gradient_sync.world_size=1024")
    live(page)
    wait_for(page, "all_reduce_time", expected(world_size="1024"))
    return page


def test_a_table_opened_after_a_change_is_of_the_present_state(visit):
    page = changed(visit)
    page.locator(f"{FIGURE} details.data summary").first.click()
    page.locator(f"{FIGURE} [data-table]:not([data-old])").wait_for()
    text = next(iter(numbers(world_size="1024") - numbers()))
    page.locator(f"{FIGURE} [data-table] td", has_text=text).first.wait_for()
    assert numbers(world_size="1024") <= cells(page)


@pytest.mark.left_to_all("a table is opened after a change, and unfolded on paper")
def test_an_open_table_follows(visit):
    page = changed(visit)
    page.locator(f"{FIGURE} details.data summary").first.click()
    drag_number(page).fill("64")
    wait_for(page, "all_reduce_time", expected(world_size="64"))
    text = next(iter(numbers(world_size="64") - numbers(world_size="1024")))
    page.locator(f"{FIGURE} [data-table] td", has_text=text).first.wait_for()


def test_on_paper_tables_are_unfolded(visit):
    page = visit()
    live(page)
    assert page.evaluate(PRINTED)


@pytest.mark.left_to_all("a table is opened after a change, and unfolded on paper")
def test_on_paper_no_table_is_of_another_state_than_its_chart(visit):
    page = changed(visit)
    page.locator(f"{FIGURE} [data-table][data-old]").wait_for(state="attached")
    assert not page.evaluate(PRINTED)


def test_a_live_chart_is_as_wide_as_the_paper(visit):
    page = visit()
    figure = page.locator(FIGURE)
    figure.scroll_into_view_if_needed()
    page.locator(f"{FIGURE}[data-chart=live]").wait_for()
    page.set_viewport_size({"width": 640, "height": 900})
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert not figure.locator(".live").is_visible()
    still = figure.locator(".chart-svg")
    assert still.evaluate("one => getComputedStyle(one).opacity") == "1"
    area = still.bounding_box()
    assert area["x"] + area["width"] <= 640


@pytest.mark.parametrize("address", ["reference/claims/", "guides/optimization-frontier/"])
def test_a_table_of_sentences_is_seen_whole_on_a_desktop(visit, address):
    page = visit(address)
    page.set_viewport_size({"width": 1440, "height": 900})
    cut = "every => every.filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert page.locator(".scroll:has(table)").evaluate_all(cut) == 0
