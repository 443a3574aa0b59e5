"""The bars of accuracy, on the published runs that are part of the repository."""

import math
import statistics

import pytest

from engine.simulate.published_runs import predictions
from tests.validation.published import DATA
from tests.validation.report import error
from tests.validation.rows import cases

RUNS = cases(DATA)[0]


def sizes(*, mixture, complete=False):
    """Absolute errors of the step time, the smallest first."""
    return sorted(
        abs(error(case)) for case in RUNS if case.moe == mixture and (case.complete or not complete)
    )


@pytest.fixture(scope="module")
def dense():
    return sizes(mixture=False, complete=True)


def test_there_are_four_hundred_complete_dense_runs(dense):
    assert len(dense) == 400


def test_complete_dense_step_times_are_within_seven_percent_in_the_mean(dense):
    assert statistics.fmean(dense) <= 0.07


def test_nine_in_ten_complete_dense_step_times_are_within_fifteen_percent(dense):
    assert dense[int(0.9 * len(dense))] <= 0.15


def test_all_dense_step_times_are_within_seven_percent_in_the_mean():
    assert statistics.fmean(sizes(mixture=False)) <= 0.07


def test_step_times_of_mixtures_are_within_twelve_percent_in_the_mean():
    assert statistics.fmean(sizes(mixture=True)) <= 0.12


def slope(key):
    """How much the error of dense runs changes per doubling of a size, in the least squares."""
    runs = [case for case in RUNS if not case.moe]
    places = [math.log2(key(case)) for case in runs]
    errors = [error(case) for case in runs]
    middle = statistics.fmean(places)
    spread = sum((place - middle) ** 2 for place in places)
    return sum((place - middle) * value for place, value in zip(places, errors, strict=True)) / (
        spread
    )


@pytest.mark.parametrize(
    ("key", "most"),
    [
        (lambda case: case.run.plan.world_size, 0.01),
        (lambda case: case.run.plan.tensor_parallel, 0.015),
        (lambda case: case.run.plan.pipeline_parallel, 0.01),
        (lambda case: case.run.training.sequence_length, 0.01),
        (lambda case: case.run.training.micro_batch_size, 0.01),
    ],
    ids=["scale", "tensor parallel", "pipeline parallel", "sequence", "micro-batch"],
)
def test_the_error_has_no_trend(key, most):
    assert abs(slope(key)) < most


def test_peaks_of_memory_are_within_five_percent_in_the_mean():
    errors = [abs(one.memory_error) for one in predictions() if one.memory_error is not None]
    assert statistics.fmean(errors) <= 0.05


@pytest.mark.parametrize("source", sorted({case.row["source_file"] for case in RUNS}))
def test_no_source_is_far_off_in_the_mean(source):
    errors = [abs(error(case)) for case in RUNS if case.row["source_file"] == source]
    assert statistics.fmean(errors) <= 0.20
