"""One page of the gradient sync lab for all tests that begin with it live and unchanged.

To open it and to start Python costs more than what most of them do there. Between two tests it is
put back; where that does not give what a fresh page shows, it is closed and another one opened.
"""

from playwright.sync_api import BrowserContext, Page

from tests.browser.reading import ASKING, AT_REST, PATIENCE, arrive, at_rest, live

# What a test may have left: the address, inputs, numbers, marks, and whatever lies over the page.
STATE = """() => JSON.stringify([
  location.search,
  [...document.querySelectorAll("[data-of][name]")].map((one) =>
    [one.name, one.checked, one.value, one.ariaInvalid, one.className, one.matches(":focus")]),
  [...document.querySelectorAll(".number[data-output]")].map((one) =>
    [one.textContent, one.className]),
  [...document.querySelectorAll("[data-setting]")].map((one) => one.checked),
  [...document.querySelectorAll("main details")].map((one) => one.open),
  document.querySelectorAll("dialog[open], :popover-open").length,
])"""
BACK = """() => {
  for (const one of document.querySelectorAll("dialog[open]")) one.close();
  for (const one of document.querySelectorAll(":popover-open")) one.hidePopover();
  for (const one of document.querySelectorAll("[data-setting]:checked")) one.click();
  for (const one of document.querySelectorAll("input[aria-invalid=true]")) {
    one.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  }
  for (const one of document.querySelectorAll("main details[open]")) {
    one.open = window.unfolded.includes(one);
  }
  document.activeElement.blur();
  for (const one of document.querySelectorAll("[data-reset][aria-disabled=false]")) one.click();
  scrollTo(0, 0);
}"""
UNFOLDED = "() => (window.unfolded = [...document.querySelectorAll('main details[open]')])"
IS_BACK = f"fresh => ({STATE})() === fresh"


class Lab:
    """The page, opened when it is first asked for."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context, self.address = context, address
        self.kept: Page | None = None
        self.fresh = ""

    def page(self) -> Page:
        """Return the page as it is when its engine has just come."""
        if self.kept and not self._is_back(self.kept):
            self.kept.close()
            self.kept = None
        if not self.kept:
            self.kept = page = self.context.new_page()
            page.set_default_timeout(60_000)
            page.add_init_script(f"({ASKING})()")
            page.goto(self.address)
            arrive(page)
            live(page)
            at_rest(page)
            page.evaluate(UNFOLDED)
            page.evaluate("() => scrollTo(0, 0)")
            self.fresh = page.evaluate(STATE)
        self.kept.evaluate("() => performance.clearMeasures()")
        return self.kept

    def _is_back(self, page: Page) -> bool:
        page.mouse.move(1, 1)
        page.evaluate(BACK)
        page.evaluate("() => (asking.last = performance.now())")
        either = f"fresh => ({IS_BACK})(fresh) || ({AT_REST})()"
        page.wait_for_function(either, arg=self.fresh, timeout=PATIENCE)
        page.evaluate("() => localStorage.clear()")
        return bool(page.evaluate(IS_BACK, self.fresh))
