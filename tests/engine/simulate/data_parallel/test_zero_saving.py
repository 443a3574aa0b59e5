"""What sharding takes off a rank and adds to the wire: the table of Rajbhandari et al. 2020."""

import pytest

from engine.formulas.states import MIXED_PRECISION
from engine.simulate.data_parallel.zero_saving import ZeroJob, rank_bytes_sent, stage_sharding

JOB = ZeroJob(parameters=7.5e9, types=MIXED_PRECISION, ranks=64, num_microbatches=1)


@pytest.mark.parametrize(("stage", "held"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_the_published_gigabytes_of_7_5_billion_on_64(stage, held):
    assert stage_sharding(JOB, stage).states.total / 1e9 == pytest.approx(held, abs=0.05)


@pytest.mark.parametrize(("stage", "extra"), [(0, 1), (1, 1), (2, 1), (3, 1.5)])
def test_the_published_volume_over_plain_data_parallelism(stage, extra):
    assert stage_sharding(JOB, stage).extra == extra


def test_stage_3_gathers_twice_and_reduces_once_in_every_micro_batch():
    # 3 passes of 15 GB, 63/64 of it sent, four times.
    assert rank_bytes_sent(JOB, 3, 4) == pytest.approx(4 * 3 * 15e9 * 63 / 64)
