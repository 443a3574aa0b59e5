"""A link tells when it was made; a page that it opens says which numbers have changed since."""

import pytest

pytestmark = pytest.mark.browser
PAGE = "guides/zero-2/?zero_2_lab.zero_stage=2"
OLDER = "[data-older]"


def test_an_older_link_names_what_has_changed_in_its_calculators(visit):
    page = visit(f"{PAGE}&made=2026-01-01")
    box = page.locator(OLDER)
    box.wait_for()
    assert "made on 2026-01-01" in (box.locator("p").text_content() or "")
    rows = box.locator("li").all_text_contents()
    assert rows == ["2026-11-22: Bytes that ZeRO-2 and ZeRO-3 send"]
    box.get_by_role("link").click()
    page.wait_for_url("**/reference/corrections/#*")
    anchor = page.url.partition("#")[2]
    assert "ZeRO-2" in (page.locator(f"[id='{anchor}']").text_content() or "")


@pytest.mark.left_to_all("an older link is told, a recent one is not")
def test_it_is_closed_by_its_button(visit):
    page = visit(f"{PAGE}&made=2026-01-01")
    page.locator(f"{OLDER} button").click()
    assert page.locator(OLDER).count() == 0


@pytest.mark.parametrize("made", ["2026-12-31", "2026-11-22", "yesterday", ""])
def test_a_link_after_which_nothing_changed_says_nothing(visit, made):
    page = visit(f"{PAGE}&made={made}", moved=False)
    page.wait_for_load_state("networkidle")
    assert page.locator(OLDER).count() == 0


@pytest.mark.left_to_all("an older link is told, a recent one is not")
def test_a_link_without_a_date_asks_for_no_list(visit, watch):
    page = visit(PAGE, moved=False)
    page.wait_for_load_state("networkidle")
    assert not [one for one in watch.requests if "changes.json" in one or "link_age.js" in one]
