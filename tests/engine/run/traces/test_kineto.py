import json

import pytest

from engine.run.importers.import_report import TextError
from engine.run.traces.document import fault_message, read_traces
from engine.run.traces.kineto import TraceFault, document_of, read_kineto
from tests.each import each
from tests.engine.run.traces.files import collective, event, fixture, kineto, step, together


def read(events, **about):
    (rank,) = read_traces(kineto(events, **about))
    return rank


def test_times_begin_with_the_first_event_of_the_gpu_in_seconds():
    rank = read([event("b", 30, 5), event("a", 10.5, 4.25)])
    assert rank.start == (0.0, 19.5e-6)
    assert rank.end == pytest.approx((4.25e-6, 24.5e-6))
    assert [rank.names[at][1] for at in rank.name] == ["a", "b"]


def test_only_what_ran_on_a_stream_counts():
    rank = read(
        [
            event("gemm", 0, 1),
            event("aten::mm", 0, 9, kind="cpu_op"),
            {**event("no stream", 0, 1), "args": {}},
            {**event("begins", 0, 1), "ph": "B"},
        ]
    )
    assert len(rank.start) == 1
    assert rank.events == 4


@each(
    "wrong",
    [
        {"ts": "12"},
        {"ts": None},
        {"ts": 1e30},
        {"dur": -1},
        {"dur": "long"},
        {"dur": 1e15},
        {"ts": True},
    ],
)
def test_an_event_without_a_time_is_counted_and_left_out(wrong):
    rank = read([event("gemm", 0, 1), {**event("gemm", 5, 1), **wrong}])
    assert (len(rank.start), rank.skipped) == (1, 1)


def test_a_collective_knows_the_larger_of_its_buffers_in_bytes():
    rank = read([collective(0, 10, name="_allgather_base", sent=250, got=1000, ranks=4)])
    found = rank.calls[0]
    assert (found.name, found.size, found.ranks) == ("_allgather_base", 4000, 4)


def test_steps_are_marked_on_the_host_or_on_the_gpu():
    rank = read([event("gemm", 100, 5), step(7, 90, 40), step(7, 99, 30, device=True)])
    assert [(one.number, one.device) for one in rank.steps] == [(7, False), (7, True)]
    assert rank.steps[0].start == pytest.approx(-10e-6)


def test_several_files_are_ordered_by_rank():
    found = read_traces(
        together(kineto([event("a", 0, 1)], rank=3), kineto([event("a", 0, 1)], rank=1))
    )
    assert [one.called for one in found] == ["rank 1", "rank 3"]
    assert [one.file for one in found] == ["rank1.json", "rank0.json"]


FAULTS = {
    "": "empty",
    "name,start\na,1\n": "a trace begins with { or [, this file with 'name,start'",
    '{"traceEvents": [{"ph": "X",\n "ts": 1.2.3}]}': "line 2, column 11",
    "\n[1.2.3]": "line 2, column 5",
    kineto([event("gemm", 0, 1)])[:-30]: "ends before its JSON does",
    '{"spans": []}': "without traceEvents",
    kineto([event("aten::mm", 0, 9, kind="cpu_op")]): "1 events, and none of them ran on a GPU",
    "[NaN]": "this is no JSON",
    "[" * 100_000: "",
}


@pytest.mark.parametrize("text", FAULTS, ids=range(len(FAULTS)))
def test_a_file_that_is_no_trace_is_refused_with_place_and_reason(text):
    with pytest.raises(TraceFault) as caught:
        read_kineto(text, "my.json")
    assert FAULTS[text] in fault_message(caught.value.parts)
    if text:
        with pytest.raises(TextError):
            read_traces(text)


def test_of_a_file_that_is_no_trace_thirty_characters_are_shown():
    with pytest.raises(TraceFault) as caught:
        read_kineto("\n" + "0123456789" * 4, "my.json")
    assert f"this file with '{'0123456789' * 3}'" in fault_message(caught.value.parts)


@each("damage", ["", "x", '{"trace":1}', '{"trace":1,"ranks":[]}', '{"trace":1,"ranks":[{}]}'])
def test_what_was_handed_over_damaged_is_refused(damage):
    with pytest.raises(TextError):
        read_traces(damage or '{"trace":1')


@each("key", ["start", "length", "name", "stream", "names", "streams", "calls", "steps", "origin"])
@each("value", [None, "x", [1.5], [-1], [[]], 10**30, [10**30]])
def test_a_document_with_wrong_columns_is_refused_or_read(key, value):
    rank = read_kineto(kineto([event("gemm", 0, 1), collective(3, 5)]))
    text = json.dumps(document_of([{**rank, key: value}]))
    refused = ""
    try:
        read_traces(text)
    except TextError as error:
        refused = str(error)
    assert not refused or "damaged" in refused or "files" in refused


@each("key", ["start", "length", "name", "stream"])
def test_one_number_below_zero_in_one_column_is_refused(key):
    rank = read_kineto(kineto([event("gemm", 0, 1), event("add", 3, 5)]))
    text = json.dumps(document_of([{**rank, key: [0, -1]}]))
    with pytest.raises(TextError, match="damaged"):
        read_traces(text)


def test_traces_of_amd_of_triton_and_without_a_gpu():
    (amd,) = read_traces(fixture("mi250.json.gz"))
    assert (len(amd.start), amd.streams) == (16, (0,))
    (triton,) = read_traces(fixture("triton.json.gz"))
    assert triton.end[0] == pytest.approx(1.76e-6)
    with pytest.raises(TextError, match="30 events, and none"):
        read_traces(fixture("cpu_only.json.gz"))


def test_a_name_with_markup_and_braces_stays_text():
    rank = read([event("<img src=x onerror=alert(1)>{t}", 0, 1)])
    assert rank.names[0][1] == "<img src=x onerror=alert(1)>{t}"


@each(("starts", "read"), [([0, 9 * 10**18], True), ([0, 2 * 10**19], False)])
def test_a_last_event_centuries_after_the_first_is_refused(starts, read):
    rank = read_kineto(kineto([event("gemm", 0, 1), event("add", 3, 5)]))
    text = json.dumps(document_of([{**rank, "start": starts}]))
    if read:
        assert len(read_traces(text)[0].start) == 2
    else:
        with pytest.raises(TextError, match="damaged"):
            read_traces(text)
