"""What a page loads and draws for whoever has just come."""

import pytest
from playwright.sync_api import expect

from tests.browser.reading import arrive

pytestmark = pytest.mark.browser


def bokeh(watch):
    return [url for url in watch.requests if "/bokeh-" in url]


def test_no_chart_is_made_live_before_the_reader_moves(visit, watch):
    page = visit("", moved=False)
    page.wait_for_load_state("networkidle")
    assert not bokeh(watch)
    arrive(page)
    page.locator("figure[data-chart=live]").first.wait_for()
    assert bokeh(watch)


def test_a_drawing_in_the_first_screen_follows_the_address(visit):
    page = visit("guides/tensor-parallelism/?tensor_steps.ranks=8")
    drawing = page.locator("figure[data-of=tensor_steps][data-output=scene] svg")
    expect(drawing.get_by_text("7", exact=True).first).to_be_visible(timeout=60_000)
