import pytest

from tests.browser.axe import in_both_schemes
from tests.browser.conftest import LAB
from tests.browser.reading import CALCULATOR, drag_number, expected

pytestmark = pytest.mark.browser
RECEIPT = f"receipt-{CALCULATOR}-all_reduce_time"


@pytest.fixture
def plain(visit):
    return visit(java_script_enabled=False, moved=False)


def number(plain):
    return plain.locator(f'a.number[href="receipts/#{RECEIPT}"]').first


def test_all_defaults_are_there(plain):
    assert number(plain).text_content() == expected()


@pytest.mark.left_to_all("defaults, charts, receipts and terms of the same page are read")
def test_numbers_to_drag_read_as_numbers(plain):
    number = drag_number(plain, "parameters")
    assert (number.input_value(), number.is_editable()) == ("7B", False)


def test_charts_are_drawn(plain):
    assert plain.locator(f'[data-output="parts"][data-of="{CALCULATOR}"] svg').first.is_visible()


def test_what_needs_a_script_is_not_offered(plain):
    dead = plain.locator(":is([data-undo], [data-download], [data-play], [data-apply]):visible")
    assert dead.count() == 0


def test_a_number_leads_to_its_receipt_and_that_back_to_the_page(plain, base):
    number(plain).click()
    plain.wait_for_url(f"**/receipts/#{RECEIPT}")
    receipt = plain.locator(f"#{RECEIPT}:target")
    assert receipt.locator(".big").text_content() == expected()
    assert receipt.bounding_box()["y"] < 200  # the browser has gone to it
    source = receipt.locator("[data-cite]").first
    label = source.text_content()
    source.click()
    plain.wait_for_url(f"{base}{LAB}#ref-*")
    assert plain.locator("li:target").is_visible()
    assert label


def test_a_page_of_receipts_has_no_violation(visit):
    page = visit(LAB + "receipts/")
    assert in_both_schemes(page) == []


@pytest.mark.left_to_all("defaults, charts, receipts and terms of the same page are read")
def test_a_page_of_receipts_is_not_wider_than_a_phone(visit):
    page = visit(LAB + "receipts/", viewport={"width": 360, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360


def test_an_equation_holds_its_numbers(plain):
    slots = plain.locator('[data-kind="formula"] [data-slot]')
    assert all(text.strip() for text in slots.all_text_contents())


def test_the_answer_to_a_prediction_can_be_unfolded(plain):
    answer = plain.locator("[data-answer]").first
    answer.locator("summary").click()
    assert answer.locator(".answer").is_visible()


@pytest.mark.left_to_all("defaults, charts, receipts and terms of the same page are read")
def test_the_drawing_is_told_in_words(visit):
    page = visit("guides/collectives-by-hand/", java_script_enabled=False, moved=False)
    words = page.locator(".scene-figure details").first
    words.locator("summary").click()
    words.locator("a").click()
    page.wait_for_url("**/receipts/#beside-*")
    assert page.locator(".beside:target li").count() > 10


@pytest.mark.left_to_all("defaults, charts, receipts and terms of the same page are read")
def test_a_table_in_a_fold_is_one_link_away(plain):
    fold = plain.locator(f'[data-output="parts"][data-of="{CALCULATOR}"] details.data').first
    fold.locator("summary").click()
    fold.locator("a").click()
    assert plain.locator(".beside:target td").first.is_visible()


def test_a_term_leads_to_the_glossary(plain):
    term = plain.locator("a.term").first
    term.click()
    plain.wait_for_url("**/reference/glossary/#term-*")
    assert plain.locator(":target").is_visible()
