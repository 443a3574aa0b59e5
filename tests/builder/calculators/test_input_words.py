"""Words that find an input: flags of the readers, and names of the forms' inputs."""

import pytest

from builder.calculators.input_words import _WORDS, input_words
from engine.calculator import load


def test_words_are_of_inputs_that_a_long_form_has():
    forms = [load(name).fields for name in ("estimate_run", "job_planner")]
    assert set(_WORDS) - set().union(*forms) == set()


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("tensor_parallel", ["tensor-model-parallel-size", "tensor_parallel_degree"]),
        ("micro_batch_size", ["micro-batch-size", "train_micro_batch_size_per_gpu"]),
        ("overlap_tensor_parallel", ["tp-comm-overlap"]),
        ("zero_stage", ["use-distributed-optimizer", "zero_optimization.stage"]),
    ],
)
def test_an_input_is_found_by_the_flags_that_its_readers_take(name, flags):
    found = input_words(name)
    assert [flag for flag in flags if flag not in found] == []


def test_an_input_without_other_names_has_none():
    assert input_words("other_machine") == ""
