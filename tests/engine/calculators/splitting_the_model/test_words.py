"""A noun agrees with its number at both ends of every scale, and nothing is sent by one stage."""

import pytest

from engine.calculator import load, make
from engine.core.text import render_text
from engine.form.plural import pluralize

MODELER, LAB = load("parallelism_modeler"), load("schedule_lab")
ALONE = {"tensor_parallel": 1, "pipeline_parallel": 1, "data_parallel": 1, "num_microbatches": 1}


@pytest.mark.parametrize(
    ("count", "one", "said"),
    [(1, "micro-batch", "micro-batch"), (2, "micro-batch", "micro-batches"), (0, "GPU", "GPUs")],
)
def test_a_noun_agrees_with_its_number(count, one, said):
    assert pluralize(count, one) == said


def test_one_gpu_is_one_gpu():
    note = render_text(MODELER.compute(make(MODELER, ALONE))["step"].note)
    assert note.startswith("4,096 tokens on 1 GPU; a range from ")


def test_one_stage_sends_nothing_over_a_boundary():
    found = MODELER.compute(make(MODELER, ALONE))
    assert found["transfer"].value == found["transfer_total"].value == 0


def test_one_micro_batch_is_one_micro_batch():
    badge = LAB.compute(make(LAB, {"num_microbatches": 1}))["regime"]
    assert render_text(badge.sentence).endswith("4 stages fill and drain for only 1 micro-batch.")
