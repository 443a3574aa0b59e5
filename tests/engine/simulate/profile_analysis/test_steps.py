from dataclasses import replace

import pytest

from engine.run.traces.document import read_traces
from engine.simulate.profile_analysis.collectives import find_period, trace_steps
from tests.engine.run.traces.files import event, fixture, kineto, step


def steps(events):
    (rank,) = read_traces(kineto(events))
    return trace_steps(rank)


def layers(number, start):
    """A step of three equal layers and an optimizer, 100 microseconds long."""
    names = [*(["norm", "gemm", "gemm"] * 3), f"adam{number * 0}"]
    return [event(name, start + 8 * at, 6) for at, name in enumerate(names)]


def test_marks_on_the_gpu_count_before_those_on_the_host():
    events = [
        event("gemm", 100, 5),
        event("gemm", 150, 5),
        step(1, 0, 50),
        step(2, 60, 40),
        step(1, 99, 40, device=True),
        step(2, 148, 10, device=True),
    ]
    found = steps(events)
    assert (found.by, found.numbers) == ("device", (1, 2))
    assert found.starts == pytest.approx((-1e-6, 48e-6))
    assert found.end == pytest.approx(58e-6)
    assert steps(events[:4]).by == "none", "marks that end before the GPU begins mark nothing"


def test_without_marks_a_step_begins_where_its_kernels_repeat():
    events = [one for number in range(4) for one in layers(number, 1000 + 100 * number)]
    found = steps(events)
    assert (found.by, len(found.starts)) == ("repetition", 4)
    lengths = [end - start for start, end in found.windows][:3]
    assert lengths == pytest.approx([100e-6] * 3)


def test_layers_that_repeat_within_a_step_are_no_steps():
    sequence = ([1, 2, 2] * 20 + [9]) * 3
    assert find_period(sequence) == (61, 0, 3)
    assert find_period([1, 2, 3, 4, 5, 6])[2] == 0


@pytest.mark.parametrize(("name", "tolerance"), [("nccl_data.gz", 0.03), ("sampled.gz", None)])
def test_repetition_finds_the_steps_that_real_traces_mark(name, tolerance):
    rank = read_traces(fixture(name))[0]
    marked, found = trace_steps(rank), trace_steps(replace(rank, steps=()))
    assert marked.by == "host"
    if tolerance is None:
        assert found.by == "none", "two steps with different kernels do not repeat"
        return
    assert (found.by, len(found.starts)) == ("repetition", len(marked.starts))
    for mine, theirs in zip(found.windows, marked.windows, strict=True):
        assert mine[1] - mine[0] == pytest.approx(theirs[1] - theirs[0], rel=tolerance)
