"""Options, switches and orders: what they understand and what they refuse."""

import pytest

from engine.core.inputs import Choice, InputError, Order, Switch

DTYPE = Choice(label="Gradients in", options={"bf16": "bf16", "fp8": "8 bits"})
ORDER = Order(label="Stream", items=("AG1", "F1", "RS1"))


def message(field, text, *, typed=True):
    with pytest.raises(InputError) as caught:
        field.read(text, typed=typed)
    return str(caught.value)


def test_a_choice_is_shown_by_its_name():
    assert DTYPE.show("fp8") == "8 bits"


def test_an_unknown_choice_names_those_there_are():
    assert message(DTYPE, "int4") == "'int4' is not among bf16, fp8"


def test_a_long_list_of_options_is_cut_and_counted():
    many = Choice(label="Node", options={f"node-number-{i:03}": "" for i in range(30)})
    assert message(many, "x").endswith(", node-number-007 and 22 more")


@pytest.mark.parametrize("text", ["on", "true", "Yes", " 1 "])
def test_a_switch_understands_on(text):
    assert Switch(label="Overlap").read(text, typed=True) is True


@pytest.mark.parametrize("text", ["off", "False", "no", "0"])
def test_a_switch_understands_off(text):
    assert Switch(label="Overlap").read(text, typed=True) is False


def test_a_switch_refuses_maybe():
    assert message(Switch(label="Overlap"), "maybe") == "'maybe' is neither on nor off"


def test_an_order_is_typed_with_spaces_and_in_any_case():
    assert ORDER.read("rs1, ag1 F1", typed=True) == "RS1-AG1-F1"


def test_items_left_out_of_an_order_come_last():
    assert ORDER.read("F1", typed=True) == "F1-AG1-RS1"


def test_an_order_names_an_item_that_does_not_exist():
    assert message(ORDER, "AG1 AG2") == "'ag2' is not among AG1, F1, RS1"


def test_an_item_stands_once_in_an_order():
    assert message(ORDER, "F1 F1") == "F1 is there twice; each stands once in the order"


def test_an_order_is_shown_as_it_is_typed():
    assert ORDER.show(ORDER.read("RS1-F1-AG1", typed=False)) == "RS1 F1 AG1"
