"""The page of a sweep: its CSV and its Parquet are the same, other files are refused in words."""

import io

import pytest
from playwright.sync_api import expect
from pyarrow import Table, parquet

from engine.calculators.whole_runs.sweep_result import SAMPLES
from tests.browser.reading import live
from tests.engine.run.test_sweep_table import ROWS, text

pytestmark = pytest.mark.browser
PAGE = "tools/sweep/"
NUMBER = "#sweep_result [data-output=num_jobs]"


def opened(visit):
    page = visit(PAGE, locale="en-US")
    live(page, "sweep_result")
    return page


def given(page, name, data):
    page.locator('[data-file="table"]').set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )


def jobs(page, count):
    page.wait_for_function(
        "([at, text]) => document.querySelector(at).textContent === text", arg=[NUMBER, str(count)]
    )


def packed(rows, **options):
    out = io.BytesIO()
    parquet.write_table(Table.from_pylist(rows), out, **options)
    return out.getvalue()


def test_csv_and_parquet_show_the_same(visit, watch):
    page = opened(visit)
    jobs(page, 24)
    given(page, "sweep.csv", text().encode())
    jobs(page, 1)
    table = page.locator("#sweep_result [data-output=jobs]")
    table.scroll_into_view_if_needed()
    expect(table).to_contain_text("Llama 2 7B, 16 H100")
    shown = table.inner_text()
    page.get_by_role("button", name=SAMPLES["llama"].title).click()
    jobs(page, 24)
    given(page, "sweep.parquet", packed(ROWS))
    jobs(page, 1)
    expect(table).not_to_contain_text("Llama 3")
    assert table.inner_text() == shown
    assert watch.errors == []


def test_a_table_of_something_else_and_a_file_that_is_none_are_answered_in_words(visit):
    page = opened(visit)
    given(page, "other.parquet", packed([{"loss": 1.0}]))
    error = page.locator('[data-error="table"]')
    error.wait_for(state="visible")
    assert "line 1 has no column model" in error.text_content()
    given(page, "broken.parquet", packed(ROWS)[:-30])
    notice = page.locator("[data-notice]")
    notice.wait_for(state="visible")
    assert (
        "broken.parquet could not be read as a table. Flat Parquet files" in notice.text_content()
    )
    given(page, "zstd.parquet", packed(ROWS, compression="zstd"))
    page.wait_for_function(
        "() => document.querySelector('[data-notice]').textContent.startsWith('zstd.parquet')"
    )


@pytest.mark.left_to_all("test_sweep_result.py opens the planner with a row")
def test_words_leave_fewer_jobs_and_a_row_opens_the_planner(visit):
    page = opened(visit)
    box = page.locator("input[name=only][data-of=sweep_result]")
    box.fill("70b a100")
    jobs(page, 2)
    row = page.locator("#sweep_result [data-output=jobs] tbody tr").first
    row.scroll_into_view_if_needed()
    expect(row).to_contain_text("256 A100")
    row.get_by_role("link").first.click()
    page.wait_for_url("**/guides/choosing-a-configuration/**")
    live(page, "planner")
    assert (
        page.locator("input[type=text][name=world_size][data-of=planner]").last.input_value()
        == "256"
    )
    assert page.locator("select[name=gpu][data-of=planner]").last.input_value() == "A100-SXM-80GB"
    assert page.locator("[data-of=planner][data-error]:visible").count() == 0
