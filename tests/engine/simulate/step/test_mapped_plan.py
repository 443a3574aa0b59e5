"""A plan on its machines: the order of the ranks decides the wires, never the bytes."""

from dataclasses import replace
from itertools import permutations

import pytest

from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.simulate.network.traffic_matrix import party_traffic
from engine.simulate.step.mapped_plan import mapped_plan
from engine.simulate.step.step_time import step_time

# 24 GPUs: tensor 4, data 2, pipeline 3.
RUN, _ = nearest_run(
    replace(
        Inputs(),
        model="gpt-22b",
        world_size=24,
        tensor_parallel=4,
        pipeline_parallel=3,
        context_parallel=1,
        overlap_tensor_parallel=False,
        global_batch_size=128,
        micro_batch_size=4,
    )
)
MEGATRON = ("tensor", "context", "data", "pipeline")
PLAN = mapped_plan(RUN, MEGATRON)


def test_inside_out_is_the_order_of_the_estimates():
    usual = step_time(RUN.model, RUN.cluster, RUN.plan, RUN.training)
    assert PLAN.step.tensor_parallel == pytest.approx(usual.tensor_parallel)
    assert PLAN.step.compute == usual.compute


@pytest.mark.parametrize("order", list(permutations(MEGATRON)))
def test_no_order_changes_the_bytes(order):
    found = mapped_plan(RUN, order)
    assert [one.sent for one in found.traffic.values()] == [
        one.sent for one in PLAN.traffic.values()
    ]


def test_what_the_step_waits_for_is_the_sum_over_the_axes():
    axes = ("tensor", "context", "expert", "data", "pipeline")
    assert PLAN.total_exposed == pytest.approx(sum(PLAN.exposed(axis) for axis in axes))


def test_a_swap_is_the_plan_in_that_order():
    for swap in PLAN.swaps:
        assert mapped_plan(RUN, swap.order).step == swap.step


def test_what_crosses_nodes_is_what_leaves_them():
    cells = party_traffic(PLAN.mesh, PLAN.traffic, PLAN.mesh.gpus_per_node)
    across = sum(sum(cell.values()) for (a, b), cell in cells.items() if a != b)
    # Ranks at the ends of the pipeline send half of what one in the middle does: 4/3 of 2 ends.
    pipeline = PLAN.traffic["pipeline"].sent
    others = [one for axis, one in PLAN.traffic.items() if axis != "pipeline"]
    mean = sum(one.sent * one.across for one in others)
    assert across == pytest.approx(24 * mean + 16 * pipeline)
