"""Names along a matrix of traffic stay apart, and the reader's own is always there."""

from itertools import pairwise

import pytest

from engine.calculators.splitting_the_model.parallel_map.traffic_matrix import (
    MARGIN,
    SIDE,
    Matrix,
    matrix_scene,
)


def columns(count, chosen):
    names = tuple(map(str, range(count)))
    matrix = Matrix(kind="rank", names=names, cells={(0, 1): {"tensor": 1e9}}, per_node=8)
    scene = matrix_scene(matrix, "Who sends to whom", (("", "all"),), chosen)
    above = [one for one in scene.frames[0].shapes if one.key.startswith("q") and one.text]
    return {int(one.text): one.attributes for one in above}


@pytest.mark.parametrize("count", [4, 12, 24, 64])
@pytest.mark.parametrize("chosen", [0, 3])
def test_no_two_names_of_columns_touch(count, chosen):
    found = columns(count, chosen)
    ends = [
        (float(look["x"]), 0.3 * len(str(name)) * float(look["font-size"]))
        for name, look in sorted(found.items())
    ]
    gaps = [b[0] - b[1] - a[0] - a[1] for a, b in pairwise(ends)]
    assert min(gaps) > 0
    assert chosen in found


def test_few_columns_are_all_named():
    assert list(columns(8, 3)) == list(range(8))
    assert (SIDE - MARGIN) / 24 < 22  # the columns of 24 ranks, which two digits fill
    assert 13 in columns(24, 13)
    assert 14 not in columns(24, 13)
