"""A mesh is read from PyTorch's call and from Megatron's flags, and what is wrong is said."""

import pytest

from engine.core.inputs import InputError
from engine.run.mesh_text import read_mesh
from tests.each import each

FLAGS = "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4"
SCRIPT = """
GPUS_PER_NODE=8
NNODES=2
torchrun --nproc-per-node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py \\
    --tensor-model-parallel-size 2 \\
    --pipeline-model-parallel-size 2 --context-parallel-size 2
"""


def test_the_last_dimension_of_a_mesh_is_the_innermost():
    found = read_mesh(
        'mesh = init_device_mesh("cuda", (3, 2, 4), mesh_dim_names=("pp", "dp", "tp"))'
    )
    assert list(found.sizes.items()) == [("tp", 4), ("dp", 2), ("pp", 3)]


@each(
    "text",
    [
        "init_device_mesh('cuda', [2, 8])",
        "init_device_mesh(device_type, mesh_shape=(2, 8,))",
        'init_device_mesh(\n    "cuda",\n    (2, 8),\n)',
    ],
)
def test_a_mesh_without_names_has_numbered_dimensions(text):
    assert list(read_mesh(text).sizes.items()) == [("dim1", 8), ("dim0", 2)]


def test_flags_without_gpus_need_as_few_as_fit():
    found = read_mesh(FLAGS)
    assert (list(found.sizes.items()), found.assumed) == (
        [("tp", 2), ("cp", 1), ("dp", 1), ("pp", 4)],
        True,
    )


def test_what_is_left_is_data_parallel():
    assert read_mesh(FLAGS, 16).sizes["dp"] == 2


def test_a_launch_script_says_how_many_gpus():
    found = read_mesh(SCRIPT)
    assert (found.world_size, found.sizes["dp"], found.assumed) == (16, 2, False)


def test_the_other_mapping_puts_pipeline_before_data():
    assert list(read_mesh(FLAGS + " --use-tp-pp-dp-mapping", 16).sizes) == ["tp", "cp", "pp", "dp"]


def test_experts_have_a_mesh_of_their_own_over_the_same_ranks():
    found = read_mesh(FLAGS + " --expert-model-parallel-size 4 --expert-tensor-parallel-size 1", 32)
    assert list(found.experts.items()) == [("etp", 1), ("ep", 4), ("edp", 2), ("pp", 4)]


@each(("experts", "mesh"), [(1, {}), (2, {"etp": 2, "ep": 2, "edp": 1, "pp": 4})])
def test_a_mesh_of_experts_is_told_from_two_of_them_on(experts, mesh):
    assert read_mesh(f"{FLAGS} --expert-model-parallel-size {experts}", 16).experts == mesh


@each(
    ("text", "world", "said"),
    [
        ("hello", 0, "no mesh is in this text"),
        (FLAGS, 12, "12 GPUs are no multiple of tp x cp x pp = 2 x 1 x 4 = 8"),
        (FLAGS + " --expert-model-parallel-size 3", 16, "no multiple of etp x ep x pp"),
        ("--tensor-model-parallel-size zwei", 0, "allowed is a whole number"),
        ('init_device_mesh("cuda", (2, n))', 0, "needs a shape of whole numbers"),
        ('init_device_mesh("cuda", (2, 8), mesh_dim_names=("dp",))', 0, "2 dimensions and 1"),
        ('init_device_mesh("cuda", (2, 8), mesh_dim_names=("a", "a"))', 0, "different names"),
        ('init_device_mesh("cuda", (100, 100))', 0, "allowed are 1 to 4,096"),
    ],
)
def test_what_does_not_fit_is_said(text, world, said):
    with pytest.raises(InputError, match=said):
        read_mesh(text, world)
