"""The page that reads traces: files chosen or dropped, read by a Worker, sent nowhere."""

import gzip

import pytest
from playwright.sync_api import expect

from engine.simulate.profile_analysis.sample import sample_files
from tests.engine.run.traces.files import event, kineto, step

pytestmark = pytest.mark.browser
# Slower than any machine: the Worker waits for a stream that never ends.
ENDLESS = """() => {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data) {
    if (data.files) this.onmessage({ data: { done: 1, of: 4, name: "big.json" } });
    else post.call(this, data);
  };
}"""
PAGE = "tools/trace/"
LIVE = '[data-calculator="trace_check"][data-state="live"]'


def opened(visit, **options):
    page = visit(PAGE, **options)
    page.wait_for_selector(LIVE, state="attached")
    return page


def choose(page, *files):
    """Choose files, given as (name, text)."""
    page.locator('[data-file="trace"]').set_input_files(
        [
            {"name": name, "mimeType": "application/json", "buffer": content}
            for name, content in files
        ]
    )


def answered(page, words, output="reading"):
    page.wait_for_function(
        "([output, words]) => document.querySelector("
        "`[data-of=trace_check][data-output=${output}]`).textContent.includes(words)",
        arg=[output, words],
    )


def message(page):
    error = page.locator('[data-error="trace"]')
    error.wait_for(state="visible")
    expect(error).not_to_be_empty()
    return error.text_content()


def small(name="gemm", length=100):
    events = [event(name, 1000, length), event("ncclDevKernel", 1000 + length, 100, stream=20)]
    return kineto([*events, step(3, 1000, 250, device=True)], rank=5).encode()


def test_a_chosen_file_is_answered_and_stays_here(visit, watch):
    page = opened(visit)
    before = set(watch.requests)
    choose(page, ("mine.json.gz", gzip.compress(small())))
    answered(page, "mine.json.gz")
    answered(page, "rank 5")
    step_time = page.locator("button[data-of=trace_check][data-output=step_time]").first
    assert step_time.text_content() == "250 µs"
    new = {one for one in set(watch.requests) - before if "/trace/" not in one}
    assert not [one for one in new if "127.0.0.1" not in one]
    assert "mine" not in page.url
    assert watch.errors == []


def test_the_files_of_the_sample_give_the_numbers_of_the_sample(visit):
    def told():
        shown = [page.locator(f"[data-of=trace_check][data-output={name}]").first for name in names]
        return [one.text_content() for one in shown]

    page = opened(visit)
    names = ("step_time", "collectives", "longest", "streams")
    before = told()
    choose(page, ("b.json", sample_files()[1].encode()), ("a.json", sample_files()[0].encode()))
    answered(page, "a.json")
    answered(page, "rank 0", "ranks")
    assert told() == before
    # Of whose job a reader's own trace is, nobody has said yet.
    expect(page.get_by_text("No job is given yet").first).to_be_visible()


def test_what_is_no_trace_says_why_and_the_numbers_stay(visit):
    page = opened(visit)
    choose(page, ("steps.csv", b"step,time\n1,2\n"))
    assert "steps.csv, line 1, column 1: a trace begins with" in message(page)
    choose(page, ("cut.json.gz", gzip.compress(small() * 50)[:-30]))
    page.wait_for_function(
        "() => document.querySelector('[data-error=trace]').textContent.includes('gzip')"
    )
    choose(page, ("mine.json", small()))
    answered(page, "mine.json")
    assert page.locator('[data-error="trace"]').is_hidden()


def test_names_of_kernels_and_files_are_text(visit, watch):
    page = opened(visit)
    bad = '<img src=x onerror="window.hit=1">'
    choose(page, (f"{bad}.json", small(name=bad, length=5000)))
    answered(page, bad)
    answered(page, bad, "longest")
    assert page.evaluate("window.hit") is None
    assert page.locator("main img[src=x]").count() == 0
    assert watch.errors == []


def test_reading_can_be_stopped_and_shows_how_far_it_is(visit):
    page = opened(visit)
    shown = page.locator("[data-of=trace_check][data-output=reading]").first.text_content()
    page.evaluate(ENDLESS)
    choose(page, ("big.json", small()))
    line = page.locator("[data-reading]")
    line.wait_for(state="visible")
    assert "big.json" in line.text_content()
    assert page.locator("[data-reading] progress").evaluate("bar => bar.value") == 0.25
    line.get_by_role("button", name="Cancel").press("Enter")
    line.wait_for(state="hidden")
    assert page.locator("[data-of=trace_check][data-output=reading]").first.text_content() == shown


@pytest.mark.left_to_all("a trace is chosen, read, refused and canceled")
def test_perfetto_gets_the_file_only_on_a_click(visit):
    page = opened(visit)
    choose(page, ("mine.json", small()))
    answered(page, "mine.json")
    page.evaluate(
        """() => {
          window.posted = [];
          const other = { postMessage: (data, origin) => posted.push([data, origin]) };
          window.open = (address) => { posted.push(["open", address]); return other; };
        }"""
    )
    assert page.evaluate("posted.length") == 0
    page.get_by_role("button", name="Open mine.json in Perfetto").click()
    page.wait_for_function("() => posted.some(([data]) => data === 'PING')")
    found = page.evaluate("posted")
    assert found[0] == ["open", "https://ui.perfetto.dev"]
    assert {origin for data, origin in found[1:]} == {"https://ui.perfetto.dev"}
    assert all(data == "PING" for data, _ in found[1:]), "nothing else before the window answers"


@pytest.mark.left_to_all("a trace is chosen, read, refused and canceled")
def test_rules_that_are_changed_move_the_time(visit):
    page = opened(visit)
    choose(page, ("mine.json", small(name="frobnicate")))
    answered(page, "frobnicate", "unknown")
    box = page.locator('textarea[name="rules"]')
    box.evaluate("box => { box.closest('details').open = true; }")
    box.fill("communication: nccl, frobnicate")
    page.wait_for_function(
        "() => document.querySelector('button[data-of=trace_check][data-output=compute]')"
        ".textContent === '0.0 %'"
    )
