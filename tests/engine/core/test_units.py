from typing import get_type_hints

import pytest

from engine.core import units


def test_a_400_gigabit_link_moves_50_gigabytes_per_second():
    assert 400 * units.Gbit == 50 * units.GB


def test_a_gibibyte_is_7_percent_more_than_a_gigabyte():
    assert units.GiB / units.GB == pytest.approx(1.073741824)


def test_14_gigabytes_are_13_04_gibibytes():
    assert f"{14 * units.GB / units.GiB:.2f}" == "13.04"


def test_bandwidth_is_bytes_per_second():
    assert (units.BANDWIDTH.byte, units.BANDWIDTH.second, units.BANDWIDTH.flop) == (1, -1, 0)


def test_flop_rate_is_operations_per_second():
    assert (units.FLOP_RATE.byte, units.FLOP_RATE.second, units.FLOP_RATE.flop) == (0, -1, 1)


def test_quantities_have_different_names():
    quantities = [value for value in vars(units).values() if isinstance(value, units.Quantity)]
    assert len({quantity.name for quantity in quantities}) == len(quantities)


def test_an_alias_carries_its_quantity():
    def formula(size: units.Bytes) -> units.Seconds: ...

    hints = get_type_hints(formula, include_extras=True)
    assert [hint.__metadata__ for hint in hints.values()] == [(units.BYTES,), (units.SECONDS,)]
