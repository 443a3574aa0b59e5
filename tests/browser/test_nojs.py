import pytest

from tests.browser.reading import CALCULATOR, drag_number, expected, output

pytestmark = pytest.mark.browser


@pytest.fixture
def plain(visit):
    return visit(java_script_enabled=False, moved=False)


def test_all_defaults_are_there(plain):
    assert output(plain).text_content() == expected()


def test_numbers_to_drag_read_as_numbers(plain):
    number = drag_number(plain, "parameters")
    assert (number.input_value(), number.is_editable()) == ("7B", False)


def test_charts_are_drawn(plain):
    assert plain.locator(f'[data-output="parts"][data-of="{CALCULATOR}"] svg').first.is_visible()


def test_what_needs_a_script_is_not_offered(plain):
    dead = plain.locator(":is([data-undo], [data-download], [data-play], [data-apply]):visible")
    assert dead.count() == 0


def test_a_receipt_opens(plain):
    output(plain).click()
    assert plain.locator(f"#receipt-{CALCULATOR}-all_reduce_time").is_visible()


def test_an_equation_holds_its_numbers(plain):
    slots = plain.locator('[data-kind="formula"] [data-slot]')
    assert all(text.strip() for text in slots.all_text_contents())


def test_the_answer_to_a_prediction_can_be_unfolded(plain):
    answer = plain.locator("[data-answer]").first
    answer.locator("summary").click()
    assert answer.locator(".answer").is_visible()


def test_the_drawing_is_told_in_words(plain):
    words = plain.locator(".scene-figure details").first
    words.locator("summary").click()
    assert words.locator("li").count() > 10
