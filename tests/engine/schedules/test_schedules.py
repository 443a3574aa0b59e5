"""Every schedule in the folder, whatever its order, keeps these promises."""

import tomllib
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

import engine.schedules
from engine.core import registry
from engine.core.pipeline_op import (
    BACKWARD,
    FORWARD,
    INPUT,
    LOOP,
    MIRROR,
    PAIR,
    WEIGHT,
    ZIGZAG,
    Op,
    is_first,
    is_last,
    rank_of,
    stage_of,
)
from engine.simulate.pipeline.pipeline import (
    PACKAGE,
    PipelineTimes,
    build_program,
    check_orders,
    compile_schedule,
    run_program,
    simulate,
)
from tests.each import each

ROOT = Path(__file__).parents[3]
REFERENCES = tomllib.loads((ROOT / "content" / "references.toml").read_text(encoding="utf-8"))
NAMES = registry.module_names(PACKAGE)
MICRO_BATCHES = (1, 2, 3, 4, 6, 8, 10, 11, 16, 20, 24)
SIZES = [*product((2, 3, 4, 5, 8), MICRO_BATCHES), (16, 64)]
UNEVEN = PipelineTimes(
    forward=1.0,
    backward_input=1.25,
    backward_weight=0.75,
    pair=2.5,
    latency=0.125,
    message=2.0,
    bandwidth=8.0,
    slowness=(1.5, 1.0, 1.25) * 6,
)


def possible(schedule):
    """(stages, micro-batches, chunks) that the schedule can run with."""
    return [
        (p, m, v)
        for p, m in SIZES
        for v in schedule.CHUNKS
        if not schedule.obstacle(p, m) and (v < 4 or p < 8)
    ]


def uneven(p):
    return PipelineTimes(
        forward=UNEVEN.forward,
        backward_input=UNEVEN.backward_input,
        backward_weight=UNEVEN.backward_weight,
        pair=UNEVEN.pair,
        latency=UNEVEN.latency,
        message=UNEVEN.message,
        bandwidth=UNEVEN.bandwidth,
        slowness=UNEVEN.slowness[:p],
    )


def passes(op):
    """(way, micro-batch, chunk) of what an operation does: F, I and W, a whole backward I and W."""
    if op.kind == PAIR:
        back = op.back_microbatch, op.back_chunk
        return [("F", op.microbatch, op.chunk), ("I", *back), ("W", *back)]
    ways = {FORWARD: "F", BACKWARD: "IW", INPUT: "I", WEIGHT: "W"}[op.kind]
    return [(way, op.microbatch, op.chunk) for way in ways]


def visitors(schedule, p, m, chunk):
    """The micro-batches that pass a chunk: all, or of two pipelines in one a half each."""
    if schedule.PLACEMENT != MIRROR:
        return range(m)
    return range(m // 2) if chunk == 0 else range(m // 2, m)


@cache
def played(name, p, m, v):
    """{(way, micro-batch, stage): (start, end, rank)} of a step with uneven times."""
    schedule = registry.module(PACKAGE, name)
    step = simulate(name, p, m, v, uneven(p))
    found = {}
    for rank, order in enumerate(step.program.orders):
        for op, start, end in zip(order, step.starts[rank], step.ends[rank], strict=True):
            for way, j, chunk in passes(op):
                stage = stage_of(rank, chunk, p, schedule.PLACEMENT)
                found[way, j, stage] = (start, end, rank)
    return found


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def schedule(name):
    return registry.module(PACKAGE, name)


def test_titles_are_different():
    titles = [registry.module(PACKAGE, name).TITLE for name in NAMES]
    assert len(set(titles)) == len(NAMES)


def test_the_sources_are_in_the_bibliography(schedule):
    assert schedule.SOURCES
    assert set(schedule.SOURCES) <= set(REFERENCES)


def test_the_declarations_are_known_ones(schedule):
    assert schedule.PLACEMENT in (LOOP, ZIGZAG, MIRROR)
    copies = 2 if schedule.PLACEMENT == MIRROR else 1
    assert copies == schedule.COPIES


def test_the_schedule_can_run_with_eight_stages_and_32_micro_batches(schedule):
    assert not schedule.obstacle(8, 32)


def test_every_micro_batch_passes_every_chunk_once_each_way(name, schedule):
    for p, m, v in possible(schedule):
        for rank, order in enumerate(compile_schedule(name, p, m, v).orders):
            done = Counter(one for op in order for one in passes(op))
            expected = {
                (way, j, chunk)
                for way in "FIW"
                for chunk in range(v)
                for j in visitors(schedule, p, m, chunk)
            }
            assert set(done) == expected, (p, m, v, rank)
            assert set(done.values()) == {1}, (p, m, v, rank)


def test_a_rank_goes_forward_before_it_goes_backward(name, schedule):
    for p, m, v in possible(schedule):
        check_orders(compile_schedule(name, p, m, v).orders)


def test_no_pass_begins_before_what_it_needs_has_arrived(name, schedule):
    transit = UNEVEN.latency + UNEVEN.message / UNEVEN.bandwidth
    for p, m, v in possible(schedule):
        found = played(name, p, m, v)
        for (way, j, stage), (start, _, rank) in found.items():
            for need in needs(way, j, stage, p, v, schedule.PLACEMENT):
                _, ended, other = found[need]
                assert start >= ended + (transit if other != rank else 0) - 1e-9, (p, m, v, need)


def needs(way, j, stage, p, v, placement):
    if way == "F":
        return [] if is_first(stage, p, placement) else [("F", j, stage - 1)]
    if way == "W":
        return []
    return [] if is_last(stage, p, v, placement) else [("I", j, stage + 1)]


def test_backward_follows_forward_on_the_same_stage(name, schedule):
    for p, m, v in possible(schedule):
        found = played(name, p, m, v)
        for (way, j, stage), (start, end, _) in found.items():
            if way != "F":
                assert start >= found["F", j, stage][1] - 1e-9
            if way == "W":
                assert end >= found["I", j, stage][1]


def test_a_rank_does_one_thing_at_a_time(name, schedule):
    for p, m, v in possible(schedule):
        step = simulate(name, p, m, v, uneven(p))
        for starts, ends in zip(step.starts, step.ends, strict=True):
            assert all(next_ >= end - 1e-9 for end, next_ in zip(ends, starts[1:], strict=False))


def test_every_boundary_between_ranks_is_crossed_once_each_way(name, schedule):
    for p, m, v in possible(schedule):
        crossings = sum(
            rank_of(stage, p, schedule.PLACEMENT) != rank_of(stage + 1, p, schedule.PLACEMENT)
            for stage in range(v * p - 1)
            if not is_last(stage, p, v, schedule.PLACEMENT)
        )
        visits = m // 2 if schedule.PLACEMENT == MIRROR else m
        assert compile_schedule(name, p, m, v).num_messages == 2 * visits * crossings


def test_no_activation_is_left_at_the_end(name, schedule):
    for p, m, v in possible(schedule):
        assert all(held[-1] == 0 for held in compile_schedule(name, p, m, v).chunks_held)


def test_with_equal_times_every_rank_computes_as_long(name, schedule):
    p, m = (8, 32)
    same = PipelineTimes(forward=1.0, backward_input=1.0, backward_weight=1.0, pair=3.0)
    step = simulate(name, p, m, schedule.CHUNKS[0], same)
    assert step.busy == pytest.approx([3.0 * m] * p)


def test_an_impossible_schedule_says_why(schedule):
    reasons = {schedule.obstacle(p, m) for p in range(2, 9) for m in range(1, 20)} - {""}
    assert all(reason.startswith("needs ") for reason in reasons)


def test_a_schedule_with_numbers_that_it_cannot_run_with_is_refused():
    with pytest.raises(ValueError, match="DualPipe needs an even number of stages, not 5 stages"):
        simulate("dualpipe", 5, 20, 2, UNEVEN)


def test_a_schedule_with_a_number_of_chunks_it_does_not_allow_is_refused():
    with pytest.raises(ValueError, match="1F1B has 1 to 1 chunks per rank, not 2"):
        simulate("one_f_one_b", 4, 8, 2, UNEVEN)


def test_a_schedule_that_is_dropped_into_the_folder_is_found(monkeypatch, tmp_path):
    text = (ROOT / "engine" / "schedules" / "gpipe.py").read_text(encoding="utf-8")
    (tmp_path / "dropped.py").write_text(text.replace("GPipe", "Dropped"), encoding="utf-8")
    with monkeypatch.context() as patched:
        there = [*engine.schedules.__path__, str(tmp_path)]
        patched.setattr(engine.schedules, "__path__", there)
        registry.module_names.cache_clear()
        dropped = simulate("dropped", 4, 8, 1, uneven(4))
    # Only now, or the names with this one in them would be kept for every test that follows.
    registry.module_names.cache_clear()
    assert dropped.length == simulate("gpipe", 4, 8, 1, uneven(4)).length


def test_orders_that_wait_for_one_another_are_a_deadlock_that_is_named():
    first = [Op(FORWARD, 0), Op(BACKWARD, 0), Op(FORWARD, 1), Op(BACKWARD, 1)]
    second = [Op(FORWARD, 0), Op(FORWARD, 1), Op(BACKWARD, 0), Op(BACKWARD, 1)]
    stuck = build_program((first, second), 2, 1, LOOP, 1)
    words = "deadlock: rank 0 waits to do the backward of micro-batch 0, chunk 0; rank 1 waits to"
    with pytest.raises(ValueError, match=words):
        run_program(stuck, uneven(2))


@each(
    ("order", "words"),
    [
        ("FF", "rank 0 cannot do the forward of micro-batch 0, chunk 0 at this place"),
        ("BF", "rank 0 cannot do the backward of micro-batch 0, chunk 0 at this place"),
        ("F", "rank 0 leaves 1 backward passes undone"),
    ],
)
def test_an_order_that_makes_no_sense_is_named(order, words):
    kinds = SimpleNamespace(F=FORWARD, B=BACKWARD)
    with pytest.raises(ValueError, match=words):
        check_orders(([Op(getattr(kinds, letter), 0) for letter in order],))
