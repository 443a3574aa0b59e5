from pathlib import Path

import pytest

from tests.browser.conftest import LAB
from tests.browser.reading import drag_number, expected, live, output, wait_for

pytestmark = pytest.mark.browser
AXE = Path(__file__).resolve().parents[2] / "theme" / "node_modules" / "axe-core" / "axe.min.js"
SHIFTS = """() => new Promise((done) => {
  new PerformanceObserver((list) => {
    const shifts = list.getEntries().filter((entry) => !entry.hadRecentInput);
    done(shifts.flatMap((entry) => entry.sources.map((s) => String(s.node?.className))));
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done([]), 1500);
})"""


def violations(page, *rules, within="() => document"):
    """What axe-core finds, with all rules or with some, on the page or on some of its elements."""
    if not page.evaluate("() => 'axe' in window"):  # half a megabyte, read once in a page
        page.evaluate(AXE.read_text("utf-8"))
    # What is loaded ahead serves rules on the page's orientation and on sound alone.
    # Selectors of all that it looked at, of which nobody asks here, take half of the time.
    options = {"resultTypes": ["violations"], "preload": False, "selectors": False}
    options |= {"runOnly": list(rules)} if rules else {}
    found = page.evaluate(f"options => axe.run(({within})(), options)", options)["violations"]
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


# One element of every kind that colors can be wrong on: by its own colors and size, and by those
# behind it. What lies behind what is the same in both schemes, and looked at in light everywhere.
KINDS = """() => {
  const behind = new WeakMap();
  const layers = (one) => {
    if (!one) return "";
    if (!behind.has(one)) {
      const s = getComputedStyle(one);
      const own = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode];
      behind.set(one, own.join() + "/" + layers(one.parentElement));
    }
    return behind.get(one);
  };
  const says = (one) => one.matches("input, select, textarea")
    || [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const kinds = new Map();
  for (const one of document.body.querySelectorAll("*")) {
    if (!says(one) || !one.checkVisibility()) continue;
    const s = getComputedStyle(one), named = (it) => `${it.tagName}.${it.getAttribute("class")}`;
    const kind = [s.color, s.fontSize, s.fontWeight, s.textShadow, named(one),
      named(one.parentElement), layers(one)].join();
    if (!kinds.has(kind)) kinds.set(kind, one);
  }
  return [...kinds.values()];
}"""


def in_both_schemes(page):
    """What axe-core finds, in light with all rules; of a scheme only colors depend."""
    light = violations(page)
    page.emulate_media(color_scheme="dark")
    dark = violations(page, "color-contrast", within=KINDS)
    page.emulate_media(color_scheme="null")
    return [*light, *(f"in dark, {one}" for one in dark)]


def test_the_lab_has_no_violation(visit):
    page = visit()
    live(page)
    assert in_both_schemes(page) == []


def test_an_open_receipt_has_no_violation(visit):
    page = visit()
    live(page)
    output(page).click()
    assert in_both_schemes(page) == []


def test_a_bad_input_has_no_violation(visit):
    page = visit()
    live(page)
    drag_number(page).fill("many")
    page.wait_for_selector('input[aria-invalid="true"]')
    assert violations(page) == []


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_nothing_moves_while_the_page_comes_alive(visit, width):
    page = visit(viewport={"width": width, "height": 900})
    drag_number(page).scroll_into_view_if_needed()
    live(page)
    page.wait_for_load_state("networkidle")
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
