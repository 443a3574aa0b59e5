"""Every formula, automatic: scale each unit of the inputs, and the output must scale as annotated.

Constants of a module that carry a unit (`FORWARD: Operations = 2.0`) are scaled like inputs, and
so are the fields of records. A model, a plan and a training run hold only counts and choices.
"""

import dataclasses
import inspect
import sys
from collections import Counter
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from engine.catalog import nccl_constants, transports
from engine.catalog.models import MODELS, Model
from engine.catalog.transports import EFA_V1, Transport
from engine.core import registry
from engine.core.units import Bandwidth, Bytes, Quantity, Seconds
from engine.formulas.states import MIXED_PRECISION, StateBytes
from engine.run.parallelism import Plan, Training
from tests.each import each

# Powers of two, so that scaling itself does not round.
SCALES = {
    "byte": 2.0**7,
    "second": 2.0**-5,
    "flop": 2.0**11,
    "joule": 2.0**3,
    "money": 2.0**-4,
}
SAMPLES = {
    "bytes": 1e9,
    "seconds": 0.1,
    "bandwidth": 50e9,
    "link_speed": 50e9,
    "operations": 2.0,
    "flop_rate": 989e12,
    "intensity": 300.0,
    "count": 8,
    "parameters": 7e9,
    "tokens": 4096.0,
    "token_rate": 400.0,
    "gpu_time": 3.6e9,
    "power": 700.0,
    "energy": 1e12,
    "money": 1e6,
    "price": 2.0**-11,
    "share": 0.4,
    "ratio": 1.5,
}

# A mixture with latents, shared experts and biases, split in every way: no part is zero.
RECORDS = {
    Model: dataclasses.replace(MODELS["deepseek-v3"], biases=True, mlp="gelu"),
    Plan: Plan(
        world_size=512,
        tensor_parallel=2,
        pipeline_parallel=16,
        context_parallel=2,
        expert_parallel=8,
        sequence_parallel=True,
    ),
    Training: Training(micro_batch_size=1, global_batch_size=256, sequence_length=4096),
    StateBytes: MIXED_PRECISION,
    Transport: dataclasses.replace(EFA_V1, step_small=2.0**-17, share_small=0.5),
}


def formulas():
    for name in registry.module_names("engine.formulas"):
        module = registry.module("engine.formulas", name)
        for function in vars(module).values():
            own = inspect.isfunction(function) and function.__module__ == module.__name__
            # A choice has a name, and no dimension.
            chosen = own and get_type_hints(function).get("return") is str
            if own and not chosen and not function.__name__.startswith("_"):
                yield pytest.param(module, function, id=f"{name}.{function.__name__}")


FORMULAS = list(formulas())


def quantity_of(hint):
    found = [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Quantity)]
    return found[0] if found else None


def is_choice(hint):
    return get_origin(hint) is Literal


def has_default(function, name):
    return inspect.signature(function).parameters[name].default is not inspect.Parameter.empty


def scaled(record, scales):
    """The record with every field that has a unit in scaled units."""
    hints = get_type_hints(type(record), include_extras=True)
    changes = {
        name: getattr(record, name) * scale(quantity_of(hint), scales)
        for name, hint in hints.items()
        if quantity_of(hint) and scale(quantity_of(hint), SCALES) != 1
    }
    return dataclasses.replace(record, **changes)


def scale(quantity, scales):
    return (
        scales["byte"] ** quantity.byte
        * scales["second"] ** quantity.second
        * scales["flop"] ** quantity.flop
        * scales["joule"] ** quantity.joule
        * scales["money"] ** quantity.money
    )


def arguments(hints, scales):
    """Sample values; of several with one quantity each is smaller than the one before, less so."""
    seen = Counter()
    values = {}
    for name, hint in hints.items():
        quantity = quantity_of(hint)
        if hint in RECORDS:
            values[name] = scaled(RECORDS[hint], scales)
        elif is_choice(hint):
            values[name] = get_args(hint)[0]
        elif quantity.name == "count":
            values[name] = SAMPLES["count"] * (1 + seen["count"])
        else:
            shrink = 1 + seen[quantity.name] / (2 if quantity.name == "seconds" else 1)
            values[name] = SAMPLES[quantity.name] / shrink * scale(quantity, scales)
        if quantity:
            seen[quantity.name] += 1
    return values


def numbers(result, hint):
    """(value, quantity) of each number returned, in records, tuples and by name too."""
    if dataclasses.is_dataclass(result):
        hints = properties(type(result)) | get_type_hints(type(result), include_extras=True)
        found = [
            numbers(getattr(result, name), part)
            for name, part in hints.items()
            if part is not str and part is not bool
        ]
        return [pair for pairs in found for pair in pairs]
    if isinstance(result, dict):
        part = get_args(hint)[1]
        return [pair for one in result.values() for pair in numbers(one, part)]
    if isinstance(result, tuple):
        parts = get_args(hint)
        hints = [parts[0]] * len(result) if parts[-1] is Ellipsis else parts
        return [
            pair for one, part in zip(result, hints, strict=True) for pair in numbers(one, part)
        ]
    return [(result, quantity_of(hint))]


def properties(record):
    """The type hints of what a record computes from its fields."""
    return {
        name: get_type_hints(value.fget, include_extras=True)["return"]
        for name, value in vars(record).items()
        if isinstance(value, property)
    }


def outputs(function, result):
    """(value, quantity) of each number returned."""
    return numbers(result, get_type_hints(function, include_extras=True)["return"])


def used(module):
    """The module, and those of formulas whose functions it calls."""
    functions = filter(inspect.isfunction, vars(module).values())
    names = {one.__module__ for one in functions if one.__module__.startswith("engine.formulas")}
    return [sys.modules[name] for name in sorted(names | {module.__name__})]


def scale_constants(patch, module, scales):
    for name, value in list(vars(module).items()):
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            patch.setattr(module, name, scaled(value, scales))
    imported = {}
    for one in (transports, nccl_constants):
        imported |= get_type_hints(one, include_extras=True)
    known = {name: hint for name, hint in imported.items() if hasattr(module, name)}
    for name, hint in (known | get_type_hints(module, include_extras=True)).items():
        value, parts = getattr(module, name), get_args(hint)
        if quantity := quantity_of(hint):
            patch.setattr(module, name, value * scale(quantity, scales))
        elif (
            get_origin(hint) is tuple and len(parts) == len(value) and all(map(quantity_of, parts))
        ):
            changed = (
                x * scale(quantity_of(part), scales) for x, part in zip(value, parts, strict=True)
            )
            patch.setattr(module, name, tuple(changed))


def split(function):
    """The type hints of inputs and output; switches (true or false, a word) keep their default."""
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    switches = {name for name, hint in hints.items() if hint in (bool, str)}
    assert all(has_default(function, name) for name in switches)
    return {name: hint for name, hint in hints.items() if name not in switches}, result


@each(("module", "function"), FORMULAS)
def test_every_input_of_a_formula_has_a_quantity(module, function):
    hints, _ = split(function)
    known = [quantity_of(hint) or is_choice(hint) or hint in RECORDS for hint in hints.values()]
    assert all(known)


@each(("module", "function"), FORMULAS)
def test_every_output_of_a_formula_has_a_quantity(module, function):
    hints, _ = split(function)
    found = outputs(function, function(**arguments(hints, dict.fromkeys(SCALES, 1.0))))
    assert all(quantity for _, quantity in found)


@each(("module", "function"), FORMULAS)
@each("unit", SCALES)
def test_a_formula_scales_with_the_unit_of_its_output(module, function, unit):
    ones = dict.fromkeys(SCALES, 1.0)
    scales = ones | {unit: SCALES[unit]}
    hints, _ = split(function)
    before = outputs(function, function(**arguments(hints, ones)))
    with pytest.MonkeyPatch.context() as patch:
        for one in used(module):
            scale_constants(patch, one, scales)
        after = outputs(function, function(**arguments(hints, scales)))
    expected = [value * scale(quantity, scales) for value, quantity in before]
    assert [value for value, _ in after] == pytest.approx(expected, rel=1e-12)


@each(("module", "function"), FORMULAS)
def test_a_formula_is_probed_where_it_is_finite_and_not_zero(module, function):
    hints, _ = split(function)
    result = function(**arguments(hints, dict.fromkeys(SCALES, 1.0)))
    values = [value for value, _ in outputs(function, result)]
    # Of several parts some may be empty: a model without biases replicates little.
    assert all(0 <= value < float("inf") for value in values)
    assert max(values) > 0


def test_a_formula_with_a_wrong_dimension_would_be_found():
    def wrong(size: Bytes, bandwidth: Bandwidth) -> Seconds:
        return size * bandwidth

    scales = dict.fromkeys(SCALES, 1.0) | {"byte": 2.0}
    hints, _ = split(wrong)
    ((value, quantity),) = outputs(wrong, wrong(**arguments(hints, scales)))
    ((base, _),) = outputs(wrong, wrong(**arguments(hints, dict.fromkeys(SCALES, 1.0))))
    assert value != pytest.approx(base * scale(quantity, scales))
