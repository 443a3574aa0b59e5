"""Muon over ranks, exactly: whole matrices give the update of one GPU, slices do not."""

import pytest

from engine.formulas.muon import muon_exchanged, muon_gathered
from engine.tiny.whole_matrices import SCHEMES, orthogonalize_step
from tests.each import each

WHOLE = [scheme for scheme in SCHEMES if scheme != "slices"]
SIZE = 64  # four matrices of four by four


@each("scheme", WHOLE)
@each("ranks", [1, 2, 4])
def test_whole_matrices_give_the_update_of_one_gpu(scheme, ranks):
    found = orthogonalize_step(ranks, scheme)
    assert found.off == 0.0
    assert found.values == found.alone


@each("ranks", [2, 4])
def test_slices_give_another_update_that_is_not_orthogonal(ranks):
    found = orthogonalize_step(ranks, "slices")
    assert found.off > 0.1
    assert min(values[-1] for values in found.values) < 0.2 < min(v[-1] for v in found.alone)


@each("ranks", [1, 2, 4])
def test_what_is_sent_is_what_the_formulas_say(ranks):
    sent = {s: orthogonalize_step(ranks, s).moments[-1].sent for s in SCHEMES}
    assert sent["gather"] == (muon_gathered(SIZE, ranks, 1.0),) * ranks
    assert sent["exchange"] == (muon_exchanged(SIZE, ranks, 1.0),) * ranks
    assert not any(sent["owner"] + sent["repeat"] + sent["slices"])


def test_sharing_out_divides_the_work_and_gathering_repeats_it():
    alone = orthogonalize_step(1, "owner").moments[-1].operations[0]
    # By hand: 2 (2 x 64 + 64) = 384 operations a step and matrix, five steps, four matrices.
    assert alone == 5 * 4 * 384
    assert orthogonalize_step(4, "gather").moments[-1].operations == (alone,) * 4
    assert orthogonalize_step(4, "exchange").moments[-1].operations == pytest.approx(
        (alone / 4,) * 4
    )


def test_nobody_holds_more_than_its_rows_before_and_after_an_exchange():
    moments = orthogonalize_step(4, "exchange").moments
    for now in (moments[0], moments[-1]):
        for rank, grids in enumerate(now.held):
            rows = {
                row for grid in grids for row, numbers in enumerate(grid) if numbers[0] is not None
            }
            assert rows == {rank}
