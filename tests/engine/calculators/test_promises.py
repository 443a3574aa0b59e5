import pytest

from engine.calculator import names
from tests.engine.calculators.promises import PromisesBroken, all_promises, keep


@pytest.mark.parametrize("name", names())
def test_a_calculator_keeps_its_promises(name):
    keep(name)


def test_a_broken_promise_is_named_with_its_reason(monkeypatch):
    def nothing_is_larger_than_one(name):
        raise AssertionError(f"{name} is")

    monkeypatch.setitem(all_promises(), "a.nothing_is_larger_than_one", nothing_is_larger_than_one)
    with pytest.raises(PromisesBroken, match="nothing_is_larger_than_one: AssertionError: rail_c"):
        keep("rail_claim")


def test_there_are_as_many_promises_as_functions_that_declare_them():
    assert len(all_promises()) == len({function.__name__ for function in all_promises().values()})
    assert len(all_promises()) >= 50
