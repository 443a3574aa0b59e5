"""The names of the spans of the sharded labs."""

from engine.form.sharded.lab import unit_label
from tests.each import each


@each(
    ("label", "layers", "expected"),
    [
        ("gather layer 3", 1, "gather layer 3"),
        ("gather layer 1", 8, "gather layers 1\N{EN DASH}8"),
        ("gather layer 3", 8, "gather layers 17\N{EN DASH}24"),
        ("gather the output", 8, "gather the output"),
        ("after layer x", 8, "after layer x"),
    ],
)
def test_a_unit_of_several_layers_is_called_by_its_first_and_last(label, layers, expected):
    assert unit_label(label, layers) == expected
