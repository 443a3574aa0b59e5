"""Spans in parts, on a step small enough to cut by hand."""

from engine.simulate.streams.exposed_time import split_spans
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, OpSpan, StreamOp


def span(key, stream, start, end):
    return OpSpan(
        op=StreamOp(key=key, stream=stream, time=end - start), start=start, end=end, waited_for=""
    )


STEP = (
    span("F", COMPUTE, 0.0, 2.0),
    span("B", COMPUTE, 3.0, 5.0),
    span("gather", NETWORK, 1.0, 4.0),
    span("sum", SCALE_UP, 4.5, 6.0),
    span("nothing", NETWORK, 5.0, 5.0),
)


def test_communication_is_cut_where_computation_stops_and_starts():
    found = [(one.key, one.start, one.end, one.exposed) for one in split_spans(STEP)]
    assert found == [
        ("F", 0.0, 2.0, False),
        ("B", 3.0, 5.0, False),
        ("gather (1)", 1.0, 2.0, False),
        ("gather (2)", 2.0, 3.0, True),
        ("gather", 3.0, 4.0, False),
        ("sum (1)", 4.5, 5.0, False),
        ("sum", 5.0, 6.0, True),
    ]


def test_the_last_part_has_the_key_that_others_wait_for():
    assert [one.ran.op.key for one in split_spans(STEP) if one.last] == ["F", "B", "gather", "sum"]


def test_a_pause_of_rounding_cuts_nothing():
    step = (span("F", COMPUTE, 0.0, 1.0), span("B", COMPUTE, 1.0 + 1e-12, 2.0))
    (one,) = split_spans((*step, span("gather", NETWORK, 0.5, 1.5)))[2:]
    assert (one.start, one.end, one.exposed) == (0.5, 1.5, False)
