"""Light or dark and the size of the text by choice: at once, remembered, before the first paint."""

import pytest

pytestmark = pytest.mark.browser
PAPER = "() => getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(253, 252, 249)", "rgb(21, 23, 28)"
LINE = """() => getComputedStyle(document.querySelector('.chart-svg [class*=c-]')).color"""

BAR = "() => getComputedStyle(document.querySelector('main pre')).scrollbarColor"


def choose(page, name: str, value: str) -> None:
    page.locator("[data-settings]").click()
    page.locator(f"input[name={name}][value='{value}']").check()
    page.locator("#settings [popovertargetaction=hide]").click()


def test_dark_is_worn_at_once_and_light_and_the_systems(visit):
    page = visit(color_scheme="light")
    before = page.evaluate(LINE)
    choose(page, "scheme", "dark")
    assert page.evaluate(PAPER) == DARK
    assert page.evaluate(LINE) != before
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    choose(page, "scheme", "")
    assert page.evaluate(PAPER) == LIGHT
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(PAPER) == DARK
    choose(page, "scheme", "light")
    assert page.evaluate(PAPER) == LIGHT


def test_the_choice_is_there_before_the_first_paint(visit):
    page = visit(color_scheme="light")
    choose(page, "scheme", "dark")
    page.route("**/main.js", lambda route: route.abort())
    page.reload()
    assert page.evaluate(PAPER) == DARK
    assert page.locator("link[rel=stylesheet] ~ script:not([type])").count() == 1


def test_the_choice_reaches_other_tabs(visit):
    one = visit(color_scheme="light")
    other = one.context.new_page()
    other.goto(one.url)
    choose(one, "scheme", "dark")
    other.wait_for_function(f"() => ({PAPER})() === '{DARK}'")


@pytest.mark.left_to_all("a dark page is looked at from the first paint on")
def test_bars_that_scroll_wear_the_pages_ink(visit):
    page = visit(color_scheme="light")
    assert page.evaluate(BAR) == "rgb(93, 96, 104) rgba(0, 0, 0, 0)"
    choose(page, "scheme", "dark")
    assert page.evaluate(BAR) == "rgb(163, 164, 159) rgba(0, 0, 0, 0)"


def test_a_dark_page_is_printed_on_white(visit):
    page = visit(color_scheme="light")
    choose(page, "scheme", "dark")
    page.emulate_media(media="print")
    assert page.evaluate(PAPER) == LIGHT


def test_text_grows_and_fits(visit):
    page = visit(viewport={"width": 390, "height": 844})
    before = page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
    choose(page, "size", "larger")
    assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") > 1.2 * before
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
