"""The sources that a calculator's outputs can name: what is said to bring none brings none."""

import pytest

from builder.calculators import calculator_context
from engine import calculator as calculators
from engine.answer import solved_views
from engine.calculator import Calculator, make
from engine.core.inputs import Choice


def uncited(calculator: Calculator) -> list[dict[str, object]]:
    """Return what the build does not try: options and presets said to bring no source."""
    presets = (
        () if calculator_context.presets_may_cite(calculator.name) else calculator.presets.values()
    )
    choices = {key: one for key, one in calculator.fields.items() if isinstance(one, Choice)}
    return [
        {**calculator.small, key: option}
        for key, choice in choices.items()
        if not choice.cites
        for option in choice.options
    ] + [{**preset} for preset in presets]


ALL = [name for name in calculators.names() if uncited(calculators.load(name))]


@pytest.mark.parametrize("name", ALL)
def test_an_option_that_is_not_tried_names_no_source_of_its_own(name):
    calculator = calculators.load(name)
    views = solved_views(name, make(calculator, {})).compute()
    told = calculator_context.sources_by_output(name, views)
    silent = {output for output, view in views.items() if calculator_context.names_no_source(view)}
    wrong = set()
    for values in uncited(calculator):
        lazy = solved_views(name, make(calculator, values))
        for output, view in lazy.compute(set(lazy.names) - silent).items():
            wrong |= {
                (output, key)
                for key in calculator_context.view_sources(view)
                if key not in told[output]
            }
    assert not wrong
