"""`show NAME`: a name that is none leads to those that are."""

import pytest

from builder.cli import show_command


@pytest.fixture
def names(monkeypatch):
    monkeypatch.setattr(
        show_command.calculator_context,
        "calculator_names",
        lambda: ["zero_1", "zero_2", "zero_3", "zero_4", "x"],
    )


def test_a_name_nearly_right_leads_to_the_three_nearest(names):
    with pytest.raises(ValueError, match=r"^there is no calculator 'zero_9'; there is ") as raised:
        show_command.describe_calculator("zero_9")
    near = str(raised.value).partition("there is zero")[2]
    assert near.count(", ") == 2
    assert "x" not in near


def test_a_name_like_no_other_leads_to_all(names):
    told = "there is no calculator 'pipeline'; there is zero_1, zero_2, zero_3, zero_4, x"
    with pytest.raises(ValueError, match=f"^{told}$"):
        show_command.describe_calculator("pipeline")
