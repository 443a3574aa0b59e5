import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LAB
from tests.browser.reading import (
    ASKING,
    AT_REST,
    CALCULATOR,
    IN_NO_TIME,
    PATIENCE,
    arrive,
    at_rest,
    box,
    drag_number,
    expected,
    live,
    measures,
    output,
    units,
    wait_for,
)

pytestmark = pytest.mark.browser
# What happens first: the number, the curve marked as late, or the curve itself.
SLOW_AND_QUICK = """() => {
  const of = (tag) => document.querySelector(`${tag}[data-of=zero_2_lab]`);
  const figure = of("figure[data-output=curve]");
  const add = (event) => window.events.at(-1) === event || window.events.push(event);
  window.events = [];
  new MutationObserver((found) => {
    if (found.some(({ target }) => target !== figure)) add("curve");
    else if (figure.matches("[data-behind]")) add("late");
  }).observe(figure, { attributes: true, childList: true, subtree: true });
  new MutationObserver(() => add("number")).observe(
    of(".number[data-output=step_time]"), { childList: true, subtree: true, characterData: true });
}"""
BOTH = "() => window.events.includes('number') && window.events.includes('curve')"
SET = """(one, value) => {
  one.value = value;
  one.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_a_change_before_the_engine_is_there_is_answered_when_it_comes(visit):
    page = visit()
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    assert output(page).text_content() == expected(world_size="16")


def test_a_window_without_frames_is_answered_too(visit):
    # Chromium stops making frames now and then, and calls the page no more hidden than before.
    def no_frames(page):
        page.add_init_script("window.requestAnimationFrame = () => 0")

    page = visit(prepare=no_frames)
    for gpus in ("16", "32"):
        drag_number(page).fill(gpus)
        wait_for(page, "all_reduce_time", expected(world_size=gpus))


def test_the_page_shows_what_the_engine_says_natively(lab):
    shown = lab.locator(f'[data-output="step_time"][data-of="{CALCULATOR}"]').first
    assert shown.text_content() == expected("step_time")


@pytest.mark.left_to_all("each page of the short lane comes alive without an error")
def test_notes_of_numbers_that_nobody_asked_for_stay(browser, base):
    page = browser.new_context(viewport={"width": 390, "height": 900}).new_page()
    page.add_init_script(f"({ASKING})()")
    page.goto(base + LAB)
    notes = page.locator(f'[data-note][data-of="{CALCULATOR}"]')
    before = notes.all_text_contents()
    drag_number(page).scroll_into_view_if_needed()
    arrive(page)
    page.wait_for_selector(f'[data-calculator="{CALCULATOR}"][data-state="live"]', state="attached")
    page.wait_for_function(f"() => asking.last && ({AT_REST})()", timeout=PATIENCE)
    assert notes.all_text_contents() == before
    page.context.close()


def test_every_copy_of_an_input_follows(lab):
    drag_number(lab).fill("32")
    wait_for(lab, "all_reduce_time", expected(world_size="32"))
    assert box(lab).input_value() == "32"


def test_the_text_being_typed_is_left_alone(lab):
    box(lab, "parameters").fill("7000M")
    lab.wait_for_function("() => performance.getEntriesByName('update').length > 0")
    assert box(lab, "parameters").input_value() == "7000M"


def test_leaving_the_box_writes_the_number_as_the_engine_does(lab):
    box(lab, "parameters").fill("13000M")
    wait_for(lab, "all_reduce_time", expected(parameters="13e9"))
    box(lab, "parameters").blur()
    assert box(lab, "parameters").input_value() == "13B"


def test_a_bad_text_is_kept(lab):
    box(lab).fill("many")
    lab.wait_for_selector('input[aria-invalid="true"]')
    box(lab).blur()
    assert box(lab).input_value() == "many"


def test_a_bad_text_gets_a_message_with_the_value_and_the_range(lab):
    box(lab).fill("many")
    message = lab.locator(f'.field [data-error="world_size"][data-of="{CALCULATOR}"]').first
    message.wait_for(state="visible")
    assert re.search(r"'many'.*2 to 131,072", message.text_content() or "")


def test_a_bad_text_dims_the_last_good_result(lab):
    box(lab).fill("many")
    lab.wait_for_selector('input[aria-invalid="true"]')
    assert "stale" in (output(lab).get_attribute("class") or "")


def test_a_slider_changes_the_result(lab):
    slider = lab.locator(f'.slider[data-slide="world_size"][data-of="{CALCULATOR}"]').first
    slider.evaluate(
        "slider => { slider.value = slider.max;"
        " slider.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    wait_for(lab, "all_reduce_time", expected(world_size="131072"))
    assert drag_number(lab).input_value() == "131,072"


def test_dragging_a_number_steps_it(lab):
    number = drag_number(lab)
    number.scroll_into_view_if_needed()
    place = number.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    lab.mouse.move(x, y)
    lab.mouse.down()
    lab.mouse.move(x + 9, y, steps=9)
    lab.mouse.up()
    wait_for(lab, "all_reduce_time", expected(world_size="256"))
    assert number.input_value() == "256"


def test_a_click_on_a_number_selects_it_for_typing(lab):
    drag_number(lab).click()
    lab.keyboard.type("128")
    assert drag_number(lab).input_value() == "128"


def test_a_touch_on_a_number_opens_the_dock_and_no_keyboard(visit):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 840})
    drag_number(page).tap()
    page.locator("[data-panel=dock]").wait_for()
    assert page.evaluate("() => document.activeElement.type") == "range"


def test_a_finger_drags_a_number_sideways(visit):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 840})
    number = drag_number(page)
    number.scroll_into_view_if_needed()
    place = number.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    finger = page.context.new_cdp_session(page)
    for kind, along in [("touchStart", 0), *(("touchMove", d) for d in range(3, 28, 3))]:
        points = [{"x": x + along, "y": y}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("() => performance.getEntriesByName('update').length > 0")
    assert int(number.input_value().replace(",", "")) > 64


def test_the_live_region_says_the_result_in_one_sentence(lab):
    drag_number(lab).fill("16")
    said = f"Step: {expected('step_time', world_size='16')}"
    expect(lab.locator("[data-live]")).to_have_text(said)


def test_a_unit_switch_rewrites_the_numbers(lab):
    units(lab).check()
    wait_for(lab, "gradient_size", "13.0 GiB")
    assert output(lab, "gradient_size").text_content() == "13.0 GiB"


def test_every_change_is_measured_until_it_is_painted(lab):
    drag_number(lab).press("ArrowUp")
    lab.wait_for_function("() => performance.getEntriesByName('update').length > 0")
    assert len(measures(lab, "update")) == 1


def test_applying_a_remedy_changes_the_inputs(lab):
    lab.locator(f'[data-of="{CALCULATOR}"] [data-apply]').first.click()
    lab.wait_for_function("() => location.search.includes('gradient_sync.')")
    assert lab.locator(f'[data-undo][data-of="{CALCULATOR}"]').first.get_attribute(
        "aria-disabled"
    ) == ("false")


def test_a_challenge_gives_the_readers_numbers_back(lab):
    drag_number(lab).fill("32")
    wait_for(lab, "all_reduce_time", expected(world_size="32"))
    lab.locator("[data-start]").first.click()
    lab.wait_for_selector('[data-restore][aria-disabled="false"]')
    lab.locator("[data-restore]").first.click()
    wait_for(lab, "all_reduce_time", expected(world_size="32"))
    assert box(lab).input_value() == "32"


AT_ONCE = """name => {
  const typed = document.querySelector(`[data-of="${name}"][name=world_size]`);
  typed.value = "32";
  typed.dispatchEvent(new Event("input", { bubbles: true }));
  document.querySelector(`[data-of="${name}"] [data-start]`).click();
}"""


@pytest.mark.left_to_all("each page of the short lane comes alive without an error")
def test_a_challenge_gives_back_a_number_whose_answer_was_still_on_its_way(lab):
    lab.evaluate(AT_ONCE, CALCULATOR)
    lab.locator('[data-restore][aria-disabled="false"]').first.click()
    wait_for(lab, "all_reduce_time", expected(world_size="32"))
    assert box(lab).input_value() == "32"


def test_nothing_is_asked_of_another_host(visit, watch, base):
    page = visit()
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    hosts = {
        urlsplit(url).netloc for url in watch.requests if not url.startswith(("data:", "blob:"))
    }
    assert hosts == {urlsplit(base).netloc}


@pytest.mark.left_to_all("each page of the short lane comes alive without an error")
def test_nothing_is_reported_as_an_error(visit, watch):
    page = visit()
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    page.mouse.wheel(0, 3000)
    page.wait_for_load_state("networkidle")
    assert watch.errors == []


@pytest.mark.left_to_all("each page of the short lane comes alive without an error")
def test_saving_data_waits_for_the_first_touch(visit, watch):
    def save_data(page):
        page.add_init_script(
            "Object.defineProperty(navigator, 'connection', {value: {saveData: true}})"
        )

    page = visit(prepare=save_data)
    drag_number(page).scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    assert not [url for url in watch.requests if ".wasm" in url]


def test_a_page_without_calculators_starts_no_engine(visit, watch):
    page = visit("404.html")
    page.wait_for_load_state("networkidle")
    assert not [url for url in watch.requests if "engine/worker" in url or ".wasm" in url]


def test_a_number_does_not_wait_for_a_curve_that_takes_long(visit):
    def slow(page):
        page.add_init_script(f"({IN_NO_TIME})(); ({ASKING})()")

    page = visit("guides/zero-2/", prepare=slow)
    live(page, "zero_2_lab")
    page.locator("figure[data-of=zero_2_lab][data-output=curve]").scroll_into_view_if_needed()
    page.evaluate(SLOW_AND_QUICK)
    slider = page.locator("input[data-slide=micro_batches][data-of=zero_2_lab]").first
    # After the first it is known what the curve costs. Each is a number of its own (6, 3 and 7
    # micro-batches): the curve of one that was asked before is ready.
    for value in ("700", "300", "900"):
        at_rest(page)
        page.evaluate("() => { window.events = []; }")
        slider.evaluate(SET, value)
        page.wait_for_function(BOTH, timeout=60_000)
    *at_once, last = page.evaluate("() => window.events")
    assert (set(at_once), last) == ({"number", "late"}, "curve")


@pytest.mark.left_to_all("each page of the short lane comes alive without an error")
def test_a_window_made_narrow_and_wide_again_raises_no_error(visit, watch):
    page = visit("guides/feeding-and-saving/")
    live(page, "checkpoint_lab")
    page.wait_for_selector("#checkpoint_lab [data-chart=live]", state="attached")
    for width in (700, 390, 1280):  # words that have no room are left out
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(800)
    assert watch.errors == []
