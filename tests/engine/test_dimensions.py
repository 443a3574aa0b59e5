"""Every formula, automatic: scale each unit of the inputs, and the output must scale as annotated.

Constants of a module that carry a unit (`FORWARD: Operations = 2.0`) are scaled like inputs.
"""

import dataclasses
import inspect
from collections import Counter
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from engine import discover
from engine.units import Bandwidth, Bytes, Quantity, Seconds

# Powers of two, so that scaling itself does not round.
SCALES = {"byte": 2.0**7, "second": 2.0**-5, "flop": 2.0**11}
SAMPLES = {
    "bytes": 1e9,
    "seconds": 0.1,
    "bandwidth": 50e9,
    "link_speed": 50e9,
    "operations": 2.0,
    "flop_rate": 989e12,
    "count": 8,
    "parameters": 7e9,
    "tokens": 4096.0,
    "share": 0.5,
    "ratio": 1.5,
}


def formulas():
    for name in discover.names("engine.formulas"):
        module = discover.module("engine.formulas", name)
        for function in vars(module).values():
            own = inspect.isfunction(function) and function.__module__ == module.__name__
            if own and not function.__name__.startswith("_"):
                yield pytest.param(module, function, id=f"{name}.{function.__name__}")


FORMULAS = list(formulas())


def quantity_of(hint):
    found = [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Quantity)]
    return found[0] if found else None


def is_choice(hint):
    return get_origin(hint) is Literal


def scale(quantity, scales):
    return (
        scales["byte"] ** quantity.byte
        * scales["second"] ** quantity.second
        * scales["flop"] ** quantity.flop
    )


def arguments(hints, scales):
    """Sample values; of several with one quantity each is smaller than the one before, less so."""
    seen = Counter()
    values = {}
    for name, hint in hints.items():
        quantity = quantity_of(hint)
        if is_choice(hint):
            values[name] = get_args(hint)[0]
        elif quantity.name == "count":
            values[name] = SAMPLES["count"] * (1 + seen["count"])
        else:
            shrink = 1 + seen[quantity.name] / (2 if quantity.name == "seconds" else 1)
            values[name] = SAMPLES[quantity.name] / shrink * scale(quantity, scales)
        if quantity:
            seen[quantity.name] += 1
    return values


def outputs(function, result):
    """(value, quantity) of each number returned, whether alone or in a record."""
    if dataclasses.is_dataclass(result):
        hints = get_type_hints(type(result), include_extras=True)
        return [(getattr(result, name), quantity_of(hint)) for name, hint in hints.items()]
    hints = get_type_hints(function, include_extras=True)
    return [(result, quantity_of(hints["return"]))]


def scale_constants(monkeypatch, module, scales):
    for name, hint in get_type_hints(module, include_extras=True).items():
        if quantity := quantity_of(hint):
            monkeypatch.setattr(module, name, getattr(module, name) * scale(quantity, scales))


def split(function):
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    return hints, result


@pytest.mark.parametrize(("module", "function"), FORMULAS)
def test_every_input_of_a_formula_has_a_quantity(module, function):
    hints, _ = split(function)
    assert all(quantity_of(hint) or is_choice(hint) for hint in hints.values())


@pytest.mark.parametrize(("module", "function"), FORMULAS)
def test_the_output_of_a_formula_has_a_quantity(module, function):
    _, result = split(function)
    assert quantity_of(result) or dataclasses.is_dataclass(result)


@pytest.mark.parametrize(("module", "function"), FORMULAS)
@pytest.mark.parametrize("unit", SCALES)
def test_a_formula_scales_with_the_unit_of_its_output(monkeypatch, module, function, unit):
    ones = dict.fromkeys(SCALES, 1.0)
    scales = ones | {unit: SCALES[unit]}
    hints, _ = split(function)
    before = outputs(function, function(**arguments(hints, ones)))
    scale_constants(monkeypatch, module, scales)
    after = outputs(function, function(**arguments(hints, scales)))
    expected = [value * scale(quantity, scales) for value, quantity in before]
    assert [value for value, _ in after] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("module", "function"), FORMULAS)
def test_a_formula_is_probed_where_it_is_finite_and_not_zero(module, function):
    hints, _ = split(function)
    result = function(**arguments(hints, dict.fromkeys(SCALES, 1.0)))
    assert all(0 < value < float("inf") for value, _ in outputs(function, result))


def test_a_formula_with_a_wrong_dimension_would_be_found():
    def wrong(size: Bytes, bandwidth: Bandwidth) -> Seconds:
        return size * bandwidth

    scales = dict.fromkeys(SCALES, 1.0) | {"byte": 2.0}
    hints, _ = split(wrong)
    ((value, quantity),) = outputs(wrong, wrong(**arguments(hints, scales)))
    ((base, _),) = outputs(wrong, wrong(**arguments(hints, dict.fromkeys(SCALES, 1.0))))
    assert value != pytest.approx(base * scale(quantity, scales))
