"""Against Holistic Trace Analysis, on its own traces."""

import json
from dataclasses import replace
from itertools import accumulate
from math import ceil, floor

import pytest

from engine.run.traces.document import read_traces
from engine.simulate.traced.account import Sorted, TimeUse
from engine.simulate.traced.rules import RULES, read_rules
from tests.engine.run.traces.files import fixture

POINTS = 0.02
MICROS = 1e6  # in a second


def whole(rank):
    found = Sorted(rank, read_rules(RULES))
    return found.use(0.0, found.end)


def without(rank, dropped):
    kept = [at for at in range(len(rank.start)) if at not in dropped]
    columns = {
        name: tuple(getattr(rank, name)[at] for at in kept)
        for name in ("start", "end", "name", "stream")
    }
    return replace(rank, **columns, calls={})


def shares(use: TimeUse):
    apart = use.exposed + use.copies
    return use.share(use.idle), use.share(use.compute), use.share(apart)


def test_published_breakdown_of_an_inference_trace():
    """test_mtia_temporal_breakdown of its test_trace_analysis.py, in microseconds."""
    (rank,) = read_traces(fixture("mtia.gz"))
    published = (5648827 / 13328347, 7305596 / 13328347, 373924 / 13328347)
    assert shares(whole(rank)) == pytest.approx(published, abs=0.002)


def test_the_difference_of_a_published_sum_of_kernels_is_its_rounding():
    """test_get_mtia_kernel_breakdown: the copies take 400,892 microseconds together.

    It rounds the start of a kernel up and its end down to whole microseconds: 22,224 short copies
    lose almost one each (`round_down_time_stamps` of its trace_parser.py).
    """
    (rank,) = read_traces(fixture("mtia.gz"))
    copies = [
        (MICROS * start, MICROS * end)
        for start, end, name in zip(rank.start, rank.end, rank.name, strict=True)
        if rank.names[name][1] == "dma_request"
    ]
    ours = sum(end - start for start, end in copies)
    theirs = sum(floor(rank.origin + end) - ceil(rank.origin + start) for start, end in copies)
    assert len(copies) == 22_224
    assert ours / 13_328_347 == pytest.approx(400_892 / 13_328_347, abs=POINTS)
    assert theirs == pytest.approx(400_892, rel=POINTS)
    assert abs(theirs - 400_892) < abs(ours - 400_892)


def test_the_difference_on_a_training_trace_is_the_kernels_it_leaves_out():
    """HTA 0.5.0: compute 69.1 %, idle 6.9 %, overlap 69.1 %.

    It leaves out the last step and kernels whose launch is not in the trace; ours counts them.
    """
    text = fixture("trace_diff_test.gz")
    (rank,) = read_traces(text)
    dropped = set(accumulate(json.loads(text)["not_launched"]))
    assert len(dropped) == 3117
    theirs = whole(without(rank, dropped))
    assert theirs.share(theirs.compute) == pytest.approx(0.691, abs=POINTS)
    assert theirs.share(theirs.idle) == pytest.approx(0.069, abs=POINTS)
    assert theirs.overlap == pytest.approx(0.691, abs=POINTS)
    ours = whole(rank)
    assert ours.share(ours.idle) < theirs.share(theirs.idle) - POINTS


def test_all_parts_are_the_whole():
    for name in ("mtia.gz", "nccl_data.gz", "sampled.gz", "trace_diff_test.gz"):
        for rank in read_traces(fixture(name)):
            use = whole(rank)
            parts = use.compute + use.exposed + use.copies + use.idle
            assert parts == pytest.approx(use.length)
            assert use.hidden + use.exposed == pytest.approx(use.communication)
