"""What a plan has otherwise, as a text that is read back."""

from dataclasses import replace

import pytest

from engine.run.file import read_run
from engine.run.importers.assemble import DGX_H100
from engine.run.plan_difference import apply_plan_difference, format_plan_difference

RUN = read_run(
    {
        "model": "llama-3-8b",
        "sequence_length": 8192,
        "cluster": DGX_H100,
        "parallelism": {"world_size": 64, "tensor_parallel": 2},
        "training": {"micro_batch_size": 1, "global_batch_size": 64, "precision": "bf16"},
    }
)


@pytest.mark.parametrize("before", [True, False])
def test_what_is_told_of_a_plan_is_read_back(before):
    one = replace(RUN, plan=replace(RUN.plan, sequence_parallel=before))
    other = replace(
        one,
        plan=replace(one.plan, sequence_parallel=not before, tensor_parallel=4),
        training=replace(one.training, recompute="full"),
    )
    text = format_plan_difference(one, other)
    assert text == f"tensor_parallel=4 sequence_parallel={not before} recompute=full"
    assert apply_plan_difference(one, text) == other
    assert apply_plan_difference(one, "") == one
