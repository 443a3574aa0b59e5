import time

import pytest

from tests.browser.axe import in_both_schemes, violations
from tests.browser.conftest import LAB
from tests.browser.reading import (
    ASKING,
    IN_NO_TIME,
    at_rest,
    drag_number,
    expected,
    live,
    output,
    wait_for,
)

pytestmark = pytest.mark.browser
SHIFTS = """() => new Promise((done) => {
  new PerformanceObserver((list) => {
    const shifts = list.getEntries().filter((entry) => !entry.hadRecentInput);
    done(shifts.flatMap((entry) => entry.sources.map((s) => String(s.node?.className))));
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done([]), 1500);
})"""


def test_the_lab_has_no_violation(lab):
    assert in_both_schemes(lab) == []


def test_an_open_receipt_has_no_violation(lab):
    output(lab).click()
    assert in_both_schemes(lab) == []


def test_a_bad_input_has_no_violation(lab):
    drag_number(lab).fill("many")
    lab.wait_for_selector('input[aria-invalid="true"]')
    assert violations(lab) == []


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize("hurried", [False, True])
def test_nothing_moves_while_the_page_comes_alive(visit, width, hurried):
    hurry = f"({IN_NO_TIME})(); " if hurried else ""  # most numbers come with later replies
    page = visit(
        viewport={"width": width, "height": 900},
        prepare=lambda page: page.add_init_script(f"{hurry}({ASKING})()"),
    )
    drag_number(page).scroll_into_view_if_needed()
    live(page)
    at_rest(page)
    page.wait_for_load_state("networkidle")
    assert page.evaluate(SHIFTS) == []


def test_nothing_moves_when_the_script_comes_after_the_text(visit):
    def late(route):
        time.sleep(1)
        route.continue_()

    page = visit(LAB + "#predict", prepare=lambda page: page.route("**/main.js", late))
    page.wait_for_selector(".guess.ready")
    assert page.locator("#predict").bounding_box()["y"] < 500
    assert page.evaluate(SHIFTS) == []


@pytest.mark.parametrize("width", [360, 820])
def test_the_page_is_not_wider_than_the_window(visit, width):
    page = visit(viewport={"width": width, "height": 900})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_the_controls_stay_off_the_paper(visit):
    page = visit()
    page.emulate_media(media="print")
    assert page.locator(":is(.controls, .actions, .slider, .guess, [popover]):visible").count() == 0


def test_a_page_with_a_state_in_its_address_says_so_to_nobody(visit):
    page = visit(LAB + "?gradient_sync.world_size=16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    assert page.locator("[data-live]").text_content() == ""


def test_a_table_of_sentences_stands_in_blocks_on_a_phone_and_stays_a_table(visit):
    page = visit("reference/claims/", viewport={"width": 390, "height": 900})
    frame = page.locator(".scroll:has(.stack)").first
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")
    cell = frame.get_by_role("row").nth(1).get_by_role("cell").first
    label = cell.evaluate("one => getComputedStyle(one, '::before').content")
    assert label.strip('"') == frame.get_by_role("columnheader").nth(1).text_content()
    assert violations(page) == []
