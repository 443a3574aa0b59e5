import pytest

from engine.simulate.streams.meters import LateRank, read_meters


def test_meters_worked_by_hand():
    # 1 s of computing, 8 s of spinning and 0.02 s of sending on 16 of 132 SMs, 1 s of computing.
    found = read_meters(LateRank(sm_busy=1.0))
    assert found.sm_active == pytest.approx((2 + 8.02 * 16 / 132) / 10.02)
    assert found.tensor_active == pytest.approx(2 * 0.5 / 10.02)
    assert found.waiting == pytest.approx(8 / 10.02)


def test_utilization_is_full_however_long_the_gpu_waits():
    assert read_meters(LateRank(late=30.0)).utilization == pytest.approx(1.0)


def test_a_rank_in_time_makes_nobody_wait():
    assert read_meters(LateRank(late=0.0)).spun == 0
