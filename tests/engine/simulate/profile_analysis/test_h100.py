"""A trace of an H100, against what PyTorch's profiler itself adds up over it."""

import json
from collections import defaultdict

import pytest

from engine.run.traces.document import read_traces
from engine.run.traces.kineto import LONGEST_NAME
from engine.simulate.profile_analysis.account import ClassifiedTrace
from engine.simulate.profile_analysis.collectives import trace_steps
from engine.simulate.profile_analysis.rules import RULES, UNKNOWN, parse_rules
from tests.engine.run.traces.files import DATA, fixture


def sums():
    """Return runs and microseconds of each kernel; names are cut as the reader cuts them."""
    given = json.loads((DATA / "h100_steps_sums.json").read_text(encoding="utf-8"))["kernels"]
    found = defaultdict(lambda: [0, 0.0])
    for name, (count, time) in given.items():
        found[name[:LONGEST_NAME]][0] += count
        found[name[:LONGEST_NAME]][1] += time
    return found


SUMS = sums()


@pytest.fixture(scope="module")
def trace():
    (rank,) = read_traces(fixture("h100_steps.json.gz"))
    return rank


def test_every_kernel_ran_as_often_and_as_long_as_the_profiler_says(trace):
    found = defaultdict(lambda: [0, 0.0])
    for at, name in enumerate(trace.name):
        one = found[trace.names[name][1]]
        one[0] += 1
        one[1] += 1e6 * (trace.end[at] - trace.start[at])
    assert set(found) == set(SUMS)
    for name, (count, time) in SUMS.items():
        assert found[name][0] == count, name
        assert found[name][1] == pytest.approx(time, abs=0.01), name


def test_one_stream_is_busy_for_the_sum_of_its_kernels(trace):
    use = ClassifiedTrace(trace, parse_rules(RULES)).time_use(0.0, max(trace.end))
    assert len(trace.streams) == 1
    assert 1e6 * (use.compute + use.copies) == pytest.approx(sum(time for _, time in SUMS.values()))
    assert use.communication == 0


def test_steps_with_annotated_parts_are_those_of_the_host(trace):
    """On the GPU the mark of a step covers one copy of 3 us: the rest is its parts' own."""
    device = [mark.end - mark.start for mark in trace.steps if mark.device]
    assert all(length < 5e-6 for length in device)
    found = trace_steps(trace)
    assert (found.by, found.numbers) == ("host", (4, 5, 6))
    lengths = [1e3 * (end - start) for start, end in found.windows]
    assert lengths == pytest.approx([14.493, 13.402, 14.048], abs=0.01)


def test_every_kernel_of_a_llama_is_named_and_nothing_is_a_convolution(trace):
    rules = parse_rules(RULES)
    groups = {rules.group(kind, name) for kind, name in trace.names}
    assert UNKNOWN not in groups
    assert "convolution" not in groups
    assert {"attention", "matrix products", "optimizer", "memory copies"} <= groups
