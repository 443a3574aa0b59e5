import pytest

from engine.simulate.data_parallel.trace_hunt import rank_account
from engine.simulate.streams.multi_rank import multi_rank_program, rank_kernels
from engine.simulate.streams.streams import COMPUTE, NETWORK, StreamOp, run_program

OPS = (
    StreamOp(key="work", stream=COMPUTE, time=2.0),
    StreamOp(key="sum", stream=NETWORK, time=1.0, after=("work",)),
    StreamOp(key="more", stream=COMPUTE, time=0.5, after=("work",)),
)


@pytest.fixture
def played():
    return rank_kernels(run_program(multi_rank_program(OPS, (1.0, 2.0))))


def test_a_rank_that_waits_worked_by_hand(played):
    # Rank 0 computes 2 s and 0.5 s more beside the sum, which it enters at 2 s, that starts when
    # rank 1 has come, at 4 s, and ends at 5 s.
    found = rank_account(played, 0, step=6.0)
    assert (found.computing, found.communicating, found.spun) == pytest.approx((2.5, 3.0, 2.0))
    assert (found.exposed, found.utilization) == pytest.approx((2.5, 5 / 6))


def test_the_last_rank_does_not_spin(played):
    assert rank_account(played, 1, step=6.0).spun == 0
