"""What the browser tests look at, by the contract of the page."""

import json
from typing import Any

from playwright.sync_api import Page

from engine.answer import reply

CALCULATOR = "gradient_sync"
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
# As if every curve took long here, on however quick a machine: no reply has time for one.
IN_NO_TIME = """() => {
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data, ...more) {
    const request = data.request?.replace(/"within":[\\d.]+/, '"within":1e-6');
    return send.call(this, request ? { ...data, request } : data, ...more);
  };
}"""
# Nothing is on its way, figures far from the window have caught up (they ask 400 ms after the last
# answer), and no engine that took too long is being started again: no more will come.
AT_REST = """() => asking.open < 1 && performance.now() - asking.last > 600
  && !document.querySelector("[data-calculator]:not([data-state=live])")"""
PATIENCE = 120_000  # milliseconds, until a machine is called broken


def arrive(page: Page) -> None:
    """Move the mouse until the page has noticed, as a reader does: live charts wait for that."""
    page.evaluate("() => addEventListener('pointermove', (at) => (window.moved ||= at.movementX))")
    for step in range(2, 40):
        page.mouse.move(step, step)
        if page.evaluate("() => window.moved"):
            return
    raise AssertionError("the page notices no movement of the mouse")


def live(page: Page, name: str = CALCULATOR) -> None:
    """Go to the calculator and wait until it follows its inputs."""
    place = page.locator(f'[data-calculator="{name}"]').first
    place.evaluate("one => one.scrollIntoView()")
    page.wait_for_selector(f'[data-calculator="{name}"][data-state="live"]', state="attached")
    page.wait_for_selector(f'[data-reset][data-of="{name}"][aria-disabled]', state="attached")


def all_live(page: Page) -> None:
    """Read as far as it takes for the page's calculators to be there, and the first to answer."""
    arrive(page)
    if page.locator("[data-calculator]").count():
        page.wait_for_selector("[data-calculator][data-state=live]", state="attached")
        page.wait_for_selector("[data-reset][aria-disabled]", state="attached")


def at_rest(page: Page) -> None:
    """Wait until all calculators of a page that notes its `ASKING` have answered and caught up."""
    page.wait_for_selector("[data-reset]:not([aria-disabled])", state="detached")
    page.wait_for_function(AT_REST, timeout=PATIENCE)


def drag_number(page: Page, name: str = "world_size") -> Any:
    """Return the number inside a sentence for an input."""
    return page.locator(f'input.drag[name="{name}"][data-of="{CALCULATOR}"]').first


def box(page: Page, name: str = "world_size") -> Any:
    """Return the text box of the form for an input."""
    return page.locator(f'.field input[type=text][name="{name}"][data-of="{CALCULATOR}"]').first


def output(page: Page, name: str = "all_reduce_time") -> Any:
    """Return the first live number for an output."""
    return page.locator(f'.number[data-output="{name}"][data-of="{CALCULATOR}"]').first


def wait_for(page: Page, name: str, text: str) -> None:
    """Wait until an output reads so."""
    page.wait_for_function(
        "([of, name, text]) => document.querySelector("
        '`.number[data-of="${of}"][data-output="${name}"]`).textContent === text',
        arg=[CALCULATOR, name, text],
        polling=50,  # a page without frames is read, too
    )


def expected(name: str = "all_reduce_time", **values: str) -> str:
    """Return what the engine says natively for these inputs (SI texts)."""
    answer = reply({"calculator": CALCULATOR, "values": values})
    return str(answer["outputs"][name]["text"])


def expected_symbol(name: str, symbol: str, **values: str) -> str:
    """Return the number that stands for a symbol of a formula, likewise."""
    answer = reply({"calculator": CALCULATOR, "values": values})
    return str(answer["outputs"][name]["symbols"][symbol])


def measures(page: Page, name: str) -> list[float]:
    """Return the durations of the page's own measures, milliseconds."""
    found = page.evaluate(
        "name => JSON.stringify(performance.getEntriesByName(name, 'measure')"
        ".map(entry => entry.duration))",
        name,
    )
    return list(json.loads(found))


def units(page: Page) -> Any:
    """Return the switch of bytes in powers of two, in the open panel of settings."""
    page.locator("[data-settings]").click()
    return page.locator("[data-setting=binary]")
