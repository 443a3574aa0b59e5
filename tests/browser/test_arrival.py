"""What a page loads and draws for whoever has just come."""

import pytest
from playwright.sync_api import expect

from tests.browser.reading import arrive

pytestmark = pytest.mark.browser


# As Chromium reports a mouse that rests where the page appears; then whatever waits for idle time.
RESTING = """async () => {
  document.body.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
  await new Promise((done) => setTimeout(done));
  await new Promise((done) => requestIdleCallback(done));
}"""


def asked(page, watch):
    """The charts' data and BokehJS, as far as they were fetched."""
    figures = page.evaluate("document.body.dataset.figures.split('/').pop()")
    return {name for name in (figures, "bokeh-") for url in watch.requests if name in url}


def test_no_chart_is_made_live_before_the_reader_moves(visit, watch):
    page = visit("", moved=False)
    page.wait_for_load_state("networkidle")
    assert not asked(page, watch)
    page.evaluate(RESTING)
    assert not asked(page, watch)
    arrive(page)
    page.locator("figure[data-chart=live]").first.wait_for()
    assert len(asked(page, watch)) == 2


def test_a_drawing_in_the_first_screen_follows_the_address(visit):
    page = visit("guides/tensor-parallelism/?tensor_steps.ranks=8")
    drawing = page.locator("figure[data-of=tensor_steps][data-output=scene] svg")
    expect(drawing.get_by_text("7", exact=True).first).to_be_visible(timeout=60_000)
