"""The dock of a phone: the touched input, the headline before and now, the first figure."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import in_both_schemes
from tests.browser.conftest import LAB
from tests.browser.reading import live

pytestmark = pytest.mark.browser
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DOCK, NOW, BEFORE = "[data-panel=dock]", "[data-dock-now]", "[data-dock-before]"
FIELD = "#gradient_sync [data-field=world_size]"


def opened(visit) -> Page:
    page = visit(LAB, **PHONE)
    live(page)
    page.locator(FIELD).scroll_into_view_if_needed()
    page.locator(f"{FIELD} [name]").tap()
    page.locator(DOCK).wait_for()
    return page


def test_a_touched_input_opens_with_the_headline_and_its_change(visit):
    page = opened(visit)
    expect(page.locator("[data-dock-label]")).to_have_text("GPUs\u00a0n")
    expect(page.locator("[data-dock-name]")).to_have_text("Step")
    first = page.locator(NOW).text_content()
    expect(page.locator(BEFORE)).to_have_text("")
    page.locator(f"{DOCK} .slider").evaluate(
        "one => { one.value = 950; one.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    expect(page.locator(BEFORE)).to_contain_text("→", timeout=30_000)
    assert page.locator(NOW).text_content() != first
    lead = page.locator("#gradient_sync .lead .number.big")
    expect(lead).to_have_text(page.locator(NOW).text_content() or "")
    page.get_by_role("button", name="Less").tap()
    sheet = page.locator(".dock-sheet").bounding_box()
    assert sheet
    assert sheet["height"] <= 0.4 * 844
    for button in page.locator(f"{DOCK} button").all():
        box = button.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 44
    assert in_both_schemes(page) == []


def test_opening_moves_nothing_and_escape_gives_the_focus_back(visit):
    page = visit(LAB, **PHONE)
    live(page)
    field = page.locator(FIELD)
    field.scroll_into_view_if_needed()
    top = "one => one.getBoundingClientRect().top + scrollY"
    before = field.evaluate(top)
    field.locator("[name]").tap()
    page.locator(DOCK).wait_for()
    assert field.evaluate(top) == before
    assert page.evaluate("document.activeElement.type") == "range"
    page.keyboard.press("Escape")
    expect(page.locator(DOCK)).to_be_hidden()
    assert page.evaluate("document.activeElement.name") == "world_size"


def test_the_first_figure_stays_in_view(visit):
    page = opened(visit)
    expect(page.locator("[data-dock-figure] svg").first).to_be_visible(timeout=30_000)
    page.locator("#gradient_sync figure [data-plot]").first.evaluate(
        "one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 100)"
    )
    expect(page.locator("[data-dock-figure]")).to_be_hidden()
    page.get_by_role("button", name="Close", exact=True).tap()
    expect(page.locator(DOCK)).to_be_hidden()


@pytest.mark.left_to_all("a touched input opens it here, a number in test_live.py")
def test_a_number_in_a_sentence_opens_it_too(visit):
    page = visit(LAB, **PHONE)
    live(page)
    number = page.locator("input.drag").first
    number.scroll_into_view_if_needed()
    number.tap()
    page.locator(DOCK).wait_for()
    before = number.input_value()
    page.get_by_role("button", name="More").tap()
    expect(number).not_to_have_value(before, timeout=30_000)


@pytest.mark.left_to_all("a touched input opens it here, a number in test_live.py")
def test_a_choice_shows_what_it_does(visit):
    page = visit(LAB, **PHONE)
    live(page)
    choice = page.locator("#gradient_sync .field-choice select:enabled").first
    choice.scroll_into_view_if_needed()
    value = choice.evaluate("one => [...one.options].find((other) => !other.selected).value")
    choice.select_option(value)
    expect(page.locator(f"{DOCK} select")).to_have_value(value)
