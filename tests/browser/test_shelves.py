"""A tensor of the hardware page is dragged, or moved by arrow keys, to another memory."""

import pytest

from tests.browser.reading import at_rest, live

pytestmark = pytest.mark.browser
PAGE = "reference/hardware/"
SHELVES = "figure[data-output=shelves][data-of=memory_tiers]"
MOMENTS = f"{SHELVES} [data-grip-key=moments]"


@pytest.fixture
def shelves(labs):
    page = labs.page(PAGE, "memory_tiers")
    page.locator(SHELVES).first.scroll_into_view_if_needed()
    at_rest(page)  # the shelves are drawn anew when they come near
    return page


@pytest.fixture
def touched(visit):
    """A page of its own, which stays one for fingers."""
    page = visit(PAGE)
    page.locator(SHELVES).first.scroll_into_view_if_needed()
    live(page, "memory_tiers")
    return page


def wait_until_in(page, tier):
    page.wait_for_function(
        "tier => document.querySelector('select[name=moments_in]').value === tier", arg=tier
    )


def step(page):
    return page.locator("[data-of=memory_tiers][data-output=step].number").first.inner_text()


def drag(page, down):
    """Drag the moments by so many units of the drawing."""
    place = page.locator(MOMENTS).first.bounding_box()
    scale = page.locator(f"{SHELVES} svg").first.bounding_box()["width"] / 640
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + down * scale, steps=12)
    page.mouse.up()


def test_an_arrow_key_moves_a_tensor_to_the_next_slower_memory(shelves):
    shelves.locator(MOMENTS).first.press("ArrowDown")
    wait_until_in(shelves, "peer")


def test_a_moved_tensor_keeps_the_focus(shelves):
    shelves.locator(MOMENTS).first.press("ArrowDown")
    wait_until_in(shelves, "peer")
    assert shelves.evaluate("() => document.activeElement.dataset.gripKey") == "moments"


def test_a_tensor_is_dragged_two_memories_down(shelves):
    drag(shelves, 170)
    wait_until_in(shelves, "host")


@pytest.fixture
def finger(touched):
    """A finger on the page; buttons are larger for one, so places are looked up afterwards."""
    found = touched.context.new_cdp_session(touched)
    found.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    touched.locator(SHELVES).first.scroll_into_view_if_needed()
    return found


def draw(finger, x, y, down):
    """Draw the finger from a point down the page, or up where `down` is negative."""
    for kind, along in [("touchStart", 0), *(("touchMove", down * i / 12) for i in range(1, 13))]:
        points = [{"x": x, "y": y + along}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_drags_a_tensor_and_the_page_stays(touched, finger):
    place = touched.locator(MOMENTS).first.bounding_box()
    scale = touched.locator(f"{SHELVES} svg").first.bounding_box()["width"] / 640
    picture = touched.locator(f"{SHELVES} svg").first
    before = picture.bounding_box()["y"]
    middle = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    draw(finger, *middle, 170 * scale)
    wait_until_in(touched, "host")
    # Numbers above may take another line: the browser then scrolls by as much, and nothing moves.
    assert abs(picture.bounding_box()["y"] - before) < 1


@pytest.mark.left_to_all("a finger drags a tensor here; addresses are those of test_state.py")
def test_a_finger_beside_the_tensors_scrolls_the_page(touched, finger):
    place = touched.locator(f"{SHELVES} svg").first.bounding_box()
    before = touched.evaluate("scrollY")
    draw(finger, place["x"] + place["width"] - 3, place["y"] + place["height"] / 2, -120)
    touched.wait_for_function("before => scrollY > before", arg=before)


def test_moving_a_tensor_changes_the_step(shelves):
    before = step(shelves)
    drag(shelves, 170)
    shelves.wait_for_function(
        "before => document.querySelector('.number[data-of=memory_tiers][data-output=step]')"
        ".textContent !== before",
        arg=before,
    )
    assert step(shelves) != before


@pytest.mark.left_to_all("a finger drags a tensor here; addresses are those of test_state.py")
def test_the_address_holds_where_a_tensor_lives(shelves):
    shelves.locator(MOMENTS).first.press("ArrowDown")
    shelves.wait_for_function("() => location.search.includes('memory_tiers.moments_in=peer')")


def test_a_tensor_says_where_it_lives(shelves):
    grip = shelves.locator(MOMENTS).first
    said = [grip.get_attribute(name) for name in ("role", "aria-valuenow", "aria-valuetext")]
    assert said == ["slider", "4", "HBM, 64.2 GB"]
