"""Sizes of a pasted mesh at their limits, and which of several counts of GPUs is taken."""

import pytest

from engine.core.inputs import InputError
from engine.run.mesh_text import read_mesh
from tests.each import each


@each(
    ("text", "given", "world", "assumed"),
    [
        ("--tensor-model-parallel-size 2", 0, 2, True),
        ("--tensor-model-parallel-size 2", 8, 8, False),
        ("--tensor-model-parallel-size 2 --world-size 16", 8, 16, False),
        ("--tensor-model-parallel-size 2 --nproc-per-node 4", 8, 4, False),
        ("--tensor-model-parallel-size 2 --nnodes 3 --nproc-per-node 4", 8, 12, False),
        ("--tensor-model-parallel-size 2 --nnodes 6", 8, 6, False),
        ("--tensor-model-parallel-size 2 --nnodes 6 --world-size 4", 8, 4, False),
        ("--tensor-model-parallel-size 2 --nnodes 4096", 8, 4096, False),
        ("--pipeline-model-parallel-size 4096", 0, 4096, True),
        # The least that tp x cp = 2 and etp x ep = 6 both divide, for each of 3 stages.
        (
            "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 3 "
            "--expert-model-parallel-size 3",
            0,
            18,
            True,
        ),
        (
            "--tensor-model-parallel-size 4 --expert-model-parallel-size 6 "
            "--expert-tensor-parallel-size 1",
            0,
            12,
            True,
        ),
    ],
)
def test_a_script_says_how_many_gpus_there_are_or_the_least_is_taken(text, given, world, assumed):
    found = read_mesh(text, given)
    assert (found.world_size, found.assumed, found.source) == (world, assumed, "Megatron-LM")


def test_axes_of_experts_lie_over_the_same_ranks():
    text = (
        "--tensor-model-parallel-size 2 --context-parallel-size 2 --pipeline-model-parallel-size 2 "
        "--expert-model-parallel-size 4 --expert-tensor-parallel-size 1 --world-size 32"
    )
    found = read_mesh(text)
    assert list(found.sizes.items()) == [("tp", 2), ("cp", 2), ("dp", 4), ("pp", 2)]
    assert list(found.experts.items()) == [("etp", 1), ("ep", 4), ("edp", 4), ("pp", 2)]
    found = read_mesh(text + " --use-tp-pp-dp-mapping")
    assert list(found.sizes) == ["tp", "cp", "pp", "dp"]
    assert list(found.experts) == ["etp", "ep", "pp", "edp"]
    assert read_mesh("--expert-model-parallel-size 1").experts == {}


@each(
    ("text", "reason"),
    [
        (
            "--tensor-model-parallel-size 2 --world-size 3",
            "3 GPUs are no multiple of tp x cp x pp = 2 x 1 x 1 = 2",
        ),
        (
            "--pipeline-model-parallel-size 2 --expert-model-parallel-size 4 --world-size 4",
            "4 GPUs are no multiple of etp x ep x pp = 1 x 4 x 2 = 8",
        ),
        (
            "--tensor-model-parallel-size 0",
            "--tensor-model-parallel-size is '0'; allowed is a whole number from 1 to 4096",
        ),
        (
            "--tensor-model-parallel-size 4097",
            "--tensor-model-parallel-size is '4097'; allowed is a whole number from 1 to 4096",
        ),
        (
            "--tensor-model-parallel-size 2 --nnodes 513 --nproc-per-node 8",
            "the mesh has 4104 ranks; allowed are 1 to 4,096",
        ),
        ('init_device_mesh("cuda", (0, 2))', "the mesh has 0 ranks; allowed are 1 to 4,096"),
        ('init_device_mesh("cuda", (4097,))', "the mesh has 4097 ranks; allowed are 1 to 4,096"),
        (
            'init_device_mesh("cuda", (2, 2), mesh_dim_names=("a", "a"))',
            "the mesh has 2 dimensions and 1 different names; each needs one of its own",
        ),
        (
            'init_device_mesh("cuda", (2, 2), mesh_dim_names=("a",))',
            "the mesh has 2 dimensions and 1 different names; each needs one of its own",
        ),
        ("--world-size 8", "no mesh is in this text; allowed is init_device_mesh(...) of PyTorch"),
    ],
)
def test_sizes_that_do_not_fit_are_named(text, reason):
    with pytest.raises(InputError) as caught:
        read_mesh(text)
    assert str(caught.value).startswith(reason)


def test_the_last_dimension_of_a_mesh_is_the_innermost():
    found = read_mesh('init_device_mesh("cuda", (2, 4), mesh_dim_names=("dp", "tp"))')
    assert list(found.sizes.items()) == [("tp", 4), ("dp", 2)]
    assert (found.source, found.experts, found.assumed) == ("PyTorch", {}, False)
    found = read_mesh('init_device_mesh("cuda", (2, 1_024))')
    assert list(found.sizes.items()) == [("dim1", 1024), ("dim0", 2)]
