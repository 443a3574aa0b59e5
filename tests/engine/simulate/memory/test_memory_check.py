from dataclasses import replace

import pytest

from engine.catalog.constants import ALLOWANCES
from engine.form.run.accuracy import ACCURACY
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.memory.memory_check import (
    TOLERANCE,
    MemoryReadings,
    first_cause,
    modeled_readings,
    relative_error,
)

RUN, _ = nearest_run(Inputs())
OURS = modeled_readings(RUN)
GB = 1e9


def read(allocated=0.0, reserved=0.0, process=0.0):
    return MemoryReadings(allocated=allocated, reserved=reserved, process=process)


def test_the_lines_lie_one_in_the_other():
    assert 0 < OURS.allocated < OURS.reserved < OURS.process


def test_what_lies_between_them_is_the_allowance_of_each():
    tensors = OURS.allocated - ALLOWANCES.workspace
    assert OURS.pieces == pytest.approx(ALLOWANCES.fragments * tensors)
    assert OURS.outside == pytest.approx(ALLOWANCES.context + ALLOWANCES.channels)


def test_readings_like_the_model_are_alike():
    assert first_cause(OURS, OURS) == "alike"


def test_near_is_where_nine_in_ten_published_peaks_lie():
    assert round(ACCURACY["memory"][2], 2) == TOLERANCE


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (read(), "none"),
        (read(60 * GB, 50 * GB, 70 * GB), "order"),
        (read(60 * GB, 0, 50 * GB), "order"),
        (read(1.2 * OURS.allocated), "tensors"),
        (read(0.8 * OURS.allocated), "tensors"),
        (read(OURS.allocated, 1.3 * OURS.allocated), "pieces"),
        (read(OURS.allocated, OURS.reserved, OURS.reserved + 7 * GB), "outside"),
        (read(OURS.allocated, OURS.reserved, OURS.reserved + 2 * GB), "alike"),
        (read(0, OURS.reserved), "alike"),
        (read(0, 0, 1.3 * OURS.process), "tensors"),
    ],
)
def test_the_innermost_line_that_differs_is_the_cause(found, expected):
    assert first_cause(OURS, found) == expected


def test_a_gap_is_unknown_where_one_of_its_readings_is_missing():
    assert read(60 * GB).pieces == 0
    assert read(60 * GB, 0, 70 * GB).outside == 0


def test_a_share_is_of_the_model():
    assert relative_error(50 * GB, 55 * GB) == pytest.approx(0.1)


def test_the_published_peak_of_torchtitan_is_near():
    """Llama 3.1 8B on 8 H100, FSDP2, batch of 2, compiled: 77.0 GiB reserved (torchtitan)."""
    inputs = Inputs(
        model="llama-3-8b",
        gpu="H100-SXM-500W",
        world_size=8,
        tensor_parallel=1,
        pipeline_parallel=1,
        virtual_pipeline=1,
        context_parallel=1,
        micro_batch_size=2,
        global_batch_size=16,
        recompute="selective",
        zero_stage="3",
        framework="fsdp",
        schedule="1f1b",
        sequence_parallel=False,
        overlap_tensor_parallel=False,
    )
    run, _ = nearest_run(replace(inputs, eager_loss=True))  # as in 2024
    assert modeled_readings(run).reserved == pytest.approx(77.0 * 2**30, rel=0.05)
    assert first_cause(modeled_readings(run), read(0, 77.0 * 2**30)) == "alike"
