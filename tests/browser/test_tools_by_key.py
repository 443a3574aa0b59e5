"""The tools by keyboard alone: all is reached, seen and left again; nothing loses the focus."""

import os

import pytest
from playwright.sync_api import FileChooser, Page, expect

from tests.browser.pages import PAGES
from tests.browser.test_trace import ENDLESS, small

pytestmark = pytest.mark.browser
# Both hold every kind of control and of result; EVERY_TOOL=1 walks over all of them.
TOOLS = ["tools/import/", "tools/trace/"]
if os.environ.get("EVERY_TOOL"):
    TOOLS = [page for page in PAGES if page.startswith("tools/") and page != "tools/embed/"]
MOST = 400  # presses of Tab on one page
# What has the focus: its name, whether it had it before, and whether the reader sees where it is.
FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const drawn = (element) => {
    const style = getComputedStyle(element);
    const line = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return line || style.boxShadow !== "none";
  };
  const around = one.matches("input[type=file]") ? one.closest("label") : one;
  const { left, right, top, bottom } = around.getBoundingClientRect();
  const name = one.getAttribute("aria-label") || one.textContent.trim() || one.title
    || [...(one.labels ?? [])].map((label) => label.textContent.trim()).join(" ");
  window.met ??= new Set();
  const again = met.has(one);
  met.add(one);
  return {
    again,
    what: one.outerHTML.slice(0, 120),
    name,
    drawn: drawn(around) || one.matches(".handle") || drawn(one),
    seen: right > 0 && left < innerWidth && bottom > 0 && top < innerHeight && right - left > 2,
  };
}"""
# What a reader can operate and must reach. Sliders repeat the number beside them.
WANTED = """() => [...document.querySelectorAll(
  "main :is(button, input, select, textarea, summary, a[href], [tabindex='0'])"
)].filter((one) => !met.has(one) && one.checkVisibility({ checkVisibilityCSS: true })
  && !one.matches(":disabled, [aria-disabled=true], [tabindex='-1'], [popover] *")
).map((one) => one.outerHTML.slice(0, 120))"""


def walk(page: Page) -> list[dict]:
    """Press Tab from the top of the page until the focus leaves it."""
    found = []
    for _ in range(MOST):
        page.keyboard.press("Tab")
        one = page.evaluate(FOCUSED)
        if one is None or (one["again"] and len(found) > 1 and one["what"] == found[0]["what"]):
            return found
        assert not one["again"], f"{one['what']} has the focus again"
        found.append(one)
    raise AssertionError(f"the focus goes round in circles: {[one['what'] for one in found[-5:]]}")


def charts_live(page: Page) -> None:
    """Read as far as the last chart, until all answer the pointer and have their controls."""
    for figure in page.locator("figure.chart:visible").all():
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-chart", "live", timeout=60_000)
    page.evaluate("scrollTo(0, 0)")


def reach(page: Page, selector: str) -> None:
    """Press Tab until what the selector names has the focus."""
    for _ in range(MOST):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached")


def chosen(page: Page, key: str) -> FileChooser:
    """Press the key that opens the file dialog, and return the dialog."""
    with page.expect_file_chooser() as chooser:
        # Keys overtake the order to intercept the dialog while the page is busy; this does not.
        page.evaluate("0")
        page.keyboard.press(key)
    return chooser.value


def answered(page: Page) -> None:
    """Wait until no calculator computes, and see that the focus is still there."""
    page.wait_for_function(
        """() => document.querySelector("[data-calculator][data-state=live]")
          && !document.querySelector("[aria-busy]")"""
    )
    assert page.evaluate("document.activeElement !== document.body"), "the focus is lost"


@pytest.mark.parametrize("tool", TOOLS)
def test_tab_reaches_everything_and_shows_where_it_is(visit, tool):
    page = visit(tool)
    page.wait_for_selector("[data-calculator][data-state=live]", state="attached")
    charts_live(page)
    found = walk(page)
    assert [one["what"] for one in found if not one["name"]] == []
    assert [one["what"] for one in found if not (one["seen"] and one["drawn"])] == []
    assert page.evaluate(WANTED) == []


def test_a_tool_from_sample_to_export_by_keys(visit):
    page = visit("tools/nccl/", permissions=["clipboard-read", "clipboard-write"])
    reach(page, "textarea[name=log]")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("nothing of a table")
    expect(page.locator("[data-error=log]")).to_be_visible(timeout=60_000)
    reach(page, "[data-file=log]")
    assert chosen(page, "Enter").is_multiple()
    reach(page, "[data-preset]")
    page.keyboard.press("Enter")
    expect(page.locator("[data-error=log]")).to_be_hidden()
    answered(page)
    reach(page, "[data-copy-link]")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "async () => (await navigator.clipboard.readText()).includes('tools/nccl')"
    )
    reach(page, ".copy-as summary")
    page.keyboard.press("Enter")
    for kind, part in (("markdown", "| "), ("csv", ",")):
        reach(page, f"[data-copy-as={kind}]")
        page.keyboard.press("Enter")
        page.wait_for_function(
            """async (part) => { const text = await navigator.clipboard.readText();
              return text.includes(part) && text.split("\\n").length > 10; }""",
            arg=part,
        )
        assert page.evaluate("document.activeElement.dataset.copyAs") == kind


def test_reading_a_trace_is_canceled_by_keys(visit):
    page = visit("tools/trace/")
    page.wait_for_selector('[data-calculator="trace_check"][data-state="live"]', state="attached")
    page.evaluate(ENDLESS)
    reach(page, "[data-file=trace]")
    chooser = chosen(page, "Space")
    files = {"name": "big.json", "mimeType": "application/json", "buffer": small()}
    chooser.set_files([files])
    page.locator("[data-reading]").wait_for(state="visible")
    reach(page, "[data-reading] button")
    page.keyboard.press("Enter")
    page.locator("[data-reading]").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.dataset.file") == "trace"
