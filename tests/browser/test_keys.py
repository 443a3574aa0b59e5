"""The list of keys that "?" opens: every key that `theme/keys.toml` declares does something."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.axe import in_both_schemes
from tests.browser.conftest import LAB
from tests.browser.reading import ASKING, CALCULATOR, drag_number, live
from tests.each import each

pytestmark = pytest.mark.browser
TABLE = Path(__file__).resolve().parents[2] / "theme" / "keys.toml"
GROUPS = tomllib.loads(TABLE.read_text("utf-8"))["groups"]
PRESSES = [
    (group["at"], press) for group in GROUPS for key in group["keys"] for press in key["press"]
]
SEARCH, KEYS = "[data-panel=search]", "[data-panel=keys]"
MAP, TIMELINE = "guides/the-map/", "guides/pipeline-schedule-lab/"
STRIP = "figure[data-output=order_strip]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a group's keys are pressed: its page, how to get there, and what a key changes.

    `stays` says that after a key the next one can be tried on the same page.
    """

    page: str = LAB
    go: Callable[[Page], Locator]
    seen: str
    stays: bool = True


def body(page: Page) -> Locator:
    return page.locator("body")


def search(page: Page) -> Locator:
    page.keyboard.press("/")
    page.locator("[data-search-words]").fill("ring all-reduce")
    page.locator("#search-found li").nth(3).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    return page.locator("[data-search-words]")


def number(page: Page) -> Locator:
    live(page)
    given = next(NUMBERS)
    drag_number(page).fill(str(given))
    page.wait_for_function(f"() => location.search.includes('world_size={given}')")
    return page.locator(NUMBER).first


def handle(page: Page) -> Locator:
    live(page)
    return page.locator(f'.handle[data-slide="tokens_per_gpu"][data-of="{CALCULATOR}"]').first


def grip(page: Page) -> Locator:
    page.locator(STRIP).first.scroll_into_view_if_needed()
    live(page, "parallel_map")
    page.locator(STRIP).first.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # the strip is drawn anew when it comes near
    grips = page.locator(f"{STRIP} [data-grip]").all()
    return page.locator(f"{STRIP} [data-grip-key={grips[1].get_attribute('data-grip-key')}]").first


def player(page: Page) -> Locator:
    found = page.locator(".scene-figure [data-scrub]:enabled").first
    found.scroll_into_view_if_needed()
    found.press("Home")
    for _ in range(2):
        found.press("ArrowRight")
    return found


def timeline(page: Page) -> Locator:
    figure = page.locator("figure[data-kind=timeline][data-player]").first
    figure.scroll_into_view_if_needed()
    found = figure.locator("[data-plot][tabindex='0']")
    found.wait_for()
    for press in ("Escape", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight"):
        found.press(press)
    return found


def guess(page: Page) -> Locator:
    return page.locator("[data-guess-slider]").first


def tabs(page: Page) -> Locator:
    found = page.locator("[data-tabs] a").nth(1)
    found.focus()
    return found


# Another one before every key: an address written late by the key before is told from it.
NUMBERS = count(1024)
NUMBER = f'input.drag[name="world_size"][data-of="{CALCULATOR}"]'
PARAMETERS = f"() => document.querySelector('{NUMBER}').value + ' ' + location.search"
PLACES = {
    "page": Place(
        go=body,
        seen="""() => [...document.querySelectorAll("dialog")].map(
          (one) => one.dataset.panel + one.open).join()""",
        stays=False,
    ),
    "search": Place(
        go=search,
        seen="""() => location.href + [...document.querySelectorAll("#search-found li")]
          .findIndex((one) => one.ariaSelected === "true")""",
        stays=False,
    ),
    "number": Place(go=number, seen=PARAMETERS),
    "handle": Place(
        go=handle,
        seen="""() => document.querySelector(
          ".handle[data-slide=tokens_per_gpu]").getAttribute("aria-valuetext")""",
    ),
    "grip": Place(
        page=MAP,
        go=grip,
        seen=f"""() => [...document.querySelectorAll("{STRIP} [data-grip]")]
          .map((one) => one.dataset.gripKey).join()""",
    ),
    "player": Place(
        page="guides/collectives-by-hand/",
        go=player,
        seen="""() => document.querySelector(".scene-figure [data-scrub]").value
          + document.querySelector(".scene-figure [data-play]").textContent""",
    ),
    "timeline": Place(
        page=TIMELINE,
        go=timeline,
        seen="""() => {
          const figure = document.querySelector("figure[data-kind=timeline][data-player]");
          return figure.querySelector(".layer").innerHTML
            + figure.querySelector("[data-frame-caption]").textContent;
        }""",
    ),
    "guess": Place(
        go=guess,
        seen="""() => document.querySelector("[data-guess]").textContent
          + document.querySelector(".predict [data-answer]").open""",
        stays=False,
    ),
    "tabs": Place(
        page="guides/stack-explorer/",
        go=tabs,
        seen="() => document.activeElement.textContent",
        stays=False,
    ),
}


def opened(page: Page) -> None:
    """Open the list itself, for the key that closes it."""
    page.keyboard.press("?")
    page.locator(KEYS).wait_for()


def mistyped(page: Page) -> None:
    """Write a number in another way than the page does."""
    drag_number(page).fill("2k")
    page.wait_for_function("() => location.search.includes('2000')")


def changed(page: Page) -> None:
    """Change a number, for the key that takes it back."""
    drag_number(page).fill("100")
    page.wait_for_function("() => location.search.includes('100')")


def closer(page: Page) -> None:
    """Come closer, for the key that goes back."""
    page.locator("figure[data-kind=timeline][data-player] [data-plot]").first.press("+")


BEFORE = {
    ("page", "Escape"): opened,
    ("number", "Enter"): mistyped,
    ("number", "Escape"): changed,
    ("timeline", "-"): closer,
}


@pytest.fixture
def opened_at(visit) -> Callable[[str], Page]:
    """Open the page of a place: once for all its keys, unless they lead away from it."""

    def fresh(at: str) -> Page:
        return visit(PLACES[at].page, prepare=lambda page: page.add_init_script(f"({ASKING})()"))

    kept = cache(fresh)
    return lambda at: kept(at) if PLACES[at].stays else fresh(at)


@each(("at", "press"), PRESSES, by=True)
def test_a_listed_key_does_something_at_its_place(opened_at, at, press):
    place, page = PLACES[at], opened_at(at)
    where = place.go(page)
    BEFORE.get((at, press), lambda _: None)(page)
    page.wait_for_function("() => asking.open < 1")
    before = page.evaluate(place.seen)
    where.press(press)
    page.wait_for_function(f"before => ({place.seen})() !== before", arg=before)


def test_the_list_shows_the_table_and_is_closed_by_a_click_beside_it(visit):
    page = visit()
    page.keyboard.press("?")
    box = page.locator(KEYS)
    box.wait_for()
    shown = [
        (one.get_attribute("data-keys-at"), key.get_attribute("data-press-key"))
        for one in box.locator("[data-keys-at]").all()
        for key in one.locator("[data-press-key]").all()
    ]
    assert shown == PRESSES
    said = box.locator("dd").all_text_contents()
    assert said == [key["does"] for group in GROUPS for key in group["keys"]]
    page.mouse.click(5, 5)
    box.wait_for(state="hidden")


@pytest.mark.left_to_all("the list opens by its key; test_failure.py withholds files")
def test_settings_lead_to_the_list_where_there_is_no_keyboard_at_hand(visit):
    page = visit("", viewport={"width": 390, "height": 844})
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Keys").click()
    page.locator(KEYS).wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_the_list_has_no_violation(visit):
    page = visit("")
    page.keyboard.press("?")
    page.locator(KEYS).wait_for()
    assert in_both_schemes(page) == []


def test_a_question_mark_in_a_field_is_a_question_mark(visit):
    page = visit("guides/collectives-by-hand/")
    page.locator("input[type=text][data-of]:not([readonly])").first.press("?")
    assert page.locator(KEYS).count() == 0


@pytest.mark.left_to_all("the list opens by its key; test_failure.py withholds files")
def test_a_list_that_does_not_arrive_is_said_and_tried_again(visit):
    page = visit("")
    page.route("**/panels/keys.html", lambda route: route.abort())
    page.keyboard.press("?")
    said = page.locator("[data-notice-text]", has_text="could not be loaded")
    said.wait_for()
    page.unroute("**/panels/keys.html")
    page.keyboard.press("?")
    page.locator(KEYS).wait_for()
