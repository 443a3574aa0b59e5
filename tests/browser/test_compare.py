"""Compare as a mode: a kept state A beside the present one, in numbers, in charts, in the link."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LAB
from tests.browser.reading import box, expected, live, wait_for

pytestmark = pytest.mark.browser
ROOT = "#gradient_sync"
CHIP, GHOST = f"{ROOT} .kept-state", f"{ROOT} figure .kept-ghost"


def set_gpus(page: Page, count: str) -> None:
    field = box(page)
    field.fill(count)
    field.press("Enter")
    wait_for(page, "step_time", expected("step_time", world_size=count))


def test_a_kept_state_stands_beside_the_present_one(visit):
    page = visit(LAB)
    live(page)
    before = expected("step_time")
    page.locator(f"{ROOT} [data-opens=compare]").click()
    expect(page.locator(CHIP)).to_contain_text(f"A: {before}", timeout=60_000)
    set_gpus(page, "8192")
    expect(page.locator(CHIP)).to_contain_text("%", timeout=60_000)
    expect(page.locator(f"{ROOT} dd .against").first).to_contain_text("(A: ", timeout=60_000)
    page.wait_for_function(
        "path => document.querySelector(path)?.getAttribute('d')", arg=GHOST, timeout=60_000
    )
    expect(page).to_have_url(re.compile(r"A\.gradient_sync="))
    page.locator(f"{CHIP} button").click()
    expect(page.locator(CHIP)).to_have_count(0)
    expect(page.locator(f"{ROOT} .against")).to_have_count(0)
    expect(page).not_to_have_url(re.compile(r"A\.gradient_sync"))


def test_a_link_holds_both(visit):
    page = visit(f"{LAB}?gradient_sync.world_size=1024&A.gradient_sync.world_size=16")
    live(page)
    wait_for(page, "step_time", expected("step_time", world_size="1024"))
    then = expected("step_time", world_size="16")
    expect(page.locator(CHIP)).to_contain_text(f"A: {then}", timeout=30_000)
    page.locator(f"{ROOT} [data-opens=states]").click()
    table = page.locator("[data-states-compared] table", has_text="Numbers that differ")
    table.wait_for()
    assert table.locator("thead th").all_text_contents() == ["Number", "A", "now", "Change"]


@pytest.mark.left_to_all("two states stand beside one another; tests of the engine trace")
def test_any_number_is_traced_to_the_inputs_that_changed_it(visit):
    page = visit(f"{LAB}?gradient_sync.world_size=1024&gradient_sync.parameters=7e10")
    live(page)
    page.locator(f"{ROOT} [data-opens=states]").click()
    compared = page.locator("[data-states-compared]")
    expect(compared.locator("caption", has_text="Step: from")).to_have_count(1, timeout=60_000)
    compared.get_by_role("button", name="All-reduce", exact=True).click()
    traced = compared.locator("caption", has_text="All-reduce: from")
    expect(traced).to_have_count(1, timeout=30_000)


def test_a_link_shows_its_inputs_before_any_answer_and_no_other_results(visit):
    page = visit(f"{LAB}?gradient_sync.world_size=8192&gradient_sync.port=1e11")
    field = page.locator(f"{ROOT} .field [name=world_size]")
    expect(field).to_have_value("8,192", timeout=30_000)
    shown = page.evaluate(
        """() => {
          const number = document.querySelector("#gradient_sync .lead .number");
          return [number.textContent, number.classList.contains("arriving"),
            document.querySelector("#gradient_sync [name=port]").value];
        }"""
    )
    assert shown[2] == "800 Gb/s"
    assert shown[1] or shown[0] != expected("step_time")
    text = expected("step_time", world_size="8192", port="1e11")
    wait_for(page, "step_time", text)
    expect(page.locator("#gradient_sync .arriving")).to_have_count(0, timeout=60_000)


def test_a_drawing_shows_where_the_boxes_of_a_stood(visit):
    page = visit("guides/why-pipeline-parallelism/?stage_lab.shift_1=2&A.stage_lab.shift_1=0")
    live(page, "stage_lab")
    drawing = "figure[data-of=stage_lab][data-output=strip] .scene"
    page.locator(drawing).first.scroll_into_view_if_needed()
    ghost = page.locator(f"{drawing} > .kept-ghost").first
    expect(ghost).to_have_attribute("d", re.compile("^M"), timeout=60_000)
    page.locator(".kept-state button").first.click()
    expect(page.locator(f"{drawing} > .kept-ghost")).to_have_count(0)
