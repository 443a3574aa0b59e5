"""The rank lists of a pasted mesh: what is shown is what the frameworks form."""

import ast

from engine.calculator import load, make
from tests.each import each

LISTS = load("rank_lists")
MESH = 'init_device_mesh("cuda", (3, 2, 4), mesh_dim_names=("pp", "dp", "tp"))'


def views(**values):
    found = LISTS.compute(make(LISTS, values))
    return {key: view() if callable(view) else view for key, view in found.items()}


def listed(**values):
    text = views(**values)["lists"].text
    return ast.literal_eval(text.removeprefix("groups = "))


def test_the_lists_are_those_of_megatrons_documentation():
    found = listed()
    assert found["tp"][:3] == [[0, 1], [2, 3], [4, 5]]
    assert found["dp"] == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9, 11], [12, 14], [13, 15]]
    assert found["pp"] == [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]


def test_the_lists_of_a_mesh_are_those_that_pytorch_prints():
    found = listed(text=MESH)
    assert found["tp"][1] == [4, 5, 6, 7]
    assert found["dp"][1] == [1, 5]
    assert found["pp"][5] == [5, 13, 21]


def test_the_other_convention_is_the_same_mesh():
    other = views()["other"].text
    again = listed(text=other)
    assert {axis: again[axis] for axis in ("tp", "dp", "pp")} == {
        axis: ranks for axis, ranks in listed().items() if axis in ("tp", "dp", "pp")
    }


@each("rank", [0, 5, 15])
def test_the_groups_of_a_gpu_hold_it(rank):
    rows = views(rank=rank)["mine"].rows
    assert all(f"{rank}" in str(row[1]).strip("[]").replace(",", "").split() for row in rows)


def test_a_world_that_does_not_divide_is_said():
    text = "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 3"
    found = views(text=text, world_size=32)
    assert (found["answer"].text, found["answer"].color) == ("No mesh", "bad")
