import pytest

pytestmark = pytest.mark.browser


def guess(page):
    return page.locator("[data-predict]").first


def answer(page):
    return page.locator(".predict [data-answer]").first


def test_the_answer_is_hidden_until_it_is_asked_for(visit):
    assert answer(visit()).get_attribute("open") is None


def test_the_slider_says_the_guess(visit):
    page = visit()
    slider = guess(page).locator("[data-guess-slider]")
    slider.press("End")
    assert guess(page).locator("[data-guess]").text_content() == slider.get_attribute(
        "aria-valuetext"
    )


def test_show_me_compares_the_guess_with_the_truth(visit):
    page = visit()
    slider = guess(page).locator("[data-guess-slider]")
    slider.press("End")
    said = guess(page).locator("[data-guess]").text_content()
    guess(page).locator("[data-reveal]").click()
    verdict = guess(page).locator("[data-verdict]").text_content()
    assert verdict.startswith(f"You said {said}; it is 975 ms")


def test_show_me_draws_both_marks(visit):
    page = visit()
    guess(page).locator("[data-reveal]").click()
    assert guess(page).locator("[data-mark]:visible").count() == 2


def test_enter_on_the_slider_shows_the_answer(visit):
    page = visit()
    guess(page).locator("[data-guess-slider]").press("Enter")
    assert answer(page).get_attribute("open") is not None


def test_skip_shows_the_answer_without_a_verdict(visit):
    page = visit()
    guess(page).locator("[data-skip]").click()
    verdict = guess(page).locator("[data-verdict]").text_content()
    assert (answer(page).get_attribute("open"), verdict) == ("", "")


def test_a_guess_outlasts_a_reload(visit):
    page = visit()
    guess(page).locator("[data-guess-slider]").press("End")
    said = guess(page).locator("[data-guess]").text_content()
    guess(page).locator("[data-reveal]").click()
    page.reload()
    assert guess(page).locator("[data-guess]").text_content() == said


def test_what_was_used_to_reveal_is_gone_afterwards(visit):
    page = visit()
    buttons = guess(page).locator("[data-reveal], [data-skip]")
    assert buttons.first.is_visible()
    guess(page).locator("[data-reveal]").click()
    assert not buttons.first.is_visible()
    assert page.evaluate("() => document.activeElement.matches('[data-guess-slider]')")
