"""What a term means opens where it is pointed at: by a mouse, by a key, by a finger."""

import pytest

from tests.browser.conftest import LAB

pytestmark = pytest.mark.browser
# A link as it arrives; a button once the receipts have come, which may be at any moment.
TERM = "article .term"
NAME = "one => one.hash?.slice(1) || one.getAttribute('popovertarget')"


def opened(page, name):
    """Wait for the definition, which stands in its box, and return it."""
    box = page.locator(f".definition[popover]#{name}:popover-open")
    box.wait_for()
    return box


@pytest.fixture
def at_a_term(visit):
    page = visit(LAB, moved=False)
    term = page.locator(TERM).first
    return page, term, term.evaluate(NAME), term.text_content()


def test_a_click_opens_it_in_place(at_a_term):
    page, term, name, _ = at_a_term
    at = page.url
    term.click()
    assert opened(page, name).locator("strong").is_visible()
    assert page.url == at


def test_enter_opens_it_and_the_focus_stays(at_a_term):
    page, term, name, word = at_a_term
    term.focus()
    page.locator(f"button.term[popovertarget={name}]:focus").wait_for()
    page.keyboard.press("Enter")
    opened(page, name)
    assert page.evaluate("document.activeElement.textContent") == word


def test_a_finger_opens_it(visit):
    page = visit(
        LAB, moved=False, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    term = page.locator(TERM).first
    name = term.evaluate(NAME)
    term.tap()
    box = opened(page, name).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_without_its_file_it_leads_to_the_glossary(visit):
    away = ("**/receipts/", lambda route: route.abort())
    page = visit(LAB, moved=False, prepare=lambda page: page.route(*away))
    page.locator("a.term").first.click()
    page.wait_for_url("**/reference/glossary/#term-*")


def test_a_fold_that_is_opened_gets_its_table(visit):
    page = visit(LAB, moved=False)
    fold = page.locator("figure.chart details.data").first
    fold.evaluate("one => one.querySelector('summary').click()")
    page.locator("figure.chart details.data[open] [data-table] td").first.wait_for()


@pytest.mark.left_to_all("a fold is opened here; test_tables.py prints one")
def test_on_paper_every_fold_has_what_it_holds(visit):
    page = visit(LAB, moved=False)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main [data-beside]").count() == 0
    assert page.locator("details.data[open] td").count() > 10
