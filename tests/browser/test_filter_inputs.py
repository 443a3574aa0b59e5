"""The box above a long form leaves the inputs that match: by label, word or a program's flag."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import live

pytestmark = pytest.mark.browser
BOX = "#{name} [data-filter]"
SHOWN = """name => [...document.querySelectorAll(`#${name} .inputs .field`)]
  .filter((field) => field.checkVisibility())
  .map((field) => field.querySelector("[name]")?.name ?? field.dataset.field)"""
FORMS = (("tools/planner/", "job_planner"), ("guides/reproduce-published-runs/", "estimate_run"))


def shown(page: Page, name: str) -> list[str]:
    """Return the inputs in sight."""
    found: list[str] = page.evaluate(SHOWN, name)
    return found


@pytest.mark.parametrize(("address", "name"), FORMS)
def test_a_word_or_a_flag_finds_folded_inputs_and_nothing_else(visit, address, name):
    page = visit(address)
    live(page, name)
    box = page.locator(BOX.format(name=name))
    before = shown(page, name)
    place = box.bounding_box()
    box.press_sequentially("moe")
    found = shown(page, name)
    assert {"overlap_expert_parallel", "exchange", "fused_experts"} <= set(found)
    assert not {"sequence_length", "precision"} & set(found)
    assert box.bounding_box() == place
    expect(page.locator(f"#{name} [data-filtered]")).to_have_text(
        f"{len(found)} of {page.locator(f'#{name} .inputs .field').count()} inputs"
    )
    box.fill("--tp-comm-overlap")
    assert shown(page, name) == ["overlap_tensor_parallel"]
    box.fill("nothing of this name")
    assert shown(page, name) == []
    expect(page.locator(f"#{name} [data-filtered]")).to_have_text("No input of this form")
    box.fill("")
    assert shown(page, name) == before
