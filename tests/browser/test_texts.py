"""A text of several lines on a page: pasted, chosen as a file, kept on the device, in no link."""

import re

import pytest
from playwright.sync_api import expect

from engine.calculators.whole_runs.calibrate.result import SAMPLES as CALIBRATIONS
from engine.form.imported.samples import SAMPLES

pytestmark = pytest.mark.browser
PAGE = "tools/import/"
OWN = SAMPLES["torchtitan-main"].text.replace("8192", "4096")
BROKEN = '{"model_type": "llama",\n "hidden_size": }'


def opened(visit, **options):
    page = visit(PAGE, **options)
    box = page.locator('textarea[name="text"]')
    page.wait_for_selector('[data-calculator="import_job"][data-state="live"]', state="attached")
    return page, box


def answered(page, words):
    page.wait_for_function(
        "words => document.querySelector('[data-output=keys]').textContent.includes(words)",
        arg=words,
    )


def message(page):
    error = page.locator('[data-error="text"]')
    error.wait_for(state="visible")
    return error.text_content()


def test_a_pasted_text_is_answered_and_stays_out_of_the_address(visit, watch):
    page, box = opened(visit)
    box.fill(OWN)
    answered(page, "torchtitan Python")
    page.locator('select[name="export"]').first.select_option("csv")
    page.wait_for_function("() => location.search.includes('export=csv')")
    assert "text" not in page.url
    assert watch.errors == []


def test_a_sample_is_one_click_and_stands_in_the_address(visit):
    page, box = opened(visit)
    page.get_by_role("button", name="torchtitan TOML").click()
    answered(page, "torchtitan TOML")
    page.wait_for_function("() => location.search.includes('sample')")
    assert "sample%3Atorchtitan-toml" in page.url or "sample:torchtitan-toml" in page.url
    assert box.input_value() == SAMPLES["torchtitan-toml"].text


def test_a_text_is_there_again_after_a_reload(visit):
    page, box = opened(visit)
    box.fill(OWN)
    answered(page, "4096")
    page.reload()
    answered(page, "4096")
    assert box.input_value() == OWN


@pytest.mark.left_to_all("a text is pasted, kept over a reload, read from files, and escaped")
def test_a_text_that_cannot_be_read_stays_with_its_reason_even_over_a_reload(visit):
    page, box = opened(visit)
    box.fill(BROKEN)
    assert "line 2, column 17" in message(page)
    page.locator('select[name="node"]').first.select_option("dgx-b200")
    page.wait_for_function("() => location.search.includes('b200')")
    assert box.input_value() == BROKEN
    page.reload()
    assert "line 2, column 17" in message(page)
    assert box.input_value() == BROKEN


@pytest.mark.left_to_all("a text is pasted, kept over a reload, read from files, and escaped")
def test_a_text_that_a_sample_replaced_comes_back_with_undo(visit):
    page, box = opened(visit)
    box.fill(BROKEN)
    message(page)
    page.get_by_role("button", name="torchtitan TOML").click()
    answered(page, "torchtitan TOML")
    page.locator('[data-undo][data-of="import_job"]').click()
    message(page)
    assert box.input_value() == BROKEN


@pytest.mark.left_to_all("a text is pasted, kept over a reload, read from files, and escaped")
def test_reset_brings_the_first_sample_back_and_forgets_the_text(visit):
    page, box = opened(visit)
    box.fill(OWN)
    answered(page, "4096")
    page.locator('[data-reset][data-of="import_job"]').click()
    answered(page, "Megatron-Bridge overrides")
    assert box.input_value() == SAMPLES["bridge"].text
    assert page.evaluate("localStorage.getItem('wallclock.text.import_job.text')") is None


def test_files_are_read_together_and_sent_nowhere(visit, watch):
    page, box = opened(visit)
    before = len(watch.requests)
    page.locator('[data-file="text"]').set_input_files(
        [
            {
                "name": "ds-config.json",
                "mimeType": "application/json",
                "buffer": b'{"zero_optimization": {"stage": 3}}',
            },
            {
                "name": "config.json",
                "mimeType": "application/json",
                "buffer": SAMPLES["config"].text.partition("\n")[2].encode(),
            },
        ]
    )
    answered(page, "DeepSpeed JSON, Hugging Face config.json")
    assert "--- ds config.json ---" in box.input_value()
    # What reads a format comes from the site; nothing of the files goes there.
    own = re.compile(r"\.(js|zip|css)$|/assets/runtime/import-\w+-[0-9a-f]{16}\.bin$")
    sent = [url for url in watch.requests[before:] if not own.search(url)]
    assert sent == []


@pytest.mark.left_to_all("a text is pasted, kept over a reload, read from files, and escaped")
def test_a_file_that_is_too_long_is_refused_in_words(visit):
    page, box = opened(visit)
    kept = box.input_value()
    page.locator('[data-file="text"]').set_input_files(
        {"name": "huge.log", "mimeType": "text/plain", "buffer": b"x" * 900_000}
    )
    notice = page.locator("[data-notice]")
    notice.wait_for(state="visible")
    assert "huge.log is too long; up to 200,000 characters are read." in notice.text_content()
    assert box.input_value() == kept


def test_no_markup_of_a_file_becomes_part_of_the_page(visit, watch):
    page, box = opened(visit)
    box.fill(
        OWN
        + '\n--- x ---\n{"zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 1, '
        '"<img src=x onerror=boom()>": "<b>"}'
    )
    answered(page, "<img src=x onerror=boom()>")
    assert page.locator("[data-of=import_job] img").count() == 0
    assert watch.errors == []


@pytest.mark.left_to_all("a text is pasted, kept over a reload, read from files, and escaped")
def test_the_job_is_offered_to_other_calculators(visit):
    page, box = opened(visit)
    box.fill(OWN)
    answered(page, "4096")
    page.get_by_role("link", name="open with this job").first.scroll_into_view_if_needed()
    page.wait_for_function("() => localStorage.getItem('wallclock.job')")
    page.goto(page.url.split("tools/import/")[0] + "guides/the-map/")
    button = page.locator('[data-use-job][data-of="parallel_map"]')
    button.wait_for(state="visible")
    page.wait_for_selector('[data-calculator="parallel_map"][data-state="live"]', state="attached")
    button.click()
    page.wait_for_function("() => location.search.includes('parallel_map.data_parallel=16')")
    assert "parallel_map.model" in page.url
    assert "parallel_map.sequence_length=4096" in page.url


def test_a_kept_cluster_counts_where_no_job_is_asked_for_and_can_be_forgotten(visit):
    page = visit("tools/calibrate/")
    box = page.locator('textarea[name="measured"]')
    page.wait_for_selector('[data-calculator="calibrate"][data-state="live"]', state="attached")
    box.fill(CALIBRATIONS["made-up"].text.replace("0.001745", "0.001845"))  # it is the reader's own
    page.wait_for_function("() => localStorage.getItem('wallclock.job')?.includes('dgx-h100')")
    page.goto(page.url.split("tools/calibrate/")[0] + "guides/expert-parallelism/")
    line = page.locator('[data-own-cluster]:has([data-of="expert_exchange"])')
    number = page.locator("[data-of=expert_exchange][data-output=time]").first
    before = number.text_content()
    page.locator("#expert_exchange").scroll_into_view_if_needed()
    page.wait_for_selector('[data-calculator="expert_exchange"][data-state="live"]')
    line.get_by_role("button", name="Use my cluster").click()
    page.wait_for_function("() => location.search.includes('expert_exchange.own_constants=H100')")
    expect(number).not_to_have_text(before)
    page.locator('[data-reset][data-of="expert_exchange"]').click()
    expect(number).to_have_text(before)
    line.get_by_role("button", name="Forget them").press("Enter")
    expect(line).to_be_hidden()
    assert page.evaluate("() => localStorage.getItem('wallclock.job')") is None


@pytest.mark.left_to_all("a text is pasted, kept over a reload, read from files, and escaped")
def test_the_text_can_be_read_without_scripts(visit):
    page = visit(PAGE, java_script_enabled=False, moved=False)
    box = page.locator('textarea[name="text"]')
    assert box.input_value() == SAMPLES["bridge"].text
    assert box.get_attribute("readonly") is not None
    assert page.locator('a.number[href$="-step_time"]').first.text_content().endswith("s")


@pytest.mark.left_to_all("a text is pasted, kept over a reload, read from files, and escaped")
def test_a_phone_shows_the_whole_form(visit):
    page, box = opened(visit, viewport={"width": 390, "height": 844}, has_touch=True)
    assert box.bounding_box()["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_tab_leaves_the_text_and_reaches_file_and_samples(visit):
    page, box = opened(visit)
    box.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.file") == "text"
    page.keyboard.press("Tab")
    assert "sample:megatron" in page.evaluate("document.activeElement.dataset.preset")


def test_the_reader_of_a_format_comes_with_a_text_of_it(visit, watch):
    page, box = opened(visit)
    answered(page, "Megatron-Bridge overrides")
    page.wait_for_selector('[data-reset][data-of="import_job"][aria-disabled]', state="attached")

    def has_come(module):
        return any(f"-{module}-" in url.rpartition("/")[2] for url in watch.requests)

    assert not has_come("yaml_text")
    assert not has_come("torchtitan")
    box.fill(SAMPLES["accelerate"].text)
    answered(page, "accelerate YAML")
    assert has_come("yaml_text")
    assert not has_come("torchtitan")
    box.fill(OWN)
    answered(page, "torchtitan Python")
    assert has_come("torchtitan")
    assert watch.errors == []
