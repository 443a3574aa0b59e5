"""What draws live charts is not loaded for whoever only looks at the first screen."""

import pytest

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
