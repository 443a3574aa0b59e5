"""Streams: order, dependencies, and computation that slows down beside communication."""

from dataclasses import replace

import pytest

from engine.simulate.streams.stream_account import split_interval, step_account
from engine.simulate.streams.streams import (
    COMPUTE,
    COPY,
    LAUNCH,
    NETWORK,
    SCALE_UP,
    StreamOp,
    program_length,
    run_program,
    with_launches,
)


def compute(key, time, *after, ranks=(0,)):
    return StreamOp(key=key, stream=COMPUTE, time=time, after=after, ranks=ranks)


def send(key, time, *after, slows=0.0, ranks=(0,), stream=NETWORK):
    return StreamOp(key=key, stream=stream, time=time, after=after, slowdown=slows, ranks=ranks)


def times(*ops):
    return {span.op.key: (span.start, span.end) for span in run_program(ops)}


def test_nothing_to_do_takes_no_time():
    assert run_program(()) == ()
    assert program_length(()) == 0


def test_a_stream_runs_its_operations_one_after_the_other():
    assert times(compute("a", 2.0), compute("b", 3.0)) == {"a": (0, 2), "b": (2, 5)}


def test_the_length_of_a_program_is_the_end_of_what_ends_last():
    # Beside the 3 s of b, a does 2 of its 4 s of work: it ends at 5 s, and c at 6 s.
    ops = (compute("a", 4.0), send("b", 3.0, slows=0.5), send("c", 3.0))
    assert program_length(ops) == max(span.end for span in run_program(ops)) == 6
    assert program_length(ops[:2]) == pytest.approx(5)


def test_different_streams_run_at_once():
    assert times(compute("a", 2.0), send("b", 3.0)) == {"a": (0, 2), "b": (0, 3)}


def test_a_stream_keeps_its_order_even_if_a_later_operation_is_ready():
    found = times(compute("a", 2.0), send("b", 1.0, "a"), send("c", 1.0))
    assert found["c"] == (3, 4)


def test_an_operation_waits_for_every_other_it_names():
    found = times(
        compute("a", 2.0), send("b", 5.0), StreamOp(key="c", stream=COPY, time=1, after="ab")
    )
    assert found["c"] == (5, 6)


def test_a_wait_may_name_a_later_operation_of_another_stream():
    assert times(compute("a", 1.0, "b"), send("b", 2.0))["a"] == (2, 3)


def test_a_span_names_what_ended_last_before_it():
    spans = run_program((compute("a", 2.0), send("b", 5.0), compute("c", 1.0, "b")))
    assert [span.waited_for for span in spans] == ["", "", "b"]


def test_a_collective_starts_on_all_ranks_when_the_slowest_is_ready():
    found = times(
        compute("a", 1.0), compute("b", 4.0, ranks=(1,)), send("c", 2.0, "a", "b", ranks=(0, 1))
    )
    assert found["c"] == (4, 6)


def test_ranks_do_not_share_a_stream():
    assert times(compute("a", 1.0), compute("b", 4.0, ranks=(1,)))["b"] == (0, 4)


def test_computation_slows_down_while_a_collective_runs():
    # 2 s of work by 2 s, then 4 s at two thirds of the speed, then what is left of 10.
    found = times(
        compute("a", 10.0), StreamOp(key="w", stream=COPY, time=2), send("b", 4, "w", slows=0.5)
    )
    assert found["a"] == pytest.approx((0, 6 + 10 - 2 - 4 / 1.5))


def test_computation_that_starts_beside_a_collective_is_slow_from_the_start():
    assert times(send("b", 3.0, slows=1.0), compute("a", 2.0))["a"] == pytest.approx((0, 3.5))


def test_of_two_collectives_at_once_the_one_that_slows_more_counts():
    both = (send("b", 9.0, slows=0.5), send("c", 9.0, slows=0.25, stream=SCALE_UP))
    assert times(*both, compute("a", 4.0))["a"] == (0, 6)


def test_a_collective_slows_only_the_ranks_that_take_part():
    found = times(send("b", 9.0, slows=0.5, ranks=(1,)), compute("a", 4.0))
    assert found["a"] == (0, 4)


def test_a_collective_between_two_kernels_slows_neither():
    ops = (compute("a", 1.0), send("b", 1.0, "a", slows=1.0), compute("c", 1.0, "b"))
    assert times(*ops)["c"] == (2, 3)


def test_an_operation_of_no_time_passes_on_its_order():
    ops = (compute("a", 1.0), compute("b", 0.0), send("c", 1.0, "b"))
    assert times(*ops)["c"] == (1, 2)


def test_a_short_kernel_waits_for_its_launch():
    ops = with_launches((compute("a", 1.0), compute("b", 1.0)), 3.0)
    found = {span.op.key: (span.start, span.end) for span in run_program(ops)}
    assert (found["a"], found["b"]) == ((3, 4), (6, 7))


def test_long_kernels_hide_all_launches_but_the_first():
    ops = with_launches((compute("a", 9.0), compute("b", 9.0)), 3.0)
    assert step_account(run_program(ops)).length == 21


def test_launches_are_a_stream_of_their_own():
    use = step_account(run_program(with_launches((compute("a", 9.0),), 3.0))).streams[LAUNCH]
    assert (use.busy, use.idle) == (3, 9)


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        ((compute("a", 1.0), compute("a", 1.0)), "two operations are called 'a'"),
        ((compute("a", 1.0, "z"),), "a waits for 'z', which is no operation"),
        ((compute("a", 1.0, "b"), send("b", 1.0, "a")), "a, b never start"),
        ((compute("a", -1.0),), "time of a is -1.0; it must be 0 or more"),
        (
            (StreamOp(key="a", stream="disk", time=1.0),),
            "stream is 'disk'; allowed is launch, compute",
        ),
    ],
    ids=["twice", "unknown", "circle", "negative", "stream"],
)
def test_what_is_no_program_is_refused(ops, message):
    with pytest.raises(ValueError, match=message):
        run_program(ops)


STEP = (
    compute("a", 4.0),
    send("b", 3.0, "a", slows=0.5),
    compute("c", 1.0, "a"),
    send("d", 2.0, "c", stream=SCALE_UP),
    compute("e", 1.0, "b", "d"),
)


def test_the_parts_of_a_step_are_its_length():
    found = step_account(run_program(STEP))
    parts = found.compute + found.contention + found.exposed + found.idle
    assert parts == pytest.approx(found.length)


def test_two_streams_at_once_communicate_once():
    # b from 4 to 7, d from 5.5 to 7.5.
    assert step_account(run_program(STEP)).communication == pytest.approx(3.5)


def test_communication_is_hidden_while_the_rank_computes():
    assert step_account(run_program(STEP)).hidden == pytest.approx(1.5)


def test_what_computation_takes_longer_is_contention():
    assert step_account(run_program(STEP)).contention == pytest.approx(0.5)


def test_an_account_is_of_one_rank():
    spans = run_program((compute("a", 1.0), compute("b", 4.0, ranks=(1,))))
    assert (step_account(spans).length, step_account(spans, 1).length) == (1, 4)


def test_a_rank_without_operations_has_an_empty_account():
    assert step_account(run_program(STEP), 7).length == 0


def test_bytes_are_counted_by_stream():
    ops = (send("a", 1.0), replace(send("b", 1.0), size=3.0), replace(send("c", 1.0), size=4.0))
    assert step_account(run_program(ops)).streams[NETWORK].sent == 7


def test_a_stretch_is_cut_where_computation_begins_and_ends():
    pieces = split_interval((1.0, 9.0), [(0.0, 2.0), (4.0, 5.0), (8.0, 12.0)])
    expected = [(1, 2, False), (2, 4, True), (4, 5, False), (5, 8, True), (8, 9, False)]
    assert pieces == expected
