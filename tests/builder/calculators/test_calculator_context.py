"""A calculator as the pages have it."""

from builder.calculators import calculator_context
from engine.calculator import load, names


def test_only_what_searches_says_so():
    searching = next(name for name in names() if load(name).search is not None)
    assert calculator_context.load_without_sources(searching)[0].searches is True
    assert calculator_context.load_without_sources("token_cost")[0].searches is False
