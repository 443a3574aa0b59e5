import pytest

from tests.browser.reading import CALCULATOR, box, drag_number, expected, wait_for

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("key", "world_size"),
    [
        ("ArrowUp", "128"),
        ("ArrowDown", "32"),
        ("PageUp", "65536"),
        ("Home", "2"),
        ("End", "131072"),
    ],
)
def test_a_key_steps_a_number(lab, key, world_size):
    drag_number(lab).press(key)
    wait_for(lab, "all_reduce_time", expected(world_size=world_size))
    assert drag_number(lab).input_value() == f"{int(world_size):,}"


def test_quick_presses_add_up(lab):
    number = drag_number(lab)
    for _ in range(4):
        number.press("ArrowUp")
    wait_for(lab, "all_reduce_time", expected(world_size="1024"))
    assert number.input_value() == "1,024"


def test_escape_takes_a_change_back(lab):
    box(lab).fill("100")
    wait_for(lab, "all_reduce_time", expected(world_size="100"))
    box(lab).press("Escape")
    wait_for(lab, "all_reduce_time", expected())
    assert box(lab).input_value() == "64"


def test_escape_takes_a_bad_text_back(lab):
    box(lab).fill("many")
    lab.wait_for_selector('input[aria-invalid="true"]')
    box(lab).press("Escape")
    own = f'[name="world_size"][data-of="{CALCULATOR}"]'
    lab.wait_for_selector(f'.field input{own}[aria-invalid="false"]')
    assert box(lab).input_value() == "64"


def test_enter_writes_the_number_as_the_engine_does(lab):
    box(lab, "parameters").fill("13000M")
    wait_for(lab, "all_reduce_time", expected(parameters="13e9"))
    box(lab, "parameters").press("Enter")
    assert box(lab, "parameters").input_value() == "13B"


def test_the_handle_of_a_chart_moves_by_arrow_keys(lab):
    handle = lab.locator(f'.handle[data-slide="tokens_per_gpu"][data-of="{CALCULATOR}"]').first
    before = handle.get_attribute("aria-valuetext")
    handle.press("ArrowRight")
    lab.wait_for_function(
        "before => document.querySelector('.handle[data-slide=tokens_per_gpu]')"
        ".getAttribute('aria-valuetext') !== before",
        arg=before,
    )
    assert handle.get_attribute("aria-valuetext") == box(lab, "tokens_per_gpu").input_value()


def test_undo_keeps_the_focus(lab):
    drag_number(lab).press("ArrowUp")
    wait_for(lab, "all_reduce_time", expected(world_size="128"))
    undo = lab.locator(f'[data-undo][data-of="{CALCULATOR}"]').first
    undo.press("Enter")
    wait_for(lab, "all_reduce_time", expected())
    assert undo.evaluate("button => button === document.activeElement")


def test_a_number_opens_its_receipt_by_key(lab):
    number = lab.locator(f'.number[data-output="all_reduce_time"][data-of="{CALCULATOR}"]').first
    number.press("Enter")
    assert lab.locator(f"#receipt-{CALCULATOR}-all_reduce_time").is_visible()


def test_what_follows_a_number_in_a_sentence_stays_while_it_is_typed(lab):
    number, after = drag_number(lab, "port"), drag_number(lab, "parameters")
    number.scroll_into_view_if_needed()
    at_first = number.input_value()
    number.press("ArrowUp")  # the engine steps it: its text comes with the answer
    lab.wait_for_function(
        "([box, text]) => box.value !== text", arg=[number.element_handle(), at_first]
    )
    given = number.input_value()
    wait_for(lab, "all_reduce_time", expected(port=given))
    place = lab.locator(".inline-field", has=number).first
    right = "one => one.getBoundingClientRect().right"
    before = place.evaluate(right)
    number.press("ControlOrMeta+a")
    number.press_sequentially("9")
    assert place.evaluate(right) == pytest.approx(before, abs=1)
    after.click()
    assert after.evaluate("box => box === document.activeElement")
    lab.wait_for_function("box => box.value !== '9'", arg=number.element_handle())
    assert "b/s" in number.input_value()
    assert number.input_value() != given
