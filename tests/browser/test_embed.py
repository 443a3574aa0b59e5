"""A calculator in an iframe of somebody else's page, and what a calculator gives to take away."""

import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.made import hosted
from tests.browser.reading import arrive
from tests.browser.test_receipts import settled

pytestmark = pytest.mark.browser
NAME = "gradient_sync"
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture
def copied(visit):
    """Copy as a kind from the lab with 16 GPUs; return the text."""

    def copy(kind: str) -> str:
        page = visit(f"guides/gradient-sync-lab/?{NAME}.world_size=16", permissions=CLIPBOARD)
        page.evaluate("() => navigator.clipboard.writeText('')")  # all pages share it
        menu = page.locator(f".copy-as:has([data-of={NAME}])").first
        menu.locator("summary").click()
        menu.locator(f"[data-copy-as={kind}]").click()
        # The engine starts first, and answers.
        page.locator(f"[data-calculator={NAME}][data-state=live]").wait_for(timeout=90_000)
        return settled(page, "() => navigator.clipboard.readText()")

    return copy


def test_what_is_copied_as_a_command_runs_and_as_python_too(copied):
    command, program = copied("terminal"), copied("python")
    assert command == f"python -m engine {NAME} world_size=16"
    done = subprocess.run(
        [sys.executable, *command.split()[1:]], capture_output=True, text=True, check=True
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "GPUs" in done.stdout
    assert "world_size" not in told.stderr
    assert "all_reduce_time=" in told.stdout


@pytest.mark.left_to_all("test_export_text.py reads every copy; an embed is opened here")
def test_what_is_copied_as_data_holds_what_the_page_shows(copied, base):
    found = json.loads(copied("json"))
    assert found["inputs"]["world_size"] == 16
    shown = found["results"]["all_reduce_time"]["shown"]
    assert f"| All-reduce | {shown} |" in copied("markdown")
    exact = found["results"]["all_reduce_time"]["value"]
    assert f"result,all_reduce_time,All-reduce,{exact}" in copied("csv")


def test_the_embed_code_shows_the_same_numbers_on_another_page(copied, browser, base, tmp_path):
    code = copied("embed")
    assert f'src="{base}embed/{NAME}/?{NAME}.world_size=16"' in code
    (tmp_path / "index.html").write_text(f"<!doctype html><title>Host</title>{code}", "utf-8")
    context = browser.new_context(viewport={"width": 900, "height": 900})
    page = context.new_page()
    with hosted(tmp_path) as address:
        page.goto(address)
        frame = page.frame_locator("iframe")
        frame.locator(f"[data-calculator={NAME}][data-state=live]").wait_for(timeout=90_000)
        ranks = frame.locator(f'input[name="world_size"][data-of="{NAME}"]').first
        expect(ranks).to_have_value("16")
        inner = next(one for one in page.frames if "/embed/" in one.url)
        for _ in range(
            300
        ):  # the page grows while its fonts and figures come, and the frame with it
            tall = inner.evaluate("() => document.body.scrollHeight")
            given = page.evaluate("() => document.querySelector('iframe').offsetHeight")
            if abs(given - tall) < 2:
                break
            page.wait_for_timeout(100)
        assert abs(given - tall) < 2
    context.close()


def test_a_page_around_it_can_choose_the_colors_but_set_nothing(visit):
    page = visit(f"embed/{NAME}/?scheme=dark", color_scheme="light")
    assert page.evaluate("() => document.documentElement.dataset.scheme") == "dark"
    ranks = page.locator(f'input[name="world_size"][data-of="{NAME}"]').first
    page.locator(f"[data-calculator={NAME}][data-state=live]").wait_for()
    page.evaluate("() => postMessage({wallclockHeight: 1, values: {world_size: 2}}, '*')")
    page.wait_for_timeout(200)
    assert ranks.input_value() == "64"
    assert page.locator("[data-wrong]").is_hidden()


@pytest.mark.left_to_all("test_export_text.py reads every copy; an embed is opened here")
def test_the_way_home_carries_the_numbers(visit, base):
    page = visit(f"embed/{NAME}/?{NAME}.world_size=16&scheme=dark", moved=False)
    with page.expect_popup() as opened:
        page.locator("[data-home]").click()
    opened.value.wait_for_load_state("commit")
    assert opened.value.url.startswith(f"{base}guides/gradient-sync-lab/?{NAME}.world_size=16")
    opened.value.close()


@pytest.mark.left_to_all("test_export_text.py reads every copy; an embed is opened here")
def test_the_page_that_makes_the_html_shows_what_it_makes(visit, base):
    page = visit("tools/embed/", permissions=CLIPBOARD)
    page.locator("[data-embedding-which]").select_option(NAME)
    page.locator("[data-embedding-scheme]").select_option("dark")
    frame = page.frame_locator("[data-embedding-preview] iframe")
    frame.locator(f"[data-calculator={NAME}]").wait_for()
    code = page.locator("[data-embedding-code]").input_value()
    assert f'src="{base}embed/{NAME}/?scheme=dark"' in code
    arrive(page)


def test_a_citation_for_bibtex_names_the_address(visit, base):
    page = visit(permissions=CLIPBOARD)
    page.evaluate("() => navigator.clipboard.writeText('')")
    page.locator("[data-copy-cite=bibtex]").click()
    entry = settled(page, "() => navigator.clipboard.readText()")
    assert entry.startswith("@misc{wallclock_guides_gradient_sync_lab,")
    assert f"url = {{{base}guides/gradient-sync-lab/}}" in entry


@pytest.mark.left_to_all("test_export_text.py reads every copy; an embed is opened here")
def test_a_number_is_cited_with_its_label_and_a_link_to_its_state(visit, base):
    page = visit(permissions=CLIPBOARD)
    page.evaluate("() => navigator.clipboard.writeText('')")
    page.locator(f"[data-of={NAME}] .number").first.click()
    page.locator(".receipt:popover-open [data-copy-cite=number]").click()
    entry = settled(page, "() => navigator.clipboard.readText()")
    assert entry.startswith(f"@misc{{wallclock_guides_gradient_sync_lab_{NAME}_")
    assert f"url = {{{base}guides/gradient-sync-lab/" in entry
    assert re.search(r"title = \{[^:]+: [^.]+", entry)
