"""A printed MFU leads back to the peak and the count that it was made with."""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.flop_conventions import CONVENTIONS
from engine.catalog.models import MODELS
from engine.catalog.reported_mfu import PRINTED
from engine.formulas.token_operations import token_operations, utilization
from engine.simulate.memory.peak_check import candidate_peaks, explanations, right_peak

H100 = ACCELERATORS["H100-SXM"]
LLAMA = MODELS["llama-2-7b"]


def nearest(gpu, precision, printed, rate=9600, length=4096):
    return explanations(LLAMA, length, rate, printed, candidate_peaks(gpu, precision))[0]


@pytest.mark.parametrize("line", PRINTED, ids=lambda line: line.name)
def test_published_mfus_are_explained_by_the_right_peak(line):
    candidates = candidate_peaks(ACCELERATORS[line.gpu], line.precision)
    model = MODELS[line.model]
    best = explanations(model, line.sequence_length, line.rate, line.mfu, candidates)[0]
    assert best.peak is candidates[0]
    assert abs(best.off) < 0.01


@pytest.mark.parametrize("counting", CONVENTIONS)
@pytest.mark.parametrize(
    ("factor", "key"), [(1.0, "dense"), (2.0, "sparse"), (0.5, "half"), (312 / 989, "other")]
)
def test_every_wrong_peak_is_caught(counting, factor, key):
    right = right_peak(H100, "bf16").rate
    printed = utilization(token_operations(LLAMA, 4096, counting), 9600, right * factor)
    candidates = candidate_peaks(H100, "bf16")
    found = explanations(LLAMA, 4096, 9600, printed, candidates)
    assert key in {one.peak.key for one in found if abs(one.off) < 0.02}


def test_the_question_that_was_asked_divides_by_the_peak_with_sparsity():
    assert nearest(H100, "bf16", 0.243).peak.key == "sparse"
    assert nearest(H100, "bf16", 0.46).peak.key == "dense"


def test_an_mfu_above_one_hundred_percent_is_an_older_gpus_peak():
    assert nearest(H100, "bf16", 1.443).peak.name.startswith("A100")


def test_fp8_runs_are_measured_against_the_fp8_peak():
    assert right_peak(H100, "fp8").rate == 1979e12


def test_a_gpu_without_bf16_is_measured_against_fp16():
    assert right_peak(ACCELERATORS["V100-SXM-32GB"], "bf16").name.endswith("fp16")
