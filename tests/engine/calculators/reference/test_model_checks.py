"""Checks of the model: every class that is far off has a reason, peaks are near."""

import pytest

from engine.calculator import load, make
from engine.calculators.reference.model_checks import BAR, REASONS, error_reason
from engine.catalog.unfitted_errors import OWN, PEAKS


def shown(**changes):
    calculator = load("model_checks")
    return calculator.compute(make(calculator, changes))


def test_every_class_that_is_far_off_has_a_reason():
    assert [kind for kind, _, mean, _, _ in OWN if mean > BAR and not error_reason(kind)] == []


def test_every_reason_is_of_a_class():
    kinds = [kind for kind, *_ in OWN]
    assert all(any(kind.startswith(start) for kind in kinds) for start, _ in REASONS)


def test_only_what_is_far_off_is_shown_when_asked_for():
    assert len(shown()["own_measurements"].rows) == len(OWN)
    far = shown(show="far")["own_measurements"].rows
    assert len(far) == shown()["far"].value
    assert all(row[-1] for row in far)


def test_peaks_that_nothing_was_fitted_to_are_within_five_percent_in_the_mean():
    errors = [abs(predicted / measured - 1) for _, measured, predicted in PEAKS]
    assert shown()["peak_error"].value == pytest.approx(sum(errors) / len(errors))
    assert shown()["peak_error"].value <= 0.05
    assert len(shown()["peak_table"].rows) == len(PEAKS)
