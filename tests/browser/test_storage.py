"""A browser that keeps nothing: the page says so in words, and what is on the screen stays."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import CALCULATOR, expected, live, wait_for

pytestmark = pytest.mark.browser
FORBIDDEN = """(() => {
  const no = () => { throw new DOMException("not allowed", "SecurityError"); };
  for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
    Object.defineProperty(window, name, { get: no, configurable: true });
  }
})()"""
FULL = """(() => {
  const no = () => { throw new DOMException("no room", "QuotaExceededError"); };
  Storage.prototype.setItem = no;
  if (window.Cache) Cache.prototype.put = async () => no();
})()"""
KINDS = pytest.mark.parametrize("storage", [FORBIDDEN, FULL], ids=["forbidden", "full"])
SAID = "lasts until you leave the page"


@pytest.fixture
def refused(visit, watch):
    """Open a page in a browser that refuses storage in this way."""
    opened = []

    def open_page(path: str, storage: str) -> Page:
        opened.append(
            visit(path, prepare=lambda page: page.add_init_script(storage), locale="en-US")
        )
        return opened[-1]

    yield open_page
    for page in opened:  # what closes it clears its storage
        page.evaluate(
            "() => Object.defineProperty(window, 'localStorage', { value: { clear() {} } })"
        )
    assert watch.errors == []


@KINDS
def test_a_choice_of_colors_is_worn_and_said_to_last_as_long_as_the_page(refused, storage):
    page = refused("reference/glossary/", storage)
    page.locator("[data-settings]").click()
    page.locator("input[name=scheme][value=dark]").check()
    assert page.evaluate("() => document.documentElement.dataset.scheme") == "dark"
    expect(page.locator("[data-notice]")).to_contain_text(SAID)
    page.keyboard.press("Escape")
    page.locator("[data-dismiss]").click()
    expect(page.locator("[data-notice]")).to_be_hidden()
    page.locator("[data-settings]").click()
    page.locator("input[name=size][value=large]").check()
    expect(page.locator("[data-notice]")).to_be_hidden()


@pytest.mark.left_to_all("a choice and the engine's memory are refused a store")
@KINDS
def test_a_pasted_text_is_read_and_said_to_last_as_long_as_the_page(refused, storage):
    page = refused("tools/log/", storage)
    live(page, "log_check")
    box = page.locator("textarea[data-of=log_check]").first
    text = "".join(
        f" iteration {at}/ 500 | elapsed time per iteration (ms): 2000.0 |\n" for at in range(1, 60)
    )
    box.fill(text)
    expect(page.locator("[data-notice]")).to_contain_text(SAID, timeout=60_000)
    assert box.input_value() == text
    live(page, "log_check")


@pytest.mark.left_to_all("a choice and the engine's memory are refused a store")
@KINDS
def test_a_state_used_as_my_job_is_offered_on_the_page_and_said_not_to_be_kept(refused, storage):
    page = refused("guides/parallelism-modeler/?parallelism_modeler.sequence_length=16384", storage)
    live(page, "parallelism_modeler")
    page.locator("#parallelism_modeler [data-opens=states]").click()
    page.get_by_label("Name of this state").fill("long context")
    page.keyboard.press("Enter")
    said = page.locator("[data-states-said]")
    expect(said).to_contain_text("does not let the page keep anything", timeout=60_000)
    page.get_by_role("button", name="Use as my job: long context").click()
    expect(said).to_contain_text(SAID)
    expect(page.get_by_role("button", name="Open: long context")).to_have_count(1)


@KINDS
def test_numbers_follow_without_any_store_for_the_engine(refused, storage):
    page = refused("guides/gradient-sync-lab/?gradient_sync.world_size=16", storage)
    live(page)
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    assert page.locator(f"#{CALCULATOR}").get_attribute("data-state") == "live"
