"""Kineto's JSON down to single fields: what each is where it is missing, odd or at its limit."""

import json

from engine.run.traces.kineto import document_of, read_kineto
from tests.each import each
from tests.engine.run.traces.files import collective, event, kineto, step

GEMM = event("gemm", 100, 5)


def read(*events, **head):
    return read_kineto(kineto(list(events), **head), "a.json")


def test_a_whole_document():
    found = read(
        event("late", 30.5, 2, stream=9),
        event("early", 10, 1.5, stream=7),
        event("late", 40, 0, stream=7),
        event("ignored", 0, 1, kind="cpu_op"),
        "no event",
        rank=3,
        world=8,
        deviceProperties=[{"id": 0, "name": "NVIDIA B200"}, {"id": 1, "name": "NVIDIA B200"}],
        baseTimeNanoseconds=5000,
    )
    assert found == {
        "file": "a.json",
        "rank": 3,
        "world": 8,
        "gpu": "NVIDIA B200",
        "origin": 15.0,  # microseconds
        "events": 5,
        "skipped": 0,
        "names": [["kernel", "late"], ["kernel", "early"]],
        "streams": [9, 7],
        "start": [0, 20_500, 9500],
        "length": [1500, 2000, 0],
        "name": [1, 0, 0],
        "stream": [1, 0, 1],
        "collectives": [],
        "calls": [],
        "steps": [],
    }
    assert document_of([found]) == {"trace": 1, "ranks": [found]}


def test_a_list_of_events_is_a_trace_of_unknown_rank():
    found = read_kineto(json.dumps([GEMM]))
    assert (found["file"], found["rank"], found["world"], found["origin"]) == ("", -1, 0, 100.0)


@each(
    ("given", "rank", "world"),
    [
        ({"rank": 0, "world_size": 1}, 0, 1),
        ({"rank": 2.0, "world_size": 4.0}, 2, 4),
        ({"rank": -1, "world_size": -1}, -1, 0),
        ({"rank": True, "world_size": True}, -1, 0),
        ({"rank": 2.5, "world_size": "4"}, -1, 0),
        ({}, -1, 0),
        ([], -1, 0),
    ],
)
def test_rank_and_ranks_are_whole_numbers_or_unknown(given, rank, world):
    found = read(GEMM, distributedInfo=given)
    assert (found["rank"], found["world"]) == (rank, world)


@each(
    ("base", "origin"),
    [(1e12, 1e9 + 100), (0, 100), (None, 100), (True, 100), ("5000", 100), (1e300, 100)],
)
def test_a_clock_that_is_no_number_begins_at_0(base, origin):
    assert read(GEMM, baseTimeNanoseconds=base)["origin"] == origin


@each(
    ("changed", "fine"),
    [
        ({"ts": 1e18}, True),
        ({"ts": -1e18}, True),
        ({"ts": 1.1e18}, False),
        ({"ts": -1.1e18}, False),
        ({"dur": 1e12}, True),
        ({"dur": 1.1e12}, False),
        ({"dur": 0}, True),
        ({"dur": -0.5}, False),
        ({"dur": True}, False),
        ({"ts": False}, False),
    ],
)
def test_a_time_has_limits(changed, fine):
    found = read({**event("gemm", 0, 1), **changed}, event("gemm", 0, 1))
    assert (len(found["start"]), found["skipped"]) == ((2, 0) if fine else (1, 1))


def test_a_length_that_is_missing_is_0():
    found = read({key: given for key, given in GEMM.items() if key != "dur"})
    assert found["length"] == [0]


@each(("micros", "nanos"), [(0.0004, 0), (0.0006, 1), (0.0014, 1), (0.0016, 2), (2.5, 2500)])
def test_lengths_are_rounded_to_nanoseconds(micros, nanos):
    assert read(event("gemm", 0, micros))["length"] == [nanos]


@each(
    ("stream", "counts"),
    [
        (0, True),
        (7.0, True),
        (9_007_199_254_740_991, True),
        (9_007_199_254_740_992, False),
        (2.0**53, False),
        (2.0**53 - 1, True),
        (7.5, False),
        (-1, False),
        (-1.0, False),
        (True, False),
        ("7", False),
        (None, False),
    ],
)
def test_a_stream_is_a_whole_number_below_two_to_the_53rd(stream, counts):
    found = read({**GEMM, "args": {"stream": stream}}, event("last", 200, 1, stream=5))
    assert found["streams"] == ([stream, 5] if counts else [5])


def test_an_event_without_arguments_or_a_name_does_not_count():
    found = read({**GEMM, "args": [7]}, {**GEMM, "name": 5}, {**GEMM, "cat": None}, GEMM)
    assert (len(found["start"]), found["events"], found["skipped"]) == (1, 4, 0)


@each("kind", ["Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "memset", "mtia_ccp_events"])
def test_kinds_of_what_runs_on_a_gpu_in_any_case(kind):
    assert read(event("x", 0, 1, kind=kind))["names"] == [[kind.lower(), "x"]]


def test_names_that_begin_with_the_same_400_characters_are_one():
    found = read(event("n" * 400, 0, 1), event("n" * 401, 2, 1), event("n" * 399, 4, 1))
    assert [len(name) for _, name in found["names"]] == [400, 399]
    assert found["name"] == [0, 0, 1]


@each(
    ("changed", "row"),
    [
        ({}, ["allreduce", 1000, 1000, 4, "Float", "0"]),
        ({"In msg nelems": None}, ["allreduce", 0, 1000, 4, "Float", "0"]),
        ({"Out msg nelems": -5}, ["allreduce", 1000, 0, 4, "Float", "0"]),
        ({"Group size": "4"}, ["allreduce", 1000, 1000, 0, "Float", "0"]),
        ({"Group size": 8.0}, ["allreduce", 1000, 1000, 8, "Float", "0"]),
        ({"dtype": 5}, ["allreduce", 1000, 1000, 4, "", "0"]),
        ({"Process Group Name": "g" * 401}, ["allreduce", 1000, 1000, 4, "Float", "g" * 400]),
        ({"Collective name": "c" * 401}, ["c" * 400, 1000, 1000, 4, "Float", "0"]),
    ],
)
def test_what_a_collective_does_not_say_is_0_or_empty(changed, row):
    found = read(collective(0, 1, **changed))
    assert (found["collectives"], found["calls"]) == ([row], [[0, 0]])


def test_calls_name_their_collective_by_its_place():
    unnamed = collective(9, 1, **{"Collective name": None})
    found = read(collective(5, 1), GEMM, collective(3, 1, sent=7), collective(7, 1), unnamed)
    assert [row[1] for row in found["collectives"]] == [1000, 7]
    assert found["calls"] == [[0, 1], [1, 0], [2, 0]]


@each(
    ("number", "read_as_one"),
    [("7", True), ("0", True), ("9" * 15, True), ("1" * 16, False), ("²", False), ("", False)],
)
def test_a_step_has_a_number_of_at_most_15_digits(number, read_as_one):
    found = read(GEMM, step(number, 90, 40), step(number, 101.5, 2, device=True))
    times = [[-10_000, 30_000, 0], [1500, 3500, 1]]
    assert found["steps"] == ([[int(number), *row] for row in times] if read_as_one else [])


@each(
    ("devices", "gpu"),
    [
        ([{"name": "NVIDIA B200"}], "NVIDIA B200"),
        ([{"name": "NVIDIA B200"}, {"name": "NVIDIA A100"}], ""),
        ([{"name": 7}], ""),
        ([{}], ""),
        (["NVIDIA B200"], ""),
        ([], ""),
        ({"name": "NVIDIA B200"}, ""),
        (None, ""),
    ],
)
def test_the_gpu_of_a_trace(devices, gpu):
    assert read(GEMM, deviceProperties=devices)["gpu"] == gpu
