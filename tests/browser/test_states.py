"""States saved on the device: named, listed, opened, compared, taken away and brought back."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import in_both_schemes
from tests.browser.conftest import LAB, WINDOW
from tests.browser.reading import CALCULATOR, expected, live, wait_for

pytestmark = pytest.mark.browser
BOX, ROWS = "[data-panel=states]", "[data-states-list] li"
SAID = "[data-states-said]"
FORBIDDEN = """() => {
  Storage.prototype.setItem = () => {
    throw new DOMException("no room", "QuotaExceededError");
  };
}"""


def opened(visit, query: str = "?gradient_sync.world_size=16", path: str = LAB, **options) -> Page:
    page = visit(path + query, **options)
    live(page)
    if query and path == LAB:
        wait_for(page, "all_reduce_time", expected(world_size="16"))
    page.locator(f"#{CALCULATOR} [data-opens=states]").click()
    page.locator(BOX).wait_for()
    return page


def save(page: Page, name: str) -> None:
    page.get_by_label("Name of this state").fill(name)
    page.keyboard.press("Enter")
    expect(page.locator(ROWS, has_text=name)).to_have_count(1, timeout=30_000)


def kept(page: Page) -> list[str]:
    text = page.evaluate("() => localStorage.getItem('wallclock.states')")
    return [one["name"] for one in json.loads(text)["states"]]


def test_a_saved_state_comes_back_on_another_visit(visit):
    page = opened(visit)
    save(page, "small")
    assert kept(page) == ["small"]
    page.goto(page.url.partition("?")[0])
    live(page)
    page.locator(f"#{CALCULATOR} [data-opens=states]").click()
    page.get_by_role("button", name="Open: small").click()
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    assert page.locator(BOX).is_hidden()


@pytest.mark.left_to_all("the same box saves, opens, compares, exports and imports")
def test_a_state_is_renamed_deleted_and_brought_back(visit):
    page = opened(visit)
    save(page, "small")
    page.get_by_role("button", name="Rename: small").click()
    field = page.locator(f"{ROWS} input[type=text]")
    field.fill("16 GPUs")
    field.press("Enter")
    expect(page.locator(ROWS, has_text="16 GPUs")).to_have_count(1)
    page.get_by_role("button", name="Delete: 16 GPUs").click()
    expect(page.locator(SAID)).to_have_text("“16 GPUs” is deleted.")
    assert kept(page) == []
    page.get_by_role("button", name="Undo").last.click()
    assert kept(page) == ["16 GPUs"]


@pytest.mark.left_to_all("the same box saves, opens, compares, exports and imports")
def test_escape_leaves_the_name_as_it_was_and_the_box_open(visit):
    page = opened(visit)
    save(page, "small")
    page.get_by_role("button", name="Rename: small").click()
    page.locator(f"{ROWS} input[type=text]").fill("other")
    page.keyboard.press("Escape")
    assert page.locator(BOX).is_visible()
    assert kept(page) == ["small"]


@pytest.mark.left_to_all("the same box saves, opens, compares, exports and imports")
def test_it_opens_with_what_differs_from_the_defaults(visit):
    page = opened(visit)
    table = page.locator("[data-states-compared] table", has_text="Inputs that differ")
    table.wait_for()
    assert table.locator("tbody tr").all_text_contents() == ["GPUs6416"]
    numbers = page.locator("[data-states-compared] table", has_text="Numbers that differ")
    row = numbers.locator("tr", has_text="All-reduce").first.locator("td").all_text_contents()
    assert row[:2] == [expected(), expected(world_size="16")]


def test_saved_states_are_compared(visit):
    page = opened(visit)
    save(page, "small")
    page.locator(f"{ROWS} input").nth(0).uncheck()
    page.locator(f"{ROWS} input").nth(2).check()
    page.locator("[data-states-compare]").click()
    table = page.locator("[data-states-compared] table", has_text="Inputs that differ")
    head = table.locator("thead")
    expect(head).to_contain_text("small", timeout=30_000)
    assert head.locator("th").all_text_contents() == ["Input", "the defaults", "small"]


def test_what_is_exported_is_imported_elsewhere(visit, tmp_path):
    page = opened(visit, viewport=WINDOW, accept_downloads=True)
    save(page, "small")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export all").click()
    file = tmp_path / "states.json"
    file.write_bytes(Path(waiting.value.path()).read_bytes())
    page.evaluate("() => localStorage.clear()")
    page.reload()
    live(page)
    page.locator(f"#{CALCULATOR} [data-opens=states]").click()
    for _ in range(2):  # what is there already is not doubled
        page.locator("[data-states-import]").set_input_files(file)
        expect(page.locator(SAID)).to_have_text("1 read from states.json.")
        assert kept(page) == ["small"]


# What a file holds -> what is said of it.
UNREADABLE = [
    ("no JSON", "holds no saved states"),
    ('{"format": "other", "version": 1}', "holds no saved states"),
    ('{"format": "wallclock-states", "version": 7}', "newer version of these pages (format 7)"),
    (
        '{"format": "wallclock-states", "version": 1, "states": [{"name": "x"}, 3]}',
        "0 read from bad.json; 2 left out: entry 1 is damaged, entry 2 is damaged.",
    ),
]


@pytest.mark.parametrize(("text", "said"), UNREADABLE)
def test_a_file_that_cannot_be_read_is_said(lab, tmp_path, text, said):
    lab.locator(f"#{CALCULATOR} [data-opens=states]").click()
    lab.locator(BOX).wait_for()
    lab.locator(SAID).evaluate("one => (one.textContent = '')")  # what the file before was told
    file = tmp_path / "bad.json"
    file.write_text(text)
    lab.locator("[data-states-import]").set_input_files(file)
    expect(lab.locator(SAID)).to_contain_text(said)


def test_full_storage_is_said_and_loses_nothing_on_the_page(visit):
    page = opened(visit)
    page.evaluate(FORBIDDEN)
    save(page, "small")
    expect(page.locator(SAID)).to_contain_text("does not let the page keep anything")
    page.get_by_role("button", name="Close").last.click()
    page.locator(f"#{CALCULATOR} [data-opens=states]").click()
    expect(page.locator(ROWS, has_text="small")).to_have_count(1)
    wait_for(page, "all_reduce_time", expected(world_size="16"))


@pytest.mark.left_to_all("the same box saves, opens, compares, exports and imports")
def test_a_job_named_once_is_offered_by_name_to_other_calculators(visit):
    page = visit("guides/parallelism-modeler/?parallelism_modeler.sequence_length=16384")
    live(page, "parallelism_modeler")
    page.locator("#parallelism_modeler [data-opens=states]").click()
    save(page, "long context")
    page.get_by_role("button", name="Use as my job: long context").click()
    page.goto(page.url.split("guides/")[0] + "guides/the-map/")
    line = page.locator("[data-own-job]").first
    expect(line).to_contain_text("“long context”, kept on this device")
    live(page, "parallel_map")
    line.get_by_role("button", name="Use my job").click()
    page.wait_for_function("() => location.search.includes('sequence_length=16384')")


@pytest.mark.left_to_all("the same box saves, opens, compares, exports and imports")
def test_a_state_of_another_calculator_leads_to_its_page(visit):
    page = opened(visit)
    save(page, "small")
    page.goto(page.url.split("guides/")[0] + "guides/zero-1/")
    opener = page.locator("[data-opens=states]:enabled").first
    opener.click()
    page.locator("[data-states-others] summary").click()
    page.locator("[data-states-others] a", has_text="small").click()
    page.wait_for_url("**/gradient-sync-lab/?gradient_sync.world_size=16#gradient_sync")
    wait_for(page, "all_reduce_time", expected(world_size="16"))


@pytest.mark.left_to_all("the same box saves, opens, compares, exports and imports")
def test_the_box_has_no_violation_on_a_phone(visit):
    page = opened(visit, viewport={"width": 390, "height": 844})
    save(page, "small")
    page.locator("[data-states-compared] table").first.wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert in_both_schemes(page) == []
