"""A chosen list is carried along: sidebar, ways onward and progress, kept on the device."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
COURSE = "courses/newcomer/"
FIRST, SECOND = "guides/training-step-cost/", "guides/where-the-memory-goes/"
SIDEBAR = ".contents.path"
LISTENS = """() => performance.getEntriesByType("resource")
  .some(({ name, responseEnd }) => name.includes("journey") && responseEnd)"""


def choose(page: Page, number: int) -> None:
    """Follow a guide of the list, once the page's own script has come."""
    page.wait_for_function(LISTENS)
    page.wait_for_timeout(300)
    page.locator("ol.course a").nth(number).click()


def test_a_list_that_was_chosen_stays_beside_the_reader(visit, base):
    page = visit(COURSE, own=True)
    choose(page, 0)
    page.wait_for_url(f"**/{FIRST}")
    expect(page.locator(f"{SIDEBAR} p")).to_have_text("New to more than one GPU")
    guides = page.locator(f"{SIDEBAR} ol a")
    expect(guides).to_have_count(15)
    expect(guides.first).to_have_attribute("aria-current", "page")
    onward = page.locator(".following a")
    expect(onward).to_have_count(1)
    expect(onward).to_have_text("Next: Where the memory goes")
    assert page.locator(".previous a").get_attribute("href") == base + COURSE
    onward.scroll_into_view_if_needed()
    page.wait_for_function("() => localStorage.getItem('wallclock.read-guides')")
    onward.click()
    page.wait_for_url(f"**/{SECOND}")
    expect(page.locator(f"{SIDEBAR} [data-read]")).to_have_count(1)
    page.goto(base + COURSE)
    expect(page.locator("[data-list-progress]")).to_have_text("You have read 1 of 15.")


@pytest.mark.left_to_all("a list is begun at a door, and stays beside the reader")
def test_a_guide_off_the_list_leads_back_to_it_and_the_list_can_be_left(visit, base):
    page = visit(COURSE, own=True)
    choose(page, 1)
    page.wait_for_url(f"**/{SECOND}")
    page.goto(base + "guides/fewer-bytes/")
    back = page.locator(".back-to-list a")
    expect(back).to_have_text("Back to New to more than one GPU: What a training step costs")
    back.click()
    page.wait_for_url(f"**/{FIRST}")
    page.get_by_role("button", name="Leave this list").click()
    expect(page.locator(f"{SIDEBAR} p")).to_have_text("Path A · One GPU")
    assert page.evaluate("localStorage.getItem('wallclock.list')") is None


@pytest.mark.left_to_all("a list is begun at a door, and stays beside the reader")
def test_without_a_list_a_guide_has_its_path(visit):
    page = visit(SECOND, own=True)
    page.wait_for_function("() => localStorage.getItem('wallclock.last-guide')")
    expect(page.locator(f"{SIDEBAR} p")).to_have_text("Path A · One GPU")


def test_a_door_of_the_home_page_begins_the_list(visit):
    page = visit("", own=True)
    page.wait_for_function(LISTENS)
    page.wait_for_timeout(300)
    page.get_by_role("link", name="Start with the machine").click()
    page.wait_for_url(f"**/{COURSE}")
    assert page.evaluate("localStorage.getItem('wallclock.list')") == "newcomer"
    assert page.locator("ol.course li").count() == 15
