"""One page for all tests that begin with it live and unchanged.

To open it and to start Python costs more than what most of them do there. Between two tests it is
put back; where that does not give what a fresh page shows, it is closed and another one opened.
"""

from dataclasses import dataclass, field

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
  // What was focused stays lit until something else is pointed at.
  document.body.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  for (const one of document.querySelectorAll("[data-reset][aria-disabled=false]")) one.click();
  scrollTo(0, 0);
}"""
UNFOLDED = "() => (window.unfolded = [...document.querySelectorAll('main details[open]')])"
IS_BACK = f"fresh => ({STATE})() === fresh"


@dataclass(slots=True)
class Lab:
    """A page with a calculator, opened when it is first asked for."""

    context: BrowserContext
    address: str
    calculator: str
    kept: Page | None = None
    fresh: str = ""

    def page(self) -> Page:
        """Return the page as it is when its engine has just come."""
        if self.kept and not self._is_back(self.kept):
            self.close()
        if not self.kept:
            self.kept = page = self.context.new_page()
            page.set_default_timeout(60_000)
            page.add_init_script(f"({ASKING})()")
            page.goto(self.address)
            arrive(page)
            live(page, self.calculator)
            at_rest(page)
            page.evaluate(UNFOLDED)
            page.evaluate("() => scrollTo(0, 0)")
            self.fresh = page.evaluate(STATE)
        self.kept.evaluate("() => performance.clearMeasures()")
        return self.kept

    def close(self) -> None:
        """Close the page, if it is open."""
        if self.kept:
            self.kept.close()
            self.kept = None

    def _is_back(self, page: Page) -> bool:
        if page.evaluate("() => !window.unfolded"):  # a test has loaded it again
            return False
        page.mouse.move(1, 1)
        page.evaluate(BACK)
        page.evaluate("() => (asking.last = performance.now())")
        either = f"fresh => ({IS_BACK})(fresh) || ({AT_REST})()"
        page.wait_for_function(either, arg=self.fresh, timeout=PATIENCE)
        page.evaluate("() => localStorage.clear()")
        return bool(page.evaluate(IS_BACK, self.fresh))


@dataclass(frozen=True, slots=True, kw_only=True)
class Labs:
    """The pages that many tests share; of all but the first, one at a time is open."""

    context: BrowserContext
    base: str
    first: str
    opened: dict[str, Lab] = field(default_factory=dict)

    def page(self, path: str, calculator: str) -> Page:
        """Return a page of the site as it is when its engine has just come."""
        if path not in self.opened:
            for other in self.opened.keys() - {self.first}:
                self.opened.pop(other).close()
            self.opened[path] = Lab(self.context, self.base + path, calculator)
        return self.opened[path].page()
