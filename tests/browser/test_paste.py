"""A configuration pasted into a calculator: read by the importer, taken by the calculator."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser
BOX, SAID = "[data-panel=paste]", "[data-paste-said]"
MEMORY, PLANNER = "tools/memory/", "guides/choosing-a-configuration/"
SCRIPT = r"""TP=2
torchrun --nproc_per_node=8 --nnodes 4 pretrain_gpt.py --tensor-model-parallel-size ${TP} \
  --num-layers 16 --hidden-size 2048 --num-attention-heads 32 --group-query-attention \
  --num-query-groups 8 --ffn-hidden-size 8192 --swiglu --seq-length 4096 --vocab-size 128256 \
  --micro-batch-size 2 --global-batch-size 64 --bf16 --use-distributed-optimizer --frobnicate 3
"""
FORBIDDEN = """() => {
  Storage.prototype.setItem = () => { throw new DOMException("no", "SecurityError"); };
}"""


def opened(page: Page, calculator: str) -> None:
    """Open the box as a keyboard does, which leaves the focus in its text."""
    button = page.locator(f'[data-opens=paste][data-of="{calculator}"]').first
    button.press("Enter")
    page.locator(BOX).wait_for()
    assert page.evaluate("document.activeElement.name") == "configuration"


def used(page: Page, text: str, said: str) -> None:
    page.locator(f"{BOX} textarea").fill(text)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(SAID)).to_contain_text(said, timeout=60_000)


def test_a_pasted_script_becomes_the_job_and_the_link_keeps_it(visit, watch):
    page = visit(MEMORY)
    opened(page, "memory_check")
    used(page, SCRIPT, "has the job now")
    assert violations(page) == []
    row = page.locator("[data-paste-keys] tr", has_text="--frobnicate")
    assert "not known" in row.text_content()
    page.keyboard.press("Escape")
    button = page.locator('[data-opens=paste][data-of="memory_check"]').first
    expect(button).to_be_focused()
    page.wait_for_function("() => location.search.includes('memory_check.num_layers=16')")
    for part in ("model=custom", "world_size=32", "tensor_parallel=2", "hidden_size=2048"):
        assert f"memory_check.{part}" in page.url
    assert "frobnicate" not in page.url
    page.reload()
    expect(page.locator('input[name="world_size"]').first).to_have_value("32")
    opened(page, "memory_check")
    assert page.locator(f"{BOX} textarea").input_value() == SCRIPT
    assert watch.errors == []


def test_what_is_no_configuration_is_told_and_kept(visit):
    page = visit(MEMORY)
    opened(page, "memory_check")
    used(page, "hello there", "line 1: no configuration is recognized")
    used(page, "{1: 2}", "line 1, column 2")
    used(page, SCRIPT.replace("=${TP}", "").replace("--num-layers 16", ""), "Nothing was taken.")
    assert "memory_check" not in page.url.partition("?")[2]
    page.keyboard.press("Escape")
    opened(page, "memory_check")
    assert "--frobnicate" in page.locator(f"{BOX} textarea").input_value()


@pytest.mark.left_to_all("a script is pasted and kept, and what is none is told")
def test_a_model_that_a_calculator_lacks_is_named(visit):
    page = visit(PLANNER)
    opened(page, "planner")
    used(page, SCRIPT, "left as before: Model.")
    page.keyboard.press("Escape")
    page.wait_for_function("() => location.search.includes('planner.world_size=32')")
    assert "planner.model" not in page.url


@pytest.mark.left_to_all("a script is pasted and kept, and what is none is told")
def test_where_nothing_may_be_kept_the_box_says_so(visit):
    page = visit(MEMORY)
    page.evaluate(FORBIDDEN)
    opened(page, "memory_check")
    used(page, SCRIPT, "does not let the page keep anything")
    page.wait_for_function("() => location.search.includes('memory_check.world_size=32')")


def test_marks_in_a_configuration_are_text(visit):
    page = visit(MEMORY)
    opened(page, "memory_check")
    bad = '"<img src=x onerror=window.hit=1>"'
    used(page, SCRIPT.replace("--frobnicate 3", f"--frobnicate {bad}"), "has the job now")
    assert page.locator("[data-paste-keys] img").count() == 0
    assert page.evaluate("window.hit") is None


@pytest.mark.left_to_all("a script is pasted and kept, and what is none is told")
def test_chosen_files_are_read_together(visit):
    page = visit(MEMORY)
    opened(page, "memory_check")
    files = [
        {"name": f"{name}.txt", "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in (("run", SCRIPT), ("more", "{}"))
    ]
    page.locator("[data-paste-files]").set_input_files(files[:1])
    expect(page.locator(f"{BOX} textarea")).to_have_value(SCRIPT)
    page.locator("[data-paste-files]").set_input_files(files)
    expect(page.locator(f"{BOX} textarea")).to_have_value(
        f"--- run.txt ---\n{SCRIPT}\n--- more.txt ---\n{{}}"
    )
