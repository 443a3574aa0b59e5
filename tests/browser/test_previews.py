"""Pictures in a list of guides move under a pointer, with the focus and at a tap, not by script."""

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser
PATH = "paths/c-data-parallelism/"
PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 840}}
CARD = ".guide-cards > li:has(.moving)"
TURN_MS = 1000  # a state of a moving picture is seen for 900 ms


@pytest.fixture
def card(visit, watch):
    """Open the page of a learning path; return its first card that can move."""

    def visited(**context):
        page = visit(PATH, moved=False, **context)
        found = page.locator(CARD).first
        found.scroll_into_view_if_needed()
        return found

    return visited


def moves(card) -> bool:
    """Return whether the picture of a card looks different a little later."""
    page: Page = card.page
    picture = card.locator(".opening")
    page.wait_for_timeout(TURN_MS)
    seen = {picture.screenshot()}
    for _ in range(3):
        page.wait_for_timeout(TURN_MS)
        seen.add(picture.screenshot())
    return len(seen) > 1


def fetched(watch) -> bool:
    return any("moving-" in address for address in watch.requests)


def test_a_picture_moves_while_it_is_pointed_at(card, watch):
    one = card()
    assert not one.locator(".play").is_visible()
    assert not moves(one)
    assert not fetched(watch)
    one.hover()
    assert moves(one)
    assert fetched(watch)
    one.page.mouse.move(0, 0)
    assert not one.locator(".moving").is_visible()


def test_a_picture_moves_while_its_title_has_the_focus(card):
    one = card()
    focused = one.locator(".guide-title a:focus-visible")
    for _ in range(100):
        one.page.keyboard.press("Tab")
        if focused.count():
            break
    assert moves(one)


def test_a_tap_plays_a_picture_and_one_more_stops_it(card, watch):
    one = card(**PHONE)
    play = one.locator(".play")
    box = play.bounding_box()
    assert (box["width"] >= 44, box["height"] >= 44) == (True, True)
    assert play.inner_text() == "Play"
    assert not fetched(watch)
    play.tap()
    assert play.inner_text() == "Stop"
    assert moves(one)
    assert fetched(watch)
    assert sum("moving-" in address for address in watch.requests) == 1
    play.tap()
    assert not one.locator(".moving").is_visible()
    assert one.page.url.endswith(PATH)


def test_pictures_move_without_scripts(card):
    one = card(java_script_enabled=False)
    one.hover()
    assert moves(one)


@pytest.mark.left_to_all("a picture moves at a tap, and without scripts")
def test_pictures_move_at_a_tap_without_scripts(card):
    one = card(java_script_enabled=False, **PHONE)
    one.locator(".play").tap()
    assert moves(one)


@pytest.mark.parametrize("context", [{}, PHONE], ids=["pointer", "finger"])
def test_nothing_moves_for_readers_who_want_less_motion(card, watch, context):
    one = card(reduced_motion="reduce", **context)
    one.hover()
    one.locator(".guide-title a").focus()
    assert not one.locator(".play").is_visible()
    assert not one.locator(".moving").is_visible()
    assert not fetched(watch)
