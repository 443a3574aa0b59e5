import pytest

from engine.run.traces.document import read_traces
from engine.simulate.profile_analysis.check import check_trace
from engine.simulate.profile_analysis.collectives import (
    clock_offset,
    collective_kinds,
    nccl_operation,
)
from engine.simulate.profile_analysis.rules import RULES
from tests.engine.run.traces.files import collective, event, fixture, kineto, step, together

MICRO = 1e-6


def two(late=40.0, ahead=0.0):
    """Two ranks, two steps: rank 1 comes `late` microseconds after rank 0 to every all-reduce."""
    files = []
    for rank in (0, 1):
        events = []
        for number in (0, 1):
            at = 1000.0 + 500 * number + rank * ahead
            mine = late * rank
            events += [
                event("gemm", at, 100 + mine),
                collective(at + 100 + mine, 100 - mine, sent=100_000, got=100_000),
                step(number, at, 300, device=True),
            ]
        files.append(kineto(events, rank=rank))
    return check_trace(together(*files), RULES)


def test_the_rank_with_the_shortest_kernel_came_last():
    found = two()
    assert found.straggler == 1
    assert len(found.collectives) == 2
    assert found.waits[0][1] == pytest.approx(80 * MICRO)
    assert found.wait_suffered(1) == 0.0
    assert found.wait_caused(1) == pytest.approx(80 * MICRO)


def test_waiting_needs_no_common_clock_and_the_clocks_are_compared():
    found = two(ahead=7000.0)
    assert found.waits[0][1] == pytest.approx(80 * MICRO)
    assert clock_offset(found.ranks, found.collectives, 1) == pytest.approx(7000 * MICRO, abs=1e-9)


def test_nobody_waits_in_equal_traces():
    found = two(late=0.0)
    assert found.straggler is None


def test_bus_bandwidth_counts_from_the_last_arrival_on():
    """400 kB among four ranks in 60 microseconds: 2 * 3/4 * 400 kB / 60 us = 10 GB/s."""
    found = two()
    for place in (0, 1):
        (kind,) = collective_kinds(found.ranks[place], (0.0, 1.0), place, found.collectives)
        assert (kind.size, kind.ranks, kind.count) == (400_000, 4, 2)
        assert kind.bus_bandwidth == pytest.approx(10e9)
    alone = collective_kinds(found.ranks[0], (0.0, 1.0), 0, ())
    assert alone[0].bus_bandwidth == pytest.approx(6e9), "with one file the wait is part of it"


def test_bus_bandwidth_of_a_recorded_trace():
    """nccl_data: 4 * 6,637,568 bytes among two ranks; one all-reduce of them took 2,636.669 us."""
    found = check_trace(fixture("nccl_data.gz"), RULES)
    one, size = found.ranks[0], 4 * 6637568
    of_size = [at for at, call in one.trace.calls.items() if call.size == size]
    times = {round((one.trace.end[at] - one.trace.start[at]) * 1e9): at for at in of_size}
    start = one.trace.start[times[2_636_669]]
    (kind,) = collective_kinds(one, (start, start + 1e-9), 0, ())
    assert kind.bus_bandwidth == pytest.approx(size / 2636.669e-6)


def test_collectives_of_recorded_traces_are_matched():
    """Two of 128 ranks of one job: no sizes are recorded, names and turns match them."""
    found = check_trace(fixture("sampled.gz"), RULES)
    assert len(found.collectives) >= 10
    assert all(one.wait(place) >= 0 for one in found.collectives for place in one.times)
    total = sum(one.wait(place) for one in found.collectives for place in one.times)
    assert sum(map(sum, found.waits)) == pytest.approx(total)


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("_allgather_base", "all_gather"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("allreduce", "all_reduce"),
        ("all_to_allv", "all_to_all"),
        ("send", None),
        ("barrier", None),
    ],
)
def test_names_of_pytorch(name, operation):
    assert nccl_operation(name) == operation


def test_sends_and_receives_are_not_matched():
    files = [kineto([collective(0, 5 + rank, name="send")], rank=rank) for rank in (0, 1)]
    assert check_trace(together(*files), RULES).collectives == ()


def test_ranks_are_read_in_the_order_of_their_numbers():
    ranks = read_traces(fixture("sampled.gz"))
    assert [one.world_size for one in ranks] == [128, 128]
