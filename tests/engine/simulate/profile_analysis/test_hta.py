"""Against Holistic Trace Analysis, on its own traces."""

import json
from dataclasses import replace
from itertools import accumulate
from math import ceil, floor

import pytest

from engine.run.traces.document import read_traces
from engine.simulate.profile_analysis.account import ClassifiedTrace
from engine.simulate.profile_analysis.rules import RULES, parse_rules
from tests.each import each
from tests.engine.run.traces.files import fixture

POINTS = 0.02
MICROS = 1e6  # in a second
# Of every public trace with a GPU in it, what HTA 0.5.0 says with include_last_profiler_step=True,
# in percent: idle_time, compute_time and non_compute_time of get_temporal_breakdown, and
# get_comm_comp_overlap (None where the trace holds no communication).
FIGURES = {
    "alexnet.gz": (99.49, 0.08, 0.43, None),
    "df_index_resolver.gz": (42.26, 35.81, 21.93, 0.0),
    "event_sync.gz": (78.71, 18.63, 2.66, None),
    "event_sync_multi_stream.gz": (98.08, 1.9, 0.02, None),
    "execution_trace.gz": (99.99, 0.01, 0.0, None),
    "mi250.json.gz": (98.53, 1.08, 0.39, None),
    "mtia.gz": (42.39, 54.81, 2.8, None),
    "mtia_inference.gz": (4.34, 94.66, 1.0, None),
    "nccl_data.gz": (76.68, 17.11, 6.21, 15.14),
    "negative_queue_length.gz": (69.01, 14.62, 16.37, 1.47),
    "ns_resolution.gz": (2.53, 96.85, 0.62, None),
    "sampled.gz": (55.21, 17.2, 27.59, 14.95),
    "sampled.gz, rank 1": (52.89, 22.09, 25.02, 19.93),
    "simple_add.gz": (99.7, 0.06, 0.24, None),
    "trace_compare_base.gz": (99.99, 0.01, 0.0, None),
    "trace_compare_test.gz": (0.0, 100.0, 0.0, None),
    "trace_diff_control.gz": (16.36, 60.56, 23.08, 46.24),
    "trace_diff_test.gz": (6.94, 69.12, 23.94, 69.07),
    "trace_file_list.gz": (98.16, 1.84, 0.0, None),
    "triton.json.gz": (0.0, 100.0, 0.0, None),
}
# The rule that explains a difference: HTA leaves out what was launched after the last step, or
# whose launch the trace does not hold (`_filter_irrelevant_gpu_kernels` of its trace.py).
NOT_LAUNCHED = {
    "negative_queue_length.gz": 872,
    "trace_compare_test.gz": 16,
    "trace_diff_test.gz": 614,
}


def opened(called):
    """Return a rank, and the places of the events that HTA leaves out of it."""
    name, _, number = called.partition(", rank ")
    text = fixture(name)
    left_out = json.loads(text).get("not_launched", [])
    return read_traces(text)[int(number or 0)], set(accumulate(left_out))


def between(rank):
    """Return where the time from the first event to the last one went."""
    return ClassifiedTrace(rank, parse_rules(RULES)).time_use(min(rank.start), max(rank.end))


def without(rank, dropped):
    kept = [at for at in range(len(rank.start)) if at not in dropped]
    columns = {
        name: tuple(getattr(rank, name)[at] for at in kept)
        for name in ("start", "end", "name", "stream")
    }
    return replace(rank, **columns, calls={})


def shares(use):
    apart = use.exposed + use.copies
    return use.share(use.idle), use.share(use.compute), use.share(apart)


def apart(use, figures):
    """Return by how much each of HTA's four figures differs."""
    ours = (*shares(use), use.overlap)
    pairs = zip(ours, figures, strict=True)
    return [abs(mine - theirs / 100) for mine, theirs in pairs if theirs is not None]


def test_published_breakdown_of_an_inference_trace():
    """test_mtia_temporal_breakdown of its test_trace_analysis.py, in microseconds."""
    (rank,) = read_traces(fixture("mtia.gz"))
    published = (5648827 / 13328347, 7305596 / 13328347, 373924 / 13328347)
    assert shares(between(rank)) == pytest.approx(published, abs=0.002)


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


@each("called", FIGURES)
def test_every_figure_is_within_two_points_once_the_same_events_count(called):
    rank, left_out = opened(called)
    assert len(left_out) == NOT_LAUNCHED.get(called, 0)
    use = between(without(rank, left_out) if left_out else rank)
    assert max(apart(use, FIGURES[called])) < POINTS


@each("called", NOT_LAUNCHED)
def test_the_difference_is_the_kernels_that_it_leaves_out(called):
    rank, left_out = opened(called)
    assert max(apart(between(rank), FIGURES[called])) > POINTS
    assert max(apart(between(without(rank, left_out)), FIGURES[called])) < POINTS / 100


def test_all_parts_are_the_whole():
    for called in FIGURES:
        use = between(opened(called)[0])
        parts = use.compute + use.exposed + use.copies + use.idle
        assert parts == pytest.approx(use.length)
        assert use.hidden + use.exposed == pytest.approx(use.communication)
