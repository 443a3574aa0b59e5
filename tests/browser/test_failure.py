from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.reading import CALCULATOR, drag_number, expected, live, output, wait_for

pytestmark = pytest.mark.browser
FAILED = f'[data-calculator="{CALCULATOR}"][data-state="failed"]'
KILL = """() => {
  const Real = Worker;
  window.workers = [];
  window.Worker = class extends Real {
    constructor(...given) { super(...given); window.workers.push(this); }
  };
}"""


@pytest.fixture
def visit(visit):
    """Visits of readers of their own: a start after a failure drops what was kept of Python."""
    return partial(visit, own=True)


def without_worker(page):
    page.route("**/worker.js", lambda route: route.abort())


def failed(page):
    drag_number(page).fill("16")
    page.wait_for_selector(FAILED, state="attached")


def test_an_engine_that_cannot_start_leaves_the_defaults(visit):
    page = visit(prepare=without_worker)
    failed(page)
    assert output(page).text_content() == expected()


@pytest.mark.left_to_all("an engine does not start, dies, is withheld its files, and tries again")
def test_an_engine_that_cannot_start_is_told_in_one_sentence(visit):
    page = visit(prepare=without_worker)
    failed(page)
    said = page.locator(f'[data-status][data-of="{CALCULATOR}"] [data-status-text]').first
    assert (said.text_content() or "").count(". ") == 0
    assert "worker.js" in (said.text_content() or "")


@pytest.mark.left_to_all("an engine does not start, dies, is withheld its files, and tries again")
def test_an_engine_that_cannot_start_is_told_where_the_reader_looks(visit):
    page = visit(prepare=without_worker)
    failed(page)
    page.locator("[data-retry]:visible").first.wait_for()
    assert page.locator("[data-retry]:visible").first.text_content() == "Retry"


def test_nothing_typed_is_lost_when_the_engine_cannot_start(visit):
    page = visit(prepare=without_worker)
    failed(page)
    assert drag_number(page).input_value() == "16"


def test_retry_answers_what_was_typed(visit):
    page = visit(prepare=without_worker)
    failed(page)
    page.unroute("**/worker.js")
    page.locator("[data-retry]:visible").first.click()
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    assert page.locator(FAILED).count() == 0


def test_an_engine_that_dies_is_started_again_with_the_same_inputs(visit):
    page = visit(prepare=lambda page: page.add_init_script(f"({KILL})()"))
    live(page)
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    page.evaluate(
        "() => { const last = window.workers.at(-1);"
        " last.dispatchEvent(new ErrorEvent('error', {message: 'out of memory'})); }"
    )
    drag_number(page).press("ArrowUp")
    wait_for(page, "all_reduce_time", expected(world_size="32"))
    assert page.evaluate("() => window.workers.length") == 2


@pytest.mark.left_to_all("an engine does not start, dies, is withheld its files, and tries again")
def test_charts_follow_without_the_chart_library(visit):
    page = visit(prepare=lambda page: page.route("**/bokeh*.js", lambda route: route.abort()))
    live(page)
    picture = page.locator(f'[data-output="parts"][data-of="{CALCULATOR}"] .chart-svg').first
    before = picture.evaluate("svg => svg.outerHTML")
    drag_number(page).fill("1024")
    page.locator("[data-output=parts]").first.scroll_into_view_if_needed()
    page.wait_for_function(
        "before => document.querySelector('[data-output=parts] .chart-svg').outerHTML !== before",
        arg=before,
    )
    assert picture.evaluate("svg => svg.outerHTML") != before


def test_a_worker_that_the_browser_ends_is_missed_within_two_seconds(visit):
    page = visit(prepare=lambda page: page.add_init_script(f"({KILL})()"))
    live(page)
    page.evaluate("() => window.workers.at(-1).terminate()")  # nobody is told
    page.wait_for_function("() => window.workers.length === 2", timeout=2_000)
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))


@pytest.mark.parametrize("content", ["<!doctype html><p>Not here", "{"])
def test_a_damaged_file_is_told_in_a_sentence(visit, content):
    def damage(page):
        page.route("**/runtime-*.json", lambda route: route.fulfill(body=content))

    page = visit(prepare=damage)
    failed(page)
    said = page.locator(f'[data-status][data-of="{CALCULATOR}"] [data-status-text]').first
    text = said.text_content() or ""
    assert text.startswith("The file runtime-")
    assert text.endswith(".json is damaged.")


def without_receipts(page):
    page.route("**/receipts/", lambda route: route.abort())


def test_a_page_whose_receipts_do_not_arrive_says_so_and_answers(visit):
    page = visit(prepare=without_receipts)
    live(page)
    expect(page.locator("[data-notice]").first).to_contain_text("receipts of this page")
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))


@pytest.mark.left_to_all("an engine does not start, dies, is withheld its files, and tries again")
def test_a_guess_is_answered_where_what_compares_it_does_not_arrive(visit):
    page = visit(prepare=without_receipts)
    live(page)
    block = page.locator("[data-predict]").first
    block.locator("[data-reveal]").click()
    expect(block.locator("[data-verdict]")).to_contain_text("did not arrive")
    expect(page.locator(".predict [data-answer]").first).to_have_attribute("open", "")


def test_a_page_whose_script_is_missing_says_so(visit):
    page = visit(prepare=lambda page: page.route("**/main.js", lambda route: route.abort()))
    page.locator("[data-asleep]").wait_for(state="visible", timeout=12_000)
    assert "Reload" in (page.locator("[data-asleep]").text_content() or "")
    page.locator(".predict summary").first.click()
    assert page.locator(".predict .answer").first.is_visible()


@pytest.mark.left_to_all("an engine does not start, dies, is withheld its files, and tries again")
def test_a_page_whose_script_runs_says_nothing(visit):
    page = visit()
    live(page)
    assert page.locator("[data-asleep]").is_hidden()
