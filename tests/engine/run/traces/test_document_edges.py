"""A document of a trace: its columns, what of it is refused, and the sentences on faults."""

import json

import pytest

from engine.run.importers.import_report import TextError
from engine.run.traces import document
from engine.run.traces.document import (
    ProfilerStep,
    RankTrace,
    TracedCollective,
    fault_message,
    read_traces,
)
from tests.each import each
from tests.engine.run.traces.files import event, kineto, together

RANK = {
    "file": "a.json",
    "rank": 0,
    "world": 2,
    "origin": 5.0,
    "events": 9,
    "skipped": 1,
    "names": [["kernel", "gemm"], ["kernel", "nccl"]],
    "streams": [7, 20],
    "start": [0, 2000],
    "length": [1000, 4000],
    "name": [0, 1],
    "stream": [0, 1],
    "collectives": [["allreduce", 10, 20, 2, "BFloat16", "dp"]],
    "calls": [[1, 0]],
    "steps": [[3, 500, 9000, 0]],
}
DAMAGED = "what was handed over is damaged; drop the file again"


def read(*changes):
    ranks = [{**RANK, **change} for change in changes]
    return read_traces(json.dumps({"trace": 1, "ranks": ranks}))


def refused(text):
    with pytest.raises(TextError) as caught:
        read_traces(text)
    return str(caught.value)


def test_columns_become_times_in_seconds():
    (found,) = read({})
    assert found == RankTrace(
        file="a.json",
        rank=0,
        world_size=2,
        gpu="",
        origin=pytest.approx(5e-6),
        events=9,
        skipped=1,
        names=(("kernel", "gemm"), ("kernel", "nccl")),
        streams=(7, 20),
        start=pytest.approx((0, 2e-6)),
        end=pytest.approx((1e-6, 6e-6)),
        name=(0, 1),
        stream=(0, 1),
        calls={1: TracedCollective(name="allreduce", size=40.0, ranks=2, group="dp")},
        steps=(
            ProfilerStep(
                number=3, start=pytest.approx(5e-7), end=pytest.approx(9e-6), device=False
            ),
        ),
    )


@each(
    ("change", "fine"),
    [
        ({"name": [1, 1]}, True),
        ({"name": [0, 2]}, False),
        ({"stream": [1, 0]}, True),
        ({"stream": [0, 2]}, False),
        ({"length": [0, 0]}, True),
        ({"length": [0, -1]}, False),
        ({"start": [0, -1]}, False),
        ({"start": [0, 10**19]}, True),
        ({"start": [0, 1, 2]}, False),
        ({"length": [1]}, False),
        ({"start": [0, True]}, False),
        ({"start": [0, 1.0]}, False),
        ({"rank": True}, False),
        ({"rank": "0"}, False),
        ({"rank": -1}, True),
        ({"calls": [[1, 1]]}, False),
        ({"names": [["kernel"]]}, False),
        ({"start": [], "length": [], "name": [], "stream": []}, False),
    ],
)
def test_a_document_whose_columns_do_not_fit_is_refused(change, fine):
    if fine:
        assert len(read(change)) == 1
    else:
        assert refused(json.dumps({"trace": 1, "ranks": [{**RANK, **change}]})) == DAMAGED


@each(("at", "kept"), [(-1, []), (0, [0]), (1, [1]), (2, [])])
def test_a_call_of_no_event_is_left_out(at, kept):
    assert list(read({"calls": [[at, 0]]})[0].calls) == kept


@each(
    ("kind", "size"),
    [
        ("Float", 80), ("Half", 40), ("Double", 160), ("int", 80), ("Long", 160), ("Short", 40),
        ("Byte", 20), ("Char", 20), ("Bool", 20), ("Float8_e4m3fn", 20), ("Float8_e5m2", 20),
        ("Complex", 0), ("", 0),
    ],
)  # fmt: skip
def test_a_collective_has_the_bytes_of_its_larger_buffer(kind, size):
    for sent, got in ((10, 20), (20, 10)):
        row = ["broadcast", sent, got, 2, kind, "dp"]
        assert read({"collectives": [row]})[0].calls[1].size == size


def test_steps_are_ordered_by_their_starts_and_centuries_are_no_steps():
    rows = [[5, 30, 40, 0], [4, 10, 20, 1], [3, 10, 20, 0], [6, 10**19, 1, 0], [7, 1, -(10**19), 0]]
    marks = read({"steps": rows})[0].steps
    assert [(mark.number, mark.device) for mark in marks] == [(3, False), (4, True), (5, False)]


def test_ranks_are_ordered_and_named():
    files = [{"rank": 2}, {"rank": 0}, {"rank": -1, "file": "{b}"}, {"rank": -1, "file": ""}]
    found = read(*files)
    assert [one.called for one in found] == ["(b)", "the trace", "rank 0", "rank 2"]
    assert [one.title for one in found] == ["{b}", "the trace", "a.json", "a.json"]


def test_at_most_64_files_are_read():
    assert len(read(*[{}] * 64)) == 64
    for count in (0, 65):
        text = json.dumps({"trace": 1, "ranks": [RANK] * count})
        assert refused(text) == f"{count} files; 1 to 64 are read"


def test_spaces_may_stand_before_the_mark_of_a_document():
    text = json.dumps({"ranks": [RANK]})[1:]
    assert len(read_traces(" " * 20 + '{ "trace" : 1, ' + text)) == 1
    assert refused('{"trace":1') == DAMAGED


def test_files_under_their_names_are_read_apart():
    trace = kineto([event("gemm", 0, 1)])
    assert [one.file for one in read_traces(trace)] == ["this text"]
    both = read_traces(together(trace, kineto([event("gemm", 0, 1)], rank=1)))
    assert [(one.file, one.rank) for one in both] == [("rank0.json", 0), ("rank1.json", 1)]


@each(
    ("fault", "sentence"),
    [
        ({"kind": "empty", "file": "a.json"}, "a.json: the file is empty."),
        ({"kind": "empty"}, "the file: the file is empty."),
        ({"kind": "unknown", "file": "a"}, "a: the browser could not read the file."),
        (None, "the file: the browser could not read the file."),
        (
            {"kind": "syntax", "file": "a", "line": 1234, "column": 2},
            "a, line 1,234, column 2: this is no JSON, or the event that begins here is none.",
        ),
        ({"kind": "gzip", "file": "a"}, "a: the gzip data is damaged or cut; copy the file again."),
        (
            {"kind": "gzip", "file": "a", "bytes": 1, "line": 3},
            "a: the gzip data is damaged or cut after 1 unpacked bytes, in line 3; copy the file "
            "again.",
        ),
    ],
)
def test_a_fault_is_one_sentence(fault, sentence):
    assert fault_message(fault) == sentence


@each(
    ("events", "shown"),
    [
        (0, "0"), (1, "1"), (2**53 - 1, "9,007,199,254,740,991"), (2**53, "0"), (-1, "0"),
        ("9", "0"), (1.0, "0"), (None, "0"),
    ],
)  # fmt: skip
def test_a_number_of_a_fault_that_is_none_is_0(events, shown):
    words = fault_message({"kind": "no-gpu", "file": "a", "events": events})
    assert words.startswith(f"a: {shown} events, and none of them ran on a GPU. Record with")


def test_events_of_all_files_together_have_a_limit(monkeypatch):
    assert document.MOST_EVENTS == 600_000
    monkeypatch.setattr(document, "MOST_EVENTS", 4)
    assert len(read({"file": "b"}, {"file": "c"})) == 2
    text = json.dumps({"trace": 1, "ranks": [RANK] * 3})
    assert refused(text).startswith("a.json: more GPU events than are read here. Record less")


def test_a_fault_in_place_of_ranks_and_too_many_events_are_told():
    assert refused('{"trace":1,"fault":{"kind":"empty","file":"a"}}') == "a: the file is empty."
    words = fault_message({"kind": "too-many", "file": "a"})
    assert words.startswith("a: more GPU events than are read here. Record less: one or two steps")
    assert words.endswith("activities=[ProfilerActivity.CUDA].")
