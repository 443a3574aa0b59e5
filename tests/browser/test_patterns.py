"""What the ways to interact promise, on the real page: predictions, numbers, regimes, receipts."""

import pytest
from playwright.sync_api import expect

from tests.browser.reading import (
    CALCULATOR,
    box,
    drag_number,
    expected,
    expected_symbol,
    live,
    wait_for,
)

pytestmark = pytest.mark.browser
OWN = f'[data-of="{CALCULATOR}"]'
SLOW = """() => {
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    setTimeout(() => send.call(this, message, ...rest), window.late ? 3000 : 0);
  };
}"""


def badge(page):
    return page.locator(f'[data-output="regime"]{OWN} strong.badge').first


def handle(page):
    return page.locator(f'.handle[data-slide="tokens_per_gpu"]{OWN}').first


def status(page):
    return page.locator(f"[data-status]{OWN} [data-status-text]").first


def test_a_prediction_is_skipped_by_keyboard(visit):
    page = visit()
    page.locator("[data-skip]").first.press("Enter")
    expect(page.locator(".predict [data-answer]").first).to_have_attribute("open", "")


def test_no_text_above_a_prediction_holds_its_answer(visit):
    page = visit()
    above = page.evaluate(
        """() => {
          const range = document.createRange();
          range.setStart(document.querySelector("main"), 0);
          range.setEndBefore(document.querySelector("[data-predict]"));
          return range.toString();
        }"""
    )
    asked = {"parameters": "13e9", "world_size": "16", "gpus_per_node": "1"}
    assert expected("all_reduce_time", **asked, ports_per_node="1", algorithm="ring") not in above


def test_a_number_in_a_sentence_moves_formula_and_sentence_together(lab):
    drag_number(lab).scroll_into_view_if_needed()
    # What is in the window is known a frame after it has scrolled.
    lab.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
    drag_number(lab).press("ArrowUp")
    wait_for(lab, "all_reduce_time", expected(world_size="128"))
    result = lab.locator(f'[data-output="formula"]{OWN} [data-slot="T"]').first
    # Figures below the window catch up once what is in it has been answered.
    expect(result).to_have_text(expected_symbol("formula", "T", world_size="128"))


def test_every_live_number_opens_a_receipt(lab):
    lost = lab.evaluate(
        """() => [...document.querySelectorAll(".number")].filter((number) =>
          !document.getElementById(number.getAttribute("popovertarget"))?.matches(".receipt"))
          .map((number) => number.dataset.output)"""
    )
    assert lost == []


@pytest.mark.parametrize(("tokens", "side"), [(1000, "below"), (2000, "above")])
def test_the_badge_says_on_which_side_of_the_break_even_one_is(lab, tokens, side):
    box(lab, "tokens_per_gpu").fill(str(tokens))
    wait_for(lab, "exposed_time", expected("exposed_time", tokens_per_gpu=str(tokens)))
    assert (badge(lab).text_content() == "Link bandwidth") == (side == "below")


def test_crossing_the_break_even_by_keyboard_flips_the_badge(lab):
    before = badge(lab).text_content()
    handle(lab).press("End")
    flipped = f"""(before) => document.querySelector('[data-output="regime"]{OWN} strong.badge')
      .textContent !== before"""
    lab.wait_for_function(flipped, arg=before)
    after = badge(lab).text_content()
    handle(lab).press("Home")
    lab.wait_for_function(flipped, arg=after)
    assert (before, after) == ("Contention", "Compute")


def test_the_handle_is_reached_by_the_tab_key_and_says_its_value(lab):
    facts = handle(lab).evaluate(
        "one => [one.tabIndex, one.getAttribute('aria-label'), one.getAttribute('aria-valuetext')]"
    )
    assert facts == [0, "Tokens per GPU", box(lab, "tokens_per_gpu").input_value()]


def test_a_computation_that_takes_long_says_so(visit):
    page = visit(prepare=lambda page: page.add_init_script(f"({SLOW})()"))
    live(page)
    page.evaluate("() => { window.late = true; }")
    drag_number(page).press("ArrowUp")
    page.wait_for_selector(f'[data-calculator="{CALCULATOR}"][aria-busy="true"]')
    assert status(page).text_content() == "Computing; this takes a moment."


@pytest.mark.left_to_all("the page says that it computes, and tests of changes see it end")
def test_the_page_goes_quiet_again_when_the_answer_is_there(visit):
    page = visit(prepare=lambda page: page.add_init_script(f"({SLOW})()"))
    live(page)
    page.evaluate("() => { window.late = true; }")
    drag_number(page).press("ArrowUp")
    wait_for(page, "all_reduce_time", expected(world_size="128"))
    page.wait_for_selector(f'[data-calculator="{CALCULATOR}"]:not([aria-busy])')
    assert status(page).text_content() == ""
