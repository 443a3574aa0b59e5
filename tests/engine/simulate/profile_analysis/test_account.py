import pytest

from engine.run.traces.document import read_traces
from engine.simulate.profile_analysis.account import (
    ClassifiedTrace,
    kernel_uses,
    merge_intervals,
    stream_uses,
)
from engine.simulate.profile_analysis.rules import RULES, UNKNOWN, parse_rules
from tests.engine.run.traces.files import event, kineto

MICRO = 1e-6


def sorted_of(events):
    (rank,) = read_traces(kineto(events))
    return ClassifiedTrace(rank, parse_rules(RULES))


EVENTS = [
    event("gemm", 0, 10),
    event("gemm", 5, 10, stream=8),
    event("ncclDevKernel", 12, 10, stream=20),
    event("Memcpy DtoH", 20, 10, stream=21, kind="gpu_memcpy"),
    event("gemm", 40, 10),
]


def test_every_moment_counts_once():
    """Computing 0 to 15 and 40 to 50, communication 12 to 22, a copy to 30, idle to 40."""
    use = sorted_of(EVENTS).time_use(0.0, 50 * MICRO)
    parts = (use.compute, use.communication, use.hidden, use.exposed, use.copies, use.idle)
    assert parts == pytest.approx([part * MICRO for part in (25, 10, 3, 7, 8, 10)])
    assert (use.copying, use.overlap) == pytest.approx((10 * MICRO, 0.3))


def test_a_window_cuts_what_it_holds():
    use = sorted_of(EVENTS).time_use(14 * MICRO, 45 * MICRO)
    parts = (use.length, use.compute, use.exposed, use.copies, use.idle)
    assert parts == pytest.approx([part * MICRO for part in (31, 6, 7, 8, 10)])


def test_windows_add_up_to_the_whole():
    found = sorted_of(EVENTS)
    whole = found.time_use(0.0, 50 * MICRO)
    cuts = [found.time_use(at * MICRO, (at + 5) * MICRO) for at in range(0, 50, 5)]
    for part in ("compute", "exposed", "copies", "idle", "communication"):
        assert sum(getattr(one, part) for one in cuts) == pytest.approx(getattr(whole, part))


def test_streams_and_kernels_by_their_time():
    found = sorted_of(EVENTS)
    uses = stream_uses(found, 0.0, 50 * MICRO)
    assert (uses[0].stream, uses[0].events, uses[0].mostly) == (7, 2, "matrix products")
    kernels = kernel_uses(found, 0.0, 50 * MICRO)
    assert (kernels[0].name, kernels[0].count) == ("gemm", 3)
    assert kernels[0].time == pytest.approx(30 * MICRO)


def test_what_no_rule_names_computes_and_is_listed():
    found = sorted_of([event("frobnicate", 0, 10), event("gemm", 10, 5)])
    assert found.time_use(0.0, 15 * MICRO).compute == pytest.approx(15 * MICRO)
    assert kernel_uses(found, 0.0, 15 * MICRO)[0].group == UNKNOWN


def test_overlaps_merge_and_gaps_stay():
    assert merge_intervals([(0, 2), (1, 3), (3, 4), (6, 7), (6.5, 6.6)]) == [(0, 4), (6, 7)]
    assert merge_intervals([]) == []
