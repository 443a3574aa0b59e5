"""The guides of the path and the sections of the page stand beside the text and follow it."""

import pytest

from tests.browser.conftest import LAB

pytestmark = pytest.mark.browser
PATH, PAGE = "nav.contents.path", "[data-contents]"


@pytest.mark.parametrize("width", [1200, 1440, 1920])
def test_three_columns_stand_beside_one_another_and_stay(visit, width):
    page = visit(LAB, viewport={"width": width, "height": 900})
    page.evaluate("document.querySelector('#does-it-matter').scrollIntoView({block: 'start'})")
    text = page.locator("#does-it-matter").bounding_box()
    path, inside = (page.locator(f"{one} > div").bounding_box() for one in (PATH, PAGE))
    assert path["x"] + path["width"] < text["x"] < text["x"] + text["width"] < inside["x"]
    assert 0 <= path["y"] < 100
    assert 0 <= inside["y"] < 100
    assert page.locator(f"{PATH} [aria-current]").text_content() == "Gradient sync lab"
    page.wait_for_function(
        "() => document.querySelector('[data-contents] [aria-current]')?.textContent"
        " === 'Does it matter?'"
    )


def test_a_figure_passes_over_the_sections(visit):
    page = visit(LAB, viewport={"width": 1280, "height": 900})
    page.locator("#gradient_sync").evaluate("one => one.scrollIntoView({block: 'start'})")
    figure, inside = (page.locator(one).bounding_box() for one in ("#gradient_sync", PAGE))
    assert figure["x"] + figure["width"] > inside["x"]
    on_top = "([x, y]) => !!document.elementFromPoint(x, y).closest('#gradient_sync')"
    assert page.evaluate(on_top, [inside["x"] + 20, max(figure["y"], 0) + 200])


@pytest.mark.left_to_all("the columns are looked at in each layout")
def test_a_leap_to_the_top_is_noticed(visit):
    page = visit(LAB, viewport={"width": 1280, "height": 900})
    marked = "() => document.querySelector('[data-contents] [aria-current]')"
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_function(marked)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function(f"() => !({marked})()")


def test_on_a_phone_one_button_opens_both(visit):
    page = visit(LAB, viewport={"width": 390, "height": 844})
    links = page.locator(f"{PATH} a, {PAGE} a")
    assert not any(link.is_visible() for link in links.all())
    page.locator(".where-button").click()
    assert page.locator(f"{PATH} a").first.is_visible()
    page.locator(f"{PAGE} a").last.click()
    page.locator(".where").wait_for(state="hidden")
    assert page.evaluate("scrollY") > 0
