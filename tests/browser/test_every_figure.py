"""Every figure of every page can be used by keyboard alone."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Opened
from tests.browser.pages import WITH_FIGURES
from tests.browser.reading import AT_REST, PATIENCE, all_live, at_rest
from tests.browser.test_saving import SVG, saved

pytestmark = pytest.mark.browser
# All that a calculator shows, in words; a chart's still picture, which gives way, is none of it.
SHOWN = """name => {
  const still = (node) =>
    node.nodeType === 3 ? 1 : node.classList.contains("chart-svg") ? 2 : 3; // take, leave, go in
  const words = [];
  for (const one of document.querySelectorAll(`[data-output][data-of="${name}"]`)) {
    const walk = document.createTreeWalker(one, 5, still);
    while (walk.nextNode()) words.push(walk.currentNode.data);
    words.push(one.dataset.value);
  }
  return words.join(" ");
}"""
# The reader's numbers: all that is set, without what follows from it.
NUMBERS = """name => [...document.querySelectorAll(`[data-of="${name}"][name]`)]
  .map((one) => `${one.name}=${one.type === "checkbox" ? one.checked : one.value}`)
  .join(" ")"""
DIFFERS = f"([name, before]) => ({SHOWN})(name) !== before"
SAME = f"([name, before]) => ({NUMBERS})(name) === before"
OFFERED = "one => !one.disabled && one.getAttribute('aria-disabled') === 'false'"
# What lights up outside of a table, in elements and in charts.
LIT = """row => {
  const table = row.closest("[data-output]");
  return [...document.querySelectorAll("[data-linked], .layer .linked[d*=M]")]
    .filter((one) => !table.contains(one)).length;
}"""
SHOWN_SUMMARIES = """() => [...document.querySelectorAll("main summary")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))"""
IS_OPEN = "(all, at) => all[at].parentElement.open"
ENOUGH = 5_000  # milliseconds for what a guess waits for
REACHABLE = "one => one.tabIndex >= 0 && !one.disabled && one.checkVisibility()"
UNREACHED = f"all => all.filter(one => !({REACHABLE})(one)).map(one => one.outerHTML.slice(0, 90))"
# The browser opens and closes a disclosure; ours may listen to those of a kind.
ONE_OF_A_KIND = """all => {
  const named = (one) => [one.tagName, one.className, ...one.getAttributeNames()].join();
  const kinds = new Map(all.map((one, at) => [named(one) + named(one.parentElement), at]));
  return [...kinds.values()];
}"""
FOCUS = """(all, at) => {
  all[at].focus();
  return all[at].parentElement.open;
}"""


@pytest.fixture(scope="module", params=WITH_FIGURES)
def page(opened: Callable[[str], Opened], request: pytest.FixtureRequest) -> Page:
    """Every page with figures, with its engine running."""
    page = opened(request.param).page
    all_live(page)
    return page


def name_of(part: Locator) -> str:
    """Return calculator and output of a part of a page, for the list of what failed."""
    return str(
        part.evaluate(
            """one => {
              const owner = one.closest("[data-output]") ?? one.closest("[data-of]") ?? one;
              return `${owner.dataset.of}.${owner.dataset.output}: ${one.outerHTML.slice(0, 90)}`;
            }"""
        )
    )


def owner(part: Locator) -> str:
    return str(part.evaluate("one => one.closest('[data-of]').dataset.of"))


def every(page: Page, selector: str) -> list[Locator]:
    return [one for one in page.locator(selector).all() if one.is_visible()]


def comes(page: Page, condition: str, arg: object) -> bool:
    """Wait until a condition holds or the page has nothing more to say; say whether it holds."""
    page.evaluate("() => (asking.last = performance.now())")
    either = f"arg => ({condition})(arg) || ({AT_REST})()"
    page.wait_for_function(either, arg=arg, timeout=PATIENCE, polling=40)
    return bool(page.evaluate(condition, arg))


def presses(page: Page, part: Locator, *keys: str) -> bool:
    """Press keys on a part if the tab key can reach it; say whether what it shows changed."""
    if not part.evaluate(REACHABLE):
        return False
    name = owner(part)
    before = page.evaluate(SHOWN, name)
    part.focus()
    for key in keys:
        page.keyboard.press(key)
    return comes(page, DIFFERS, [name, before])


def numbers_at_rest(page: Page, name: str) -> str:
    """Return the numbers of a calculator when no answer changes them any more."""
    at_rest(page)
    return str(page.evaluate(NUMBERS, name))


def undone(page: Page, name: str) -> bool:
    """Undo the last change of a calculator by key; say whether what it shows changed."""
    return presses(page, page.locator(f"[data-undo][data-of={name}]").first, "Enter")


def test_every_handle_moves_by_arrow_keys_and_changes_an_output(page):
    stuck = []
    for handle in every(page, ".handle[data-slide]"):
        key = "ArrowLeft" if handle.input_value() == "1000" else "ArrowRight"
        # Some settings change nothing until they are far from where they were, or one way only:
        # a group cannot be wider than the cluster.
        tries = ([key] * 4, ["End"], ["Home"])
        if not any(presses(page, handle, *keys) for keys in tries):
            stuck.append(name_of(handle))
    assert stuck == []


def test_every_challenge_starts_and_gives_the_readers_numbers_back_by_key(page):
    stuck = []
    for challenge in every(page, "[data-kind=challenge]"):
        start, stop = challenge.locator("[data-start]"), challenge.locator("[data-restore]")
        before = numbers_at_rest(page, owner(challenge))
        reached = start.evaluate(REACHABLE)
        start.press("Enter")
        offered = comes(page, OFFERED, stop.element_handle())
        stop.press("Enter")
        restored = comes(page, SAME, [owner(challenge), before])
        if not (reached and offered and restored):
            stuck.append(f"{name_of(start)} {reached} {offered} {restored}")
    assert stuck == []


def test_all_advice_is_taken_and_taken_back_by_key(page):
    stuck = []
    for advice in every(page, "[data-kind=advice]"):
        first = advice.locator("[data-apply]").first
        if not first.count():
            continue
        told = name_of(first)
        if not (presses(page, first, "Enter") and undone(page, owner(advice))):
            stuck.append(told)
    assert stuck == []


def plays(page: Page, player: Locator) -> list[str]:
    """Return the keys that do not do what they should in a player."""
    scrub, told = player.locator("[data-scrub]"), player.locator("[data-frame-caption]")
    if not scrub.evaluate(REACHABLE):
        return ["Tab"]
    scrub.press("End")
    last = (scrub.input_value(), told.text_content())
    scrub.press("ArrowLeft")
    before_last = (scrub.input_value(), told.text_content())
    scrub.press("Home")
    first = (scrub.input_value(), told.text_content())
    scrub.press("ArrowRight")
    second = (scrub.input_value(), told.text_content())
    button = player.locator("[data-play]")
    scrub.press(" ")
    playing = button.text_content()
    scrub.press(" ")
    checks = {
        "Home": first[0] == "0" and first[1],
        "End": float(last[0]) > 0 and last[1],
        "ArrowRight": second != first and second[1],
        "ArrowLeft": before_last != last and before_last[1],
        "Space": playing == "Pause" and button.text_content() == "Play",
    }
    return [key for key, worked in checks.items() if not worked]


def test_every_player_plays_and_steps_by_key_and_says_where_it_is(page):
    stuck = {}
    for player in every(page, "figure[data-player]"):
        player.scroll_into_view_if_needed()
        player.locator("[data-scrub]:enabled").wait_for()
        if lost := plays(page, player):
            stuck[name_of(player)] = lost
    assert stuck == {}


def test_every_row_that_shows_an_object_lights_it_elsewhere(page):
    tables = every(page, "table:has(tr[data-links])")
    for figure in every(page, "figure.chart") if tables else []:
        figure.scroll_into_view_if_needed()  # a chart far from the window is asleep
    page.wait_for_load_state("networkidle")
    assert [name_of(table) for table in tables if not lights(page, table)] == []


def lights(page: Page, table: Locator) -> bool:
    """Go down a table by key; say whether any of its rows lights something elsewhere."""
    rows = table.locator("tr[data-links]")
    rows.and_(page.locator("[tabindex='0']")).focus()
    for _ in range(rows.count()):
        if page.evaluate(f"() => ({LIT})(document.activeElement)"):
            return True
        page.keyboard.press("ArrowDown")
    return False


def test_every_disclosure_opens_and_closes_by_key(page):
    shown = page.evaluate_handle(SHOWN_SUMMARIES)
    stuck = shown.evaluate(UNREACHED)
    for index in shown.evaluate(ONE_OF_A_KIND):
        was = shown.evaluate(FOCUS, index)
        page.keyboard.press("Enter")
        opened = shown.evaluate(IS_OPEN, index)
        page.keyboard.press("Enter")
        closed = shown.evaluate(IS_OPEN, index)
        if opened == was or closed != was:
            stuck.append(shown.evaluate("(all, at) => all[at].outerHTML.slice(0, 90)", index))
    assert stuck == []


def test_every_scene_is_saved_as_valid_svg_that_needs_nothing_of_the_page(page):
    wrong = []
    for figure in page.locator("figure[data-kind=scene]").all():
        if not figure.locator("details.data > summary").first.is_visible():
            continue
        text = saved(page, figure, "svg").decode()
        drawing = ElementTree.fromstring(text).find(f"{SVG}svg")
        count = figure.locator("[data-stage] > svg > *").count()
        needs = "var(--" in re.sub(r"var\(--step[^)]*\)", "", text)
        if drawing is None or len(drawing) != count or needs:
            wrong.append(name_of(figure))
    assert wrong == []


def test_every_prediction_is_made_by_key(page):
    stuck = []
    for guess in every(page, "[data-predict]"):
        slider = guess.locator("[data-guess-slider]")
        before = slider.get_attribute("aria-valuetext") or ""
        slider.press("End")
        try:
            expect(slider).not_to_have_attribute("aria-valuetext", before, timeout=ENOUGH)
            slider.press("Enter")
            expect(guess.locator("[data-verdict]")).not_to_be_empty(timeout=ENOUGH)
        except AssertionError:
            stuck.append(name_of(slider))
            continue
        if not slider.evaluate(REACHABLE):
            stuck.append(name_of(slider))
    assert stuck == []


def test_there_are_scenes_to_save(site):
    offered = re.compile(r"<figure[^>]*data-kind=\"?scene.*?data-download=\"?svg", re.DOTALL)
    texts = [(site / path / "index.html").read_text("utf-8") for path in WITH_FIGURES]
    assert len([text for text in texts if offered.search(text)]) >= 8
