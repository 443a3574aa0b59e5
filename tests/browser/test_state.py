from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LAB
from tests.browser.reading import (
    CALCULATOR,
    box,
    drag_number,
    expected,
    live,
    output,
    units,
    wait_for,
)

pytestmark = pytest.mark.browser
NUMBER = f'.number[data-output="all_reduce_time"][data-of="{CALCULATOR}"]'


def settled(page, part):
    page.wait_for_function("part => location.search.includes(part)", arg=part)
    return parse_qs(urlsplit(page.url).query)


def test_a_change_stands_in_the_address(lab):
    drag_number(lab).fill("16")
    assert settled(lab, "world_size") == {"gradient_sync.world_size": ["16"]}


def test_a_reload_at_once_after_an_answer_keeps_the_change(visit):
    page = visit()
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    page.reload()
    live(page)
    wait_for(page, "all_reduce_time", expected(world_size="16"))


@pytest.mark.left_to_all("addresses with good, bad and unknown inputs are opened and told")
def test_a_default_does_not_stand_in_the_address(visit):
    page = visit(LAB + "?gradient_sync.world_size=16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    drag_number(page).fill("64")
    page.wait_for_function("() => location.search === ''")
    assert urlsplit(page.url).query == ""


def test_an_address_brings_the_exact_state_back(lab, visit):
    page = lab
    box(page, "parameters").fill("1.23456789B")
    drag_number(page).fill("24")
    settled(page, "world_size=24")
    wait_for(page, "all_reduce_time", expected(parameters="1234567890", world_size="24"))
    value = output(page).get_attribute("data-value")
    again = visit(page.url.partition("/wallclock/")[2])
    wait_for(again, "all_reduce_time", expected(parameters="1234567890", world_size="24"))
    assert output(again).get_attribute("data-value") == value


def test_a_bad_value_in_the_address_is_reported_beside_its_field(visit):
    page = visit(LAB + "?gradient_sync.world_size=many")
    live(page)
    message = page.locator(f'.field [data-error="world_size"][data-of="{CALCULATOR}"]').first
    message.wait_for(state="visible")
    assert "'many'" in (message.text_content() or "")


@pytest.mark.left_to_all("addresses with good, bad and unknown inputs are opened and told")
def test_a_bad_value_in_the_address_leaves_the_default(visit):
    page = visit(LAB + "?gradient_sync.world_size=many")
    live(page)
    assert output(page).text_content() == expected()


def test_an_unknown_input_in_the_address_is_named_with_those_there_are(visit):
    page = visit(LAB + "?gradient_sync.nodes=4")
    live(page)
    status = page.locator(f'[data-status][data-of="{CALCULATOR}"]').first
    assert "no input 'nodes'; there are parameters" in (status.text_content() or "")


def test_an_unknown_calculator_in_the_address_is_named_with_those_there_are(visit):
    page = visit(LAB + "?zeroo.stage=3")
    drag_number(page).fill("16")
    wait_for(page, "all_reduce_time", expected(world_size="16"))
    notice = page.locator("[data-notice]")
    notice.wait_for(state="visible")
    assert "zeroo.stage = 3, but this page has no such calculator" in (notice.text_content() or "")


@pytest.mark.left_to_all("addresses with good, bad and unknown inputs are opened and told")
def test_a_parameter_of_somebody_else_stays_in_the_address(visit):
    page = visit(LAB + "?ref=mail")
    drag_number(page).fill("16")
    assert settled(page, "world_size")["ref"] == ["mail"]


def test_a_unit_switch_stands_in_the_address(lab):
    units(lab).check()
    assert settled(lab, "binary") == {"binary": ["on"]}


def test_a_unit_switch_is_kept_on_the_device(visit):
    page = visit()
    units(page).check()
    settled(page, "binary")
    again = visit()  # whose scripts read what is kept when they come
    expect(again.locator('[data-setting="binary"]')).to_be_checked()


def test_undo_goes_back_one_step(lab):
    drag_number(lab).fill("16")
    wait_for(lab, "all_reduce_time", expected(world_size="16"))
    lab.locator(f'[data-undo][data-of="{CALCULATOR}"]').first.click()
    wait_for(lab, "all_reduce_time", expected())
    assert box(lab).input_value() == "64"


def test_reset_brings_all_defaults_back(visit):
    page = visit(LAB + "?gradient_sync.world_size=16&gradient_sync.parameters=1e9")
    wait_for(page, "all_reduce_time", expected(world_size="16", parameters="1e9"))
    page.locator(f'[data-reset][data-of="{CALCULATOR}"]').first.click()
    wait_for(page, "all_reduce_time", expected())
    assert box(page, "parameters").input_value() == "7B"


def test_a_preset_sets_its_inputs(lab):
    lab.get_by_role("button", name="Llama 3 8B on 128 nodes of 8").click()
    lab.wait_for_function(
        "([selector, before]) => document.querySelector(selector).textContent !== before",
        arg=[NUMBER, expected()],
    )
    assert box(lab, "parameters").input_value() == "8.03B"


EXPLORER = "guides/stack-explorer/?stack_explorer.world_size=8192"


def test_a_click_on_an_event_of_the_ruler_explains_it_and_keeps_the_job(visit):
    page = visit(EXPLORER)
    page.wait_for_selector("#stack_explorer[data-state=live]", state="attached")
    page.locator("figure[data-output=ruler] [data-set='stack_explorer.event=gap']").last.click()
    assert settled(page, "event=gap") == {
        "stack_explorer.world_size": ["8192"],
        "stack_explorer.event": ["gap"],
    }


@pytest.mark.left_to_all("addresses with good, bad and unknown inputs are opened and told")
def test_a_click_on_a_layer_keeps_the_job(visit):
    page = visit(EXPLORER)
    page.wait_for_selector("#stack_explorer[data-state=live]", state="attached")
    page.locator("a[data-set='stack_explorer.layer=link']").click()
    assert settled(page, "layer=link") == {
        "stack_explorer.world_size": ["8192"],
        "stack_explorer.layer": ["link"],
    }


def test_a_bad_value_of_an_address_is_told_at_the_top_with_a_way_to_its_input(visit):
    page = visit(LAB + "?gradient_sync.world_size=1")
    box_ = page.locator("[data-wrong]")
    box_.wait_for(state="visible")
    assert box_.bounding_box()["y"] == 0
    box_.locator("li button").click()
    focused = page.evaluate(
        """() => {
          const { top, bottom } = document.activeElement.getBoundingClientRect();
          return [document.activeElement.name, top > 0 && bottom < innerHeight];
        }"""
    )
    assert focused == ["world_size", True]


@pytest.mark.left_to_all("addresses with good, bad and unknown inputs are opened and told")
def test_the_word_about_a_bad_address_goes_with_the_next_change(visit):
    page = visit(LAB + "?gradient_sync.world_size=1")
    page.locator("[data-wrong]").wait_for(state="visible")
    drag_number(page).fill("16")
    page.locator("[data-wrong]").wait_for(state="hidden")


def test_a_key_that_stands_twice_in_an_address_is_told(visit):
    page = visit(LAB + "?gradient_sync.world_size=16&gradient_sync.world_size=32")
    page.locator("[data-wrong]").wait_for(state="visible")
    said = page.locator("[data-wrong] li").all_text_contents()
    assert said == [
        "gradient_sync.world_size stands more than once in the address; the last one holds."
    ]


@pytest.mark.left_to_all("addresses with good, bad and unknown inputs are opened and told")
def test_a_switch_of_units_reaches_other_tabs(visit):
    one = visit(viewport={"width": 1280, "height": 900})
    other = one.context.new_page()
    other.goto(one.url)
    units(one).check()
    other.wait_for_function("() => document.querySelector('[data-setting=binary]').checked")


@pytest.mark.left_to_all("addresses with good, bad and unknown inputs are opened and told")
@pytest.mark.parametrize("width", [390, 1280])
def test_switches_of_units_can_be_hit(visit, width):
    page = visit(viewport={"width": width, "height": 800})
    page.locator("[data-settings]").click()
    for switch in page.locator("[data-setting]").all():
        area = switch.bounding_box()
        assert area["width"] >= 24
        assert area["height"] >= 24


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900)])
def test_the_number_stays_in_view_while_inputs_are_changed(visit, width, height):
    page = visit(viewport={"width": width, "height": height})
    last = page.locator("#gradient_sync > .inputs > .fields .field").last
    last.evaluate("one => one.scrollIntoView({ block: 'end' })")
    area = page.locator("#gradient_sync .lead-number").bounding_box()
    assert 0 <= area["y"] < area["y"] + area["height"] <= height
    last.evaluate("one => one.scrollIntoView({ block: 'start' })")
    area = page.locator("#gradient_sync .lead-number").bounding_box()
    assert 0 <= area["y"] < area["y"] + area["height"] <= height / 4
