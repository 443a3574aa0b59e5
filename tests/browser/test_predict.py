import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def guess(page):
    return page.locator("[data-predict]").first


def answer(page):
    return page.locator(".predict [data-answer]").first


def test_the_answer_is_hidden_until_it_is_asked_for(visit):
    assert answer(visit()).get_attribute("open") is None


def guessed(page):
    """Move the slider to its end; return what it says then."""
    said = guess(page).locator("[data-guess]")
    before = said.text_content()
    guess(page).locator("[data-guess-slider]").press("End")
    expect(said).not_to_have_text(before)
    return said.text_content()


def test_the_slider_says_the_guess(visit):
    page = visit()
    said = guessed(page)
    slider = guess(page).locator("[data-guess-slider]")
    assert said == slider.get_attribute("aria-valuetext")


def test_show_me_compares_the_guess_with_the_truth(visit):
    page = visit()
    said = guessed(page)
    guess(page).locator("[data-reveal]").click()
    verdict = guess(page).locator("[data-verdict]")
    expect(verdict).to_contain_text(f"You said {said}; it is 1.11 s")


@pytest.mark.left_to_all("a guess is made by slider and by key, skipped, and kept")
def test_show_me_draws_both_marks(visit):
    page = visit()
    guess(page).locator("[data-reveal]").click()
    expect(guess(page).locator("[data-mark]:visible")).to_have_count(2)


def test_enter_on_the_slider_shows_the_answer(visit):
    page = visit()
    guess(page).locator("[data-guess-slider]").press("Enter")
    expect(answer(page)).to_have_attribute("open", "")


def test_skip_shows_the_answer_without_a_verdict(visit):
    page = visit()
    guess(page).locator("[data-skip]").click()
    expect(answer(page)).to_have_attribute("open", "")
    assert guess(page).locator("[data-verdict]").text_content() == ""


def test_a_guess_outlasts_a_reload(visit):
    page = visit()
    said = guessed(page)
    guess(page).locator("[data-reveal]").click()
    expect(guess(page).locator("[data-verdict]")).to_contain_text(said)
    page.reload()
    expect(guess(page).locator("[data-guess]")).to_have_text(said)
    expect(guess(page).locator("[data-verdict]")).to_contain_text(said)


@pytest.mark.left_to_all("a guess is made by slider and by key, skipped, and kept")
def test_a_guess_without_a_network_shows_the_answer(visit):
    page = visit()
    page.route("**/receipts/", lambda route: route.abort())
    guess(page).locator("[data-reveal]").click()
    expect(answer(page)).to_have_attribute("open", "")


@pytest.mark.left_to_all("a guess is made by slider and by key, skipped, and kept")
def test_what_was_used_to_reveal_is_gone_afterwards(visit):
    page = visit()
    buttons = guess(page).locator("[data-reveal], [data-skip]")
    assert buttons.first.is_visible()
    guess(page).locator("[data-reveal]").click()
    expect(buttons.first).to_be_hidden()
    assert page.evaluate("() => document.activeElement.matches('[data-guess-slider]')")
