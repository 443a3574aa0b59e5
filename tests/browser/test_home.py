"""The home page: two screens, a figure that keeps its axis, and doors that lead to doing."""

import gzip
import json
import pickle
import re

import pytest
from playwright.sync_api import Page, expect

from engine.answer import reply
from engine.calculator import load
from engine.simulate.profile_analysis.sample import sample_files

pytestmark = pytest.mark.browser
LAPTOP = {"viewport": {"width": 1440, "height": 900}}
TIMELINE = "figure[data-of=gradient_sync][data-output=timeline]"
LOG = next(iter(load("log_check").fields["log"].samples.values())).text


def handed(page: Page, folder: str, box: str) -> None:
    """Wait until a tool has what was handed to it, with nothing left in its address."""
    page.wait_for_url(f"**/tools/{folder}/")
    expect(page.locator(f"textarea[name={box}]").first).to_have_value(LOG, timeout=60_000)


def test_it_is_two_screens_with_a_title_of_two_lines(visit):
    page = visit("", **LAPTOP)
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    lines = page.locator("h1").evaluate(
        "one => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight)"
    )
    assert round(lines) == 2
    doors = page.locator(".doors").bounding_box()
    figure = page.locator(TIMELINE).bounding_box()
    assert figure["y"] < 500
    assert doors["y"] < 900
    assert page.locator(".door").count() == 4
    assert page.locator(".path-rows > li").count() == 5


def test_a_chosen_file_opens_the_tool_that_reads_it(visit):
    page = visit("")
    page.locator("[data-take-file] input[type=file]").set_input_files(
        {"name": "train.log", "mimeType": "text/plain", "buffer": LOG.encode()}
    )
    handed(page, "log", "log")
    page.reload()
    expect(page.locator("textarea[name=log]").first).to_have_value(LOG, timeout=60_000)


def test_the_numbers_of_a_tool_are_dimmed_until_it_has_read_what_it_was_handed(visit):
    page = visit("", own=True, prepare=lambda page: page.route("**/runtime-*.json", lambda _: None))
    page.locator("[data-take-file] input[type=file]").set_input_files(
        {"name": "train.log", "mimeType": "text/plain", "buffer": LOG.encode()}
    )
    handed(page, "log", "log")
    step = page.locator(".lead [data-of=log_check][data-output]").first
    expect(step).to_have_class(re.compile("arriving"))
    assert 0 <= page.locator("[data-calculator=log_check]").bounding_box()["y"] < 450


def test_a_file_that_is_chosen_before_the_script_has_come_is_taken(visit):
    held = []

    def hold(route):
        held.append(route)

    page = visit("", prepare=lambda page: page.route("**/take_file*", hold), own=True)
    page.wait_for_function("() => document.readyState === 'complete'")
    while not held:
        page.wait_for_timeout(20)
    page.locator("[data-take-file] input[type=file]").set_input_files(
        {"name": "train.log", "mimeType": "text/plain", "buffer": LOG.encode()}
    )
    for script in held:
        script.continue_()
    handed(page, "log", "log")


@pytest.mark.left_to_all("a file is chosen early and late, and a text pasted")
def test_a_packed_trace_is_read_where_traces_are(visit):
    page = visit("")
    packed = gzip.compress(sample_files()[0].encode())
    page.locator("[data-take-file] input[type=file]").set_input_files(
        {"name": "rank0.json.gz", "mimeType": "application/gzip", "buffer": packed}
    )
    page.wait_for_url("**/tools/trace/")
    # A file that was read can be opened elsewhere, too, under its name.
    expect(page.locator("[data-perfetto-files] button")).to_contain_text("rank0", timeout=60_000)


@pytest.mark.left_to_all("a file is chosen early and late, and a text pasted")
def test_a_memory_snapshot_is_told_where_its_totals_go(visit):
    page = visit("")
    page.locator("[data-take-file] input[type=file]").set_input_files(
        {"name": "mem.pickle", "mimeType": "", "buffer": pickle.dumps({"segments": []})}
    )
    expect(page.locator("[data-take-said]")).to_contain_text("mem.pickle is a pickle")


def test_a_pasted_text_opens_it_too(visit):
    page = visit("tools/")
    page.locator("[data-take-file] textarea").fill(LOG)
    page.locator("[data-take-file] textarea").blur()
    handed(page, "log", "log")


@pytest.mark.left_to_all("a file is chosen early and late, and a text pasted")
def test_a_dropped_file_is_taken_anywhere_on_the_page(visit):
    page = visit("")
    page.wait_for_function("() => document.querySelector('[data-take-file] textarea:enabled')")
    page.wait_for_timeout(500)
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.items.add(new File([text], "train.log"));
          for (const kind of ["dragover", "drop"]) {
            const event = new DragEvent(
              kind, { bubbles: true, cancelable: true, dataTransfer: data },
            );
            document.querySelector("h1").dispatchEvent(event);
          }
        }""",
        LOG,
    )
    handed(page, "log", "log")


@pytest.mark.left_to_all("a file is chosen early and late, and a text pasted")
def test_it_leads_back_to_the_last_guide(visit):
    page = visit("")
    expect(page.locator("[data-continue]")).to_be_hidden()
    page.goto(page.url + "guides/rooflines/")
    page.wait_for_function("() => localStorage.getItem('wallclock.last-guide')")
    kept = json.loads(page.evaluate("localStorage.getItem('wallclock.last-guide')"))
    assert kept["place"] == "guides/rooflines/"
    page.goto(page.url.replace("guides/rooflines/", ""))
    link = page.locator("[data-continue] a")
    expect(link).to_be_visible()
    link.click()
    page.wait_for_url("**/guides/rooflines/")


def test_the_axis_stays_while_a_number_is_dragged_and_the_run_before_is_a_ghost(visit):
    page = visit("", **LAPTOP)
    page.locator(f"{TIMELINE}[data-chart=live]").wait_for()
    number = page.locator("input.drag[name=port]")
    box = number.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    time = f"{TIMELINE} input[data-scrub]"  # at the end of the run: a share of the axis

    def share() -> float:
        return page.locator(time).evaluate("one => one.valueAsNumber / Number(one.max)")

    at_first = share()
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(4, 81, 4):
        page.mouse.move(x + step, y)
    expect(page.locator("[data-frame-caption]")).to_contain_text("Before: 443 ms.", timeout=60_000)
    assert share() < at_first  # a faster step is shorter on the same axis
    assert page.locator(f"{TIMELINE} .ghost-end").get_attribute("d")
    held = share()
    page.mouse.up()
    expect(page.locator(f"{TIMELINE} .ghost-label")).to_have_text("before: 443 ms")
    assert share() == pytest.approx(held, abs=0.01)  # the axis still holds both runs


def test_it_answers_before_python_has_come(visit):
    # Python cannot come: what it is made of never arrives.
    page = visit("", own=True, prepare=lambda page: page.route("**/runtime-*.json", lambda _: None))
    step = page.locator(".front .number").first
    before = step.inner_text()
    box = page.locator("input.drag[name=world_size]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for moved in range(4, 41, 4):
        page.mouse.move(x + moved, y)
    expect(step).not_to_have_text(before, timeout=60_000)
    # Ten steps make 65,536, for which the build has no reply: the next that has one is shown.
    asked = {"calculator": "gradient_sync", "values": {"world_size": "131072"}}
    expect(step).to_have_text(reply(asked)["outputs"]["step_time"]["text"])
    expect(page.locator("input.drag[name=world_size]")).to_have_value("131,072")
    page.mouse.up()
