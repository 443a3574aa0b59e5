"""The step composer: its operations are dragged, moved by keys, typed, and kept in the address."""

import pytest

from tests.browser.reading import at_rest, live

pytestmark = pytest.mark.browser
PAGE = "guides/overlap-frontier/"
STRIP = "figure[data-output=strip][data-of=step_composer]"
STEP = "#step_composer [data-output=step_time]"
ORDER = "input[name=communication][data-of=step_composer]"


def names(page):
    return [
        grip.get_attribute("data-grip-key") for grip in page.locator(f"{STRIP} [data-grip]").all()
    ]


def wait_for_step(page, text):
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector).textContent === text",
        arg=[STEP, text],
    )


@pytest.fixture
def composer(labs):
    page = labs.page(PAGE, "step_composer")
    page.locator(STRIP).scroll_into_view_if_needed()
    at_rest(page)  # the strip is drawn anew when it comes near
    return page


def grip(page, name):
    return page.locator(f"{STRIP} [data-grip-key={name}]")


def drag(page, name, places):
    place = grip(page, name).bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + places * place["width"] * 1.1 * 0.75, y, steps=12)
    page.mouse.up()


def test_an_operation_is_dragged_before_its_neighbor(composer):
    drag(composer, "AG2b", -1)
    wait_for_step(composer, "35.0 ms")
    assert names(composer)[9:14] == ["AG1", "AG2", "AG3", "AG2b", "RS3"]


def test_an_operation_is_moved_by_arrow_keys(composer):
    grip(composer, "AG2b").press("ArrowLeft")
    wait_for_step(composer, "35.0 ms")
    grip(composer, "AG1b").press("ArrowLeft")
    wait_for_step(composer, "31.0 ms")
    assert composer.evaluate("() => document.activeElement.dataset.gripKey") == "AG1b"


def test_a_move_that_would_hang_is_refused_in_words(composer):
    grip(composer, "RS3").press("ArrowLeft")
    composer.wait_for_function(
        "() => document.querySelector('#step_composer [data-output=verdict]')"
        ".textContent.includes('AG3 stands behind RS3')"
    )
    assert names(composer)[9:13] == ["AG1", "AG2", "AG3", "RS3"]


def test_the_address_keeps_the_order(composer):
    grip(composer, "AG2b").press("ArrowLeft")
    wait_for_step(composer, "35.0 ms")
    composer.wait_for_function("() => location.search.includes('AG3-AG2b-RS3')")
    composer.reload()
    live(composer, "step_composer")
    wait_for_step(composer, "35.0 ms")


def test_an_order_may_be_typed(composer):
    composer.locator("#step_composer details.advanced summary").click()
    composer.locator(ORDER).fill("ag1 ag2 ag3 ag2b ag1b")
    wait_for_step(composer, "30.0 ms")


def test_arrow_keys_in_a_typed_order_change_nothing(composer):
    composer.locator("#step_composer details.advanced summary").click()
    composer.locator(ORDER).press("ArrowUp")
    composer.locator(ORDER).press("End")
    assert composer.locator("#step_composer [data-error=communication]").is_hidden()
