import datetime
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import REPOSITORY
from tests.browser.reading import CALCULATOR, box, drag_number, expected, live, output, wait_for

pytestmark = pytest.mark.browser
RECEIPT = f"#receipt-{CALCULATOR}-all_reduce_time"


def opened(page):
    output(page).click()
    receipt = page.locator(RECEIPT)
    receipt.wait_for(state="visible")
    return receipt


def test_a_number_opens_its_receipt(lab):
    receipt = opened(lab)
    assert expected() in (receipt.locator(".big").text_content() or "")


FAR = "window.IntersectionObserver = class { observe() {} unobserve() {} disconnect() {} };"


def test_a_number_opens_its_receipt_before_anything_is_live(visit):
    page = visit("guides/rooflines/", prepare=lambda page: page.add_init_script(FAR))
    link = page.locator("a.number:not(.fixed)").first
    name = link.get_attribute("href").partition("#")[2]
    link.press("Enter")
    page.locator(f"#{name}:popover-open").wait_for()
    assert page.evaluate("() => document.activeElement.getAttribute('popovertarget')") == name


def test_a_number_whose_receipts_do_not_arrive_leads_to_their_page(visit):
    page = visit("guides/rooflines/", prepare=lambda page: page.add_init_script(FAR))
    missed = []
    page.route(
        "**/receipts/",
        lambda route: route.continue_() if missed else (missed.append(1), route.abort())[1],
    )
    page.locator("a.number").first.evaluate("one => one.click()")
    page.wait_for_url("**/guides/rooflines/receipts/#receipt-*")
    assert page.locator(".receipt:target").is_visible()


def test_a_receipt_lies_beside_its_number_and_within_the_window(lab):
    receipt = opened(lab)
    lab.wait_for_selector(f"{RECEIPT}.placed")
    place, width = receipt.bounding_box(), lab.viewport_size["width"]
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= width


def test_a_receipt_is_a_sheet_at_the_bottom_of_a_phone(visit):
    page = visit(viewport={"width": 390, "height": 840})
    place = opened(page).bounding_box()
    assert place["y"] + place["height"] == pytest.approx(840, abs=1)


def test_a_receipt_shows_the_readers_numbers(lab):
    drag_number(lab).fill("16")
    wait_for(lab, "all_reduce_time", expected(world_size="16"))
    receipt = opened(lab)
    lab.wait_for_function(
        "([selector, text]) => document.querySelector(selector).textContent.includes(text)",
        arg=[RECEIPT, expected(world_size="16")],
    )
    assert receipt.locator("[data-slot='n']").first.text_content() == "16"


def test_an_open_receipt_follows_the_inputs(lab):
    opened(lab)
    lab.evaluate(
        "() => { const box = document.querySelector("
        "'input.drag[name=world_size][data-of=gradient_sync]');"
        " box.value = '32'; box.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    lab.wait_for_function(
        "([selector, text]) => document.querySelector(selector).textContent.includes(text)",
        arg=[f"{RECEIPT} .big", expected(world_size="32")],
    )
    assert lab.locator(RECEIPT).is_visible()


def settled(page, expression):
    """Return the first value that is not empty: what shares is fetched when somebody shares."""
    for _ in range(1200):  # a minute, beside other work
        value = page.evaluate(expression)
        if value:
            return value
        page.wait_for_timeout(50)
    return ""


def test_copy_link_copies_the_state(visit, base):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("() => navigator.clipboard.writeText('')")  # all pages share it
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    with page.expect_request("**/share.js"):
        page.locator(f'[data-copy-link][data-of="{CALCULATOR}"]').first.click()
    copied = settled(page, "() => navigator.clipboard.readText()")
    link, _, made = copied.partition("&made=")
    assert link == f"{base}guides/gradient-sync-lab/?gradient_sync.world_size=16"
    assert made == datetime.datetime.now(datetime.UTC).date().isoformat()


@pytest.mark.left_to_all("a link is copied, a report opened, a receipt is beside and below")
def test_a_link_that_cannot_be_copied_is_shown_selected(visit, base):
    def forbid(page):
        page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")

    page = visit(prepare=forbid)
    page.locator(f'[data-copy-link][data-of="{CALCULATOR}"]').first.click()
    field = page.locator(".copy-field").first
    field.wait_for(state="visible")
    assert field.input_value() == f"{base}guides/gradient-sync-lab/"


@pytest.mark.left_to_all("a link is copied, a report opened, a receipt is beside and below")
def test_a_report_without_an_issue_list_is_copied(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("() => { document.body.dataset.repository = ''; }")
    receipt = opened(page)
    receipt.locator("[data-report]").click()
    page.locator("[data-notice]").wait_for(state="visible")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith(f"All-reduce: {expected()}")


def reported(page):
    """Press the link of an open receipt; return the address that it would open."""
    page.evaluate("() => { window.open = (url) => { window.opened = url; }; }")
    opened(page).locator("[data-report]").press("Enter")
    return settled(page, "() => window.opened")


def test_a_report_opens_a_prefilled_issue_of_the_repository(visit):
    address = reported(visit())
    assert address.startswith(f"{REPOSITORY}/issues/new?title=All-reduce")


@pytest.mark.left_to_all("a link is copied, a report opened, a receipt is beside and below")
def test_a_report_holds_a_link_to_the_readers_state(visit, base):
    page = visit()
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    report = parse_qs(urlsplit(reported(page)).query)
    assert f"{base}guides/gradient-sync-lab/?gradient_sync.world_size=16" in report["body"][0]


@pytest.mark.left_to_all("a link is copied, a report opened, a receipt is beside and below")
def test_a_report_sends_nothing_by_itself(visit, watch):
    reported(visit())
    assert [url for url in watch.requests if url.startswith(REPOSITORY)] == []


@pytest.mark.parametrize("kind", ["svg", "png", "csv"])
def test_a_figure_can_be_saved(lab, kind):
    lab.locator('[data-output="parts"] summary').first.click()
    with lab.expect_download() as waiting:
        lab.locator(f'[data-output="parts"] [data-download="{kind}"]').first.click()
    assert waiting.value.suggested_filename == f"{CALCULATOR}-parts.{kind}"


def test_pointing_at_a_symbol_marks_its_input(lab):
    receipt = opened(lab)
    receipt.locator("[data-from='world_size']").first.hover()
    assert "linked" in (drag_number(lab).get_attribute("class") or "")


def test_a_timeline_is_saved_as_a_trace(lab):
    lab.locator('[data-output="timeline"] summary').first.click()
    timeline = lab.locator('[data-output="timeline"] [data-download="trace"]').first
    with lab.expect_download() as saving:
        timeline.click()
    assert saving.value.suggested_filename == "gradient_sync-timeline.trace.json"
    events = json.loads(saving.value.path().read_text("utf-8"))["traceEvents"]
    assert {"M", "X"} <= {event["ph"] for event in events}


DESK = {"width": 2560, "height": 1300}
COLUMN = f"[data-calculator={CALCULATOR}] .receipt-column"


def test_on_a_wide_desk_the_receipt_of_the_headline_stands_under_the_first_figure(visit):
    page = visit(viewport=DESK)
    live(page)
    page.locator(f"{COLUMN} [data-receipt-for=step_time]").wait_for()
    column, numbers = (
        page.locator(place).first.bounding_box()
        for place in (COLUMN, f"[data-calculator={CALCULATOR}] .numbers")
    )
    assert column["x"] + column["width"] <= numbers["x"]


def test_on_a_wide_desk_a_number_puts_its_receipt_there_and_it_follows_the_inputs(visit):
    page = visit(viewport=DESK)
    live(page)
    page.locator(COLUMN).wait_for()
    number = page.locator(f"[data-calculator={CALCULATOR}] dd [data-output=all_reduce_time]").first
    number.press("Enter")
    big = page.locator(f"{COLUMN} [data-receipt-for=all_reduce_time] .big")
    big.wait_for()
    assert page.evaluate("() => document.activeElement.dataset.receiptFor") == "all_reduce_time"
    box(page).fill("128")
    page.wait_for_function(
        "([big, number]) => big.textContent.includes(number.textContent)",
        arg=[big.element_handle(), number.element_handle()],
    )


@pytest.mark.left_to_all("a link is copied, a report opened, a receipt is beside and below")
def test_a_window_that_gets_narrow_gives_the_receipt_back_to_the_page(visit):
    page = visit(viewport=DESK)
    live(page)
    page.locator(f"{COLUMN} [data-receipt-for]").wait_for()
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator(f"{COLUMN} [data-receipt-for]").wait_for(state="detached")
    assert opened(page).is_visible()
