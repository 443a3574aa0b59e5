"""A long search in the browser: how far it is, Cancel, Go on; a change begins anew."""

import pytest

from engine.answer import reply
from tests.browser.reading import live

pytestmark = pytest.mark.browser
GUIDE = "guides/choosing-a-configuration/"
LARGE = {"world_size": "16384", "global_batch_size": "16384"}
BOX = "[data-searching][data-of=planner]"
STEP = ".number[data-output=step][data-of=planner]"
# Lets the page itself note what it says of its next search while it listens to 21 timers of 20 ms,
# and how late it hears them, the median in milliseconds: on a busy machine the search could be over
# before somebody outside of the page looks.
NOTE = """([box, step]) => {
  const bar = document.querySelector(`${box} progress`);
  const frame = () => new Promise(requestAnimationFrame);
  const note = async () => {
    while (document.querySelector(box).hidden) await frame();
    const first = bar.value;
    const late = [];
    for (let i = 0; i < 21; i += 1) {
      const began = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 20));
      late.push(performance.now() - began - 20);
    }
    return {
      late: late.sort((a, b) => a - b)[10],
      grown: bar.value - first,
      text: document.querySelector(`${box} [data-searching-text]`).textContent,
      stale: document.querySelector(step).classList.contains("stale"),
    };
  };
  window.noted = note();
}"""
WAITS = """([place, text]) => {
  const found = document.querySelector(place);
  return found.textContent === text && !found.classList.contains("stale");
}"""


def step(**values):
    asked = {"calculator": "planner", "values": values, "only": ["step"]}
    return reply(asked)["outputs"]["step"]["text"]


def small_job(visit):
    """The guide with a small model on 16,384 GPUs."""
    page = visit(GUIDE)
    live(page, "planner")
    page.wait_for_function(WAITS, arg=[STEP, step()])
    for name, text in LARGE.items():
        page.locator(f"input[type=text][name={name}][data-of=planner]").last.fill(text)
    page.wait_for_function(WAITS, arg=[STEP, step(**LARGE)])
    return page


def searching(visit):
    """The same, after a mixture of experts was chosen."""
    page = small_job(visit)
    choose(page, "deepseek-v3")
    page.locator(BOX).wait_for(state="visible")
    return page


def choose(page, model):
    page.locator("select[name=model][data-of=planner]").last.select_option(model)


def share(page):
    return page.locator(f"{BOX} progress").evaluate("one => one.value")


def test_a_search_says_how_far_it_is_and_the_page_stays_quick(visit):
    page = small_job(visit)
    page.evaluate(NOTE, [BOX, STEP])
    choose(page, "deepseek-v3")
    seen = page.evaluate("() => window.noted")
    assert seen["late"] < 50
    assert seen["grown"] > 0
    assert "splits" in seen["text"]
    assert seen["stale"]
    page.wait_for_function(
        "() => document.querySelector('[data-live]').textContent.includes('splits')"
    )


def test_cancel_keeps_the_last_answer_and_says_so(visit):
    page = searching(visit)
    before = page.locator(STEP).first.text_content()
    page.locator(f"{BOX} [data-cancel]").focus()
    page.keyboard.press("Enter")
    assert "Canceled" in page.locator(f"{BOX} [data-searching-text]").text_content()
    page.wait_for_timeout(600)
    held = share(page)
    page.wait_for_timeout(600)
    assert share(page) == held
    assert page.locator(STEP).first.text_content() == before
    assert page.locator(STEP).first.evaluate("one => one.classList.contains('stale')")
    page.wait_for_function("() => location.search.includes('planner.model=deepseek-v3')")
    page.keyboard.press("Enter")  # the focus is on what goes on
    page.locator(f"{BOX} [data-cancel]").wait_for(state="visible")
    page.wait_for_function(
        "([box, held]) => document.querySelector(`${box} progress`).value > held",
        arg=[BOX, held],
    )


def test_a_change_begins_anew_also_after_cancel(visit):
    page = searching(visit)
    page.locator(f"{BOX} [data-cancel]").click()
    choose(page, "llama-3-8b")
    page.wait_for_function(WAITS, arg=[STEP, step(model="llama-3-8b", **LARGE)])
    page.locator(BOX).wait_for(state="hidden")


@pytest.mark.left_to_all("a search is watched, canceled and begun anew")
def test_undo_brings_the_answer_back(visit):
    page = searching(visit)
    page.locator(f"{BOX} [data-cancel]").click()
    page.locator("[data-undo][data-of=planner]").first.click()
    page.wait_for_function(WAITS, arg=[STEP, step(**LARGE)])
    page.locator(BOX).wait_for(state="hidden")


@pytest.mark.left_to_all("a search is watched, canceled and begun anew")
def test_a_link_copied_in_a_search_has_the_inputs_as_they_stand(visit):
    page = searching(visit)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    # Both in one task of the page: no reply can come between them.
    page.evaluate(
        """() => {
          const choice = document.querySelector("select[name=own_tensor][data-of=planner]");
          choice.value = "4";
          choice.dispatchEvent(new Event("input", { bubbles: true }));
          document.querySelector("[data-copy-link][data-of=planner]").click();
        }"""
    )
    page.locator("[data-copy-link][data-of=planner]", has_text="Copied").first.wait_for()
    link = page.evaluate("() => navigator.clipboard.readText()")
    for given in ("model=deepseek-v3", "own_tensor=4", "world_size=16384"):
        assert f"planner.{given}" in link


@pytest.mark.left_to_all("a search is watched, canceled and begun anew")
def test_a_command_is_copied_in_a_canceled_search_and_numbers_make_it_go_on(visit):
    page = searching(visit)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(f"{BOX} [data-cancel]").click()
    copy = "[data-of=planner][data-copy-as={}]"
    page.locator(copy.format("terminal")).first.evaluate("one => one.click()")
    page.wait_for_function(
        "async () => (await navigator.clipboard.readText()).includes('planner model=deepseek-v3')"
    )
    assert page.locator(BOX).get_attribute("data-searching") == "canceled"
    page.locator(copy.format("csv")).first.evaluate("one => one.click()")
    page.locator(f"{BOX} [data-cancel]").wait_for(state="visible")
