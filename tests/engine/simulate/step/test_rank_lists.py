"""Rank lists as the frameworks document or print them; expected values are retyped from there."""

from engine.simulate.layer.expert_mesh import ExpertMesh
from engine.simulate.step.rank_lists import AxisLayout, rank_lists
from tests.each import each

# Megatron Core, parallel_state.initialize_model_parallel: 16 GPUs, 2 for tensors, 4 stages.
SIXTEEN = AxisLayout(sizes={"tp": 2, "cp": 1, "dp": 2, "pp": 4})
DOCUMENTED = {
    "dp": ((0, 2), (1, 3), (4, 6), (5, 7), (8, 10), (9, 11), (12, 14), (13, 15)),
    "tp": ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 15)),
    "pp": ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
}


@each("axis", list(DOCUMENTED))
def test_megatron_documents_these_groups_of_16_gpus(axis):
    assert rank_lists(SIXTEEN, (axis,)) == DOCUMENTED[axis]


# Megatron Core, generate_masked_orthogonal_rank_groups: 8 GPUs, order tp-pp-dp, 2 x 2 x 2.
def test_megatron_documents_the_data_groups_of_tp_pp_dp():
    layout = AxisLayout(sizes={"tp": 2, "pp": 2, "dp": 2})
    assert rank_lists(layout, ("dp",)) == ((0, 4), (1, 5), (2, 6), (3, 7))


def test_a_model_is_on_the_ranks_of_tensor_and_pipeline():
    layout = AxisLayout(sizes={"tp": 2, "dp": 2, "pp": 2})
    assert rank_lists(layout, ("tp", "pp")) == ((0, 1, 4, 5), (2, 3, 6, 7))


# PyTorch 2.13, init_device_mesh("cpu", (3, 2, 4), mesh_dim_names=("pp", "dp", "tp")), rank 5.
PRINTED = {"pp": (5, 13, 21), "dp": (1, 5), "tp": (4, 5, 6, 7)}


@each("axis", list(PRINTED))
def test_pytorch_prints_these_groups_of_rank_5(axis):
    layout = AxisLayout(sizes={"tp": 4, "dp": 2, "pp": 3})
    assert PRINTED[axis] in rank_lists(layout, (axis,))


@each("axis", ["tp", "cp", "dp", "pp"])
def test_every_rank_is_in_one_group_of_each_axis(axis):
    layout = AxisLayout(sizes={"tp": 2, "cp": 3, "dp": 2, "pp": 2})
    found = [rank for ranks in rank_lists(layout, (axis,)) for rank in ranks]
    assert sorted(found) == list(range(24))


# Experts of Megatron: a second mesh etp-ep-edp-pp over the same ranks.
@each(("ours", "theirs"), [("ep", "expert"), ("edp", "expert_data")])
def test_the_groups_of_experts_are_those_of_the_folded_mesh(ours, theirs):
    mesh = ExpertMesh(
        tensor=2, context=1, data=8, pipeline=2, expert=4, expert_tensor=2, convention="folded"
    )
    layout = AxisLayout(sizes={"etp": 2, "ep": 4, "edp": 2, "pp": 2})
    assert tuple(sorted(rank_lists(layout, (ours,)))) == mesh.along(theirs)
