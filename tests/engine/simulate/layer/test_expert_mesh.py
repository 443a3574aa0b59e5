"""Expert groups by convention: as the frameworks' own documentation prints them."""

from engine.simulate.layer.expert_mesh import ExpertMesh
from engine.simulate.step.rank_map import Mesh
from tests.each import each

DEEPSPEED = ExpertMesh(tensor=2, context=1, data=8, pipeline=1, expert=4, convention="within")
MEGATRON = ExpertMesh(tensor=4, context=2, data=8, pipeline=4, expert=64)
AXES = ("tensor", "context", "data", "pipeline", "expert", "expert_data")


def test_deepspeeds_own_example_of_16_ranks():
    # deepspeed/utils/groups.py, "Example - E + M + D parallel".
    assert DEEPSPEED.along("expert") == (
        (0, 2, 4, 6),
        (1, 3, 5, 7),
        (8, 10, 12, 14),
        (9, 11, 13, 15),
    )
    assert DEEPSPEED.along("expert_data")[:4] == ((0, 8), (1, 9), (2, 10), (3, 11))


def test_megatrons_own_example_of_256_gpus():
    # Megatron Core's MoE page: TP 4, CP 2, DP 8, PP 4 allow EP 8 without folding, 64 with it.
    assert (MEGATRON.world_size, MEGATRON.fits, MEGATRON.expert_data) == (256, True, 1)
    traditional = ExpertMesh(tensor=4, context=2, data=8, pipeline=4, expert=8, convention="within")
    assert (traditional.world_size, traditional.fits) == (256, True)


@each("expert", [1, 2, 8])
def test_experts_add_no_rank(expert):
    mesh = ExpertMesh(tensor=2, context=2, data=8, pipeline=2, expert=expert)
    assert mesh.world_size == 64


@each("convention", ["folded", "within"])
@each("axis", AXES)
def test_every_rank_is_in_one_group_of_every_axis(axis, convention):
    mesh = ExpertMesh(tensor=2, context=2, data=4, pipeline=2, expert=4, convention=convention)
    ranks = sorted(rank for group in mesh.along(axis) for rank in group)
    assert ranks == list(range(32))


def test_an_expert_of_two_tensor_ranks_keeps_them_side_by_side():
    mesh = ExpertMesh(tensor=4, context=1, data=2, pipeline=1, expert=4, expert_tensor=2)
    assert mesh.along("expert") == ((0, 2, 4, 6), (1, 3, 5, 7))


@each("axis", ["tensor", "context", "pipeline", "expert"])
def test_the_map_has_the_same_groups(axis):
    sizes = {"tensor": 2, "context": 2, "data": 4, "pipeline": 2}
    mesh = ExpertMesh(**sizes, expert=8)
    drawn = Mesh(
        sizes=sizes, order=("tensor", "context", "data", "pipeline"), expert=8, gpus_per_node=8
    )
    assert sorted(mesh.along(axis)) == sorted(drawn.groups(axis))


def test_experts_that_do_not_divide_the_data_ranks_do_not_fit_within_them():
    sizes = {"tensor": 8, "context": 1, "data": 4, "pipeline": 1, "expert": 8}
    assert not ExpertMesh(**sizes, convention="within").fits
    assert ExpertMesh(**sizes).fits
