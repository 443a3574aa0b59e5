"""What a reader types stays, also while the engine starts or answers something else."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import live

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


def slowed(page: Page) -> None:
    """Let the page be a slow machine."""
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 6})


def told(page: Page, name: str) -> None:
    """Wait until a message of an input is there."""
    page.wait_for_function(
        "name => [...document.querySelectorAll(`[data-error=${name}]`)].some((o) => o.textContent)",
        arg=name,
    )


def test_a_bad_text_that_was_typed_before_the_first_answer_stays(visit):
    page = visit("tools/mfu/", prepare=slowed)
    box = page.locator("#mfu_check-rate")
    box.fill("abc")
    box.press("Tab")
    live(page, "mfu_check")
    told(page, "rate")
    assert box.input_value() == "abc"
    assert box.get_attribute("aria-invalid") == "true"


@pytest.mark.left_to_all("a bad text stays with its message while another is typed")
def test_reset_is_offered_where_only_a_bad_text_was_typed(visit):
    page = visit("tools/mfu/")
    live(page, "mfu_check")
    box = page.locator("#mfu_check-rate")
    before = box.input_value()
    box.fill("abc")
    box.press("Tab")
    told(page, "rate")
    page.locator("[data-reset][data-of=mfu_check][aria-disabled=false]").first.click()
    expect(box).to_have_value(before)
    expect(page.locator("[data-reset][data-of=mfu_check]").first).to_be_disabled()


def test_a_text_taken_by_enter_is_not_overwritten_by_the_answer_before_it(visit):
    page = visit("tools/memory/")
    live(page, "memory_check")
    slowed(page)
    box = page.locator("#memory_check-allocated")
    box.fill("")
    box.press_sequentially("1e99")
    box.press("Enter")
    told(page, "allocated")
    page.wait_for_timeout(500)  # later answers would come now
    assert box.input_value() == "1e99"


@pytest.mark.left_to_all("a bad text stays with its message while another is typed")
@pytest.mark.parametrize(
    ("path", "calculator", "name"),
    [
        ("tools/job-time/", "job_time", "price"),
        ("guides/gradient-sync-lab/", "gradient_sync", "world_size"),
    ],
)
def test_the_message_of_a_number_in_a_sentence_stays_on_the_phone(visit, path, calculator, name):
    page = visit(path, viewport=PHONE)
    live(page, calculator)
    number = page.locator(f"input.drag[name={name}][data-of={calculator}]").first
    number.fill("abc")
    number.press("Tab")
    told(page, name)
    message = page.locator(f".inline-field [data-error={name}]:visible").first
    place = message.bounding_box()
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= PHONE["width"]
    under = number.bounding_box()
    assert 0 <= place["y"] - (under["y"] + under["height"]) < 24
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_a_bad_text_in_a_sentence_stays_with_its_message_when_another_input_is_typed(visit):
    page = visit("guides/gradient-sync-lab/")
    live(page, "gradient_sync")
    first, other = (
        page.locator(f"input.drag[name={name}][data-of=gradient_sync]").first
        for name in ("world_size", "parameters")
    )
    first.fill("abc")
    told(page, "world_size")
    other.fill("13B")
    other.press("Tab")
    page.wait_for_function("location.search.includes('parameters')")
    assert first.input_value() == "abc"
    assert page.locator(".inline-field [data-error=world_size]:visible").count()
    first.fill("64")
    page.wait_for_function(
        "() => !document.querySelector('[name=world_size][aria-invalid=true]')"
        " && !document.querySelector('.stale')"
    )
    assert first.input_value() == "64"
