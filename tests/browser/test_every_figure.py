"""Every figure of every page can be used by keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page

from tests.browser.pages import WITH_FIGURES
from tests.browser.reading import arrive

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
REACHABLE = "one => one.tabIndex >= 0 && !one.disabled && one.checkVisibility()"

# What the page has asked its engine, and when it was last answered.
ASKING = """() => {
  const Plain = window.Worker;
  window.asking = { open: 0, last: 0 };
  window.Worker = class extends Plain {
    constructor(...given) {
      super(...given);
      this.owes = 0;
      this.addEventListener("message", ({ data }) => "id" in data && this.note(-1));
    }
    note(more) {
      this.owes += more;
      asking.open += more;
      asking.last = performance.now();
    }
    postMessage(data, ...more) {
      if ("id" in data) this.note(1);
      super.postMessage(data, ...more);
    }
    terminate() {
      this.note(-this.owes);
      super.terminate();
    }
  };
}"""
# Nothing is on its way, figures far from the window have caught up, and no engine that took too
# long is being started again: no more will come.
AT_REST = """() => asking.open < 1 && performance.now() - asking.last > 1000
  && !document.querySelector("[data-calculator]:not([data-state=live])")"""
PATIENCE = 120_000  # milliseconds, until a machine is called broken


@pytest.fixture(scope="module", params=WITH_FIGURES)
def page(reader: BrowserContext, base: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Every page with figures, opened once for all tests of it, with its engine running."""
    page = reader.new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(f"({ASKING})()")
    page.goto(base + request.param)
    arrive(page)
    if page.locator("[data-calculator]").count():
        page.wait_for_selector("[data-calculator][data-state=live]", state="attached")
        page.wait_for_selector("[data-reset][aria-disabled]", state="attached")
    yield page
    page.close()


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
    page.wait_for_function(AT_REST, timeout=PATIENCE)
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
    dark = []
    for table in every(page, "table:has(tr[data-links])"):
        row = table.locator("tr[data-links][tabindex='0']")
        row.scroll_into_view_if_needed()
        row.focus()
        lit = 0
        for _ in range(table.locator("tr[data-links]").count()):
            lit += page.evaluate(f"() => ({LIT})(document.activeElement)")
            if lit:
                break
            page.keyboard.press("ArrowDown")
        if not lit:
            dark.append(name_of(row))
    assert dark == []


def test_every_disclosure_opens_and_closes_by_key(page):
    stuck = []
    for summary in page.locator("main summary").all():
        if not summary.is_visible():
            continue
        reachable, was = summary.evaluate(
            f"one => {{ one.focus(); return [({REACHABLE})(one), one.parentElement.open]; }}"
        )
        page.keyboard.press("Enter")
        opened = summary.evaluate("one => one.parentElement.open")
        page.keyboard.press("Enter")
        if opened == was or not reachable:
            stuck.append(name_of(summary))
    assert stuck == []


def test_every_prediction_is_made_by_key(page):
    stuck = []
    for guess in every(page, "[data-predict]"):
        slider = guess.locator("[data-guess-slider]")
        before = slider.get_attribute("aria-valuetext")
        slider.press("End")
        moved = slider.get_attribute("aria-valuetext") not in (None, "", before)
        slider.press("Enter")
        said = guess.locator("[data-verdict]").text_content()
        if not (moved and said and slider.evaluate(REACHABLE)):
            stuck.append(name_of(slider))
    assert stuck == []
