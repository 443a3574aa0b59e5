"""The step composer against hand-worked times, all orders, and its own promises."""

import random
from dataclasses import replace
from functools import cache
from itertools import pairwise, permutations

import pytest

from engine.answer import reply
from engine.calculator import load
from engine.calculators.whole_runs.step_composer import PRESETS, Inputs, solve
from engine.core.text import render_text
from engine.core.units import MILLI
from engine.simulate.streams.composed_step import (
    COMMUNICATION_ITEMS,
    COMPUTE_ITEMS,
    StreamOrders,
    deadlocked_heads,
    dependencies_of,
    needed_gathers,
    path_communication,
)

START = Inputs()
ONE_AHEAD = str(PRESETS["Prefetch by one"]["communication"])
GATHERS_FIRST = "AG1-AG2-AG3-AG2b-AG1b-RS3-RS2-RS1"
OPTIMIZER_EARLY = "F1-F2-F3-B3-B2-Opt3-B1-Opt2-Opt1"


compute = load("step_composer").compute


def composed(inputs):
    return solve(inputs).step


def step(**changes):
    return composed(replace(START, **changes))


def span(found, name):
    one = found.spans[name]
    return round(one.start / MILLI, 9), round(one.end / MILLI, 9)


def verdict(**changes):
    badge = compute(replace(START, **changes))["verdict"]
    return badge.text, render_text(badge.sentence)


@cache
def lengths(room):
    """Milliseconds of every order of the communication stream that can run."""
    found = {}
    for order in permutations(needed_gathers(COMMUNICATION_ITEMS, room)):
        orders = StreamOrders(compute=COMPUTE_ITEMS, communication=order)
        if not deadlocked_heads(orders, dependencies_of(orders, room, clipped=True)):
            missing = [name for name in COMMUNICATION_ITEMS if name not in order]
            asked = "-".join((*order, *missing))
            found[order] = round(step(room=room, communication=asked).length / MILLI, 9)
    return found


def draws(count=300):
    """Seeded inputs with orders that mostly cannot run as asked."""
    chance = random.Random(14)
    for _ in range(count):
        yield replace(
            START,
            room=chance.randint(1, 3),
            clipped=chance.random() < 0.5,
            communication="-".join(chance.sample(COMMUNICATION_ITEMS, len(COMMUNICATION_ITEMS))),
            compute="-".join(chance.sample(COMPUTE_ITEMS, len(COMPUTE_ITEMS))),
            gather=chance.choice((0.0, 1.0, 3.0, 7.5)) * MILLI,
            reduction=chance.choice((0.0, 2.0, 3.0, 9.0)) * MILLI,
            forward=chance.choice((0.5, 2.0, 6.0)) * MILLI,
            backward=chance.choice((0.0, 4.0, 8.0)) * MILLI,
            optimizer=chance.choice((0.0, 1.0)) * MILLI,
        )


@cache
def drawn():
    return tuple((inputs, composed(inputs)) for inputs in draws())


def test_blocking_runs_one_operation_at_a_time_but_for_the_reductions_and_gathers():
    # AG F AG F AG F B, then RS AG B twice, RS, three optimizers: 3+2 thrice, 4, 3+3+4 twice, 3, 3.
    assert step(room=1).length / MILLI == pytest.approx(15 + 4 + 20 + 3 + 3)


def test_gathers_come_as_early_as_room_for_two_allows():
    found = step(communication=GATHERS_FIRST)
    # AG3 waits for F1, done at 5, and its stream until 6; AG1b for room that B3 makes at 15.
    assert [span(found, name) for name in ("AG1", "AG2", "AG3", "AG2b", "AG1b")] == [
        (0, 3),
        (3, 6),
        (6, 9),
        (9, 12),
        (15, 18),
    ]


def test_passes_follow_their_gathers_by_hand():
    found = step(communication=GATHERS_FIRST)
    assert [span(found, name) for name in ("F1", "F2", "F3", "B3", "B2", "B1")] == [
        (3, 5),
        (6, 8),
        (9, 11),
        (11, 15),
        (15, 19),
        (19, 23),
    ]


def test_reductions_and_optimizers_end_the_step_by_hand():
    found = step(communication=GATHERS_FIRST)
    assert [span(found, name) for name in ("RS3", "RS2", "RS1", "Opt3", "Opt1")] == [
        (18, 21),
        (21, 24),
        (24, 27),
        (27, 28),
        (29, 30),
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, 41), ({"communication": ONE_AHEAD}, 31), ({"room": 3}, 29), ({"room": 1}, 45)],
)
def test_presets_take_the_times_worked_by_hand(changes, expected):
    assert step(**changes).length / MILLI == pytest.approx(expected)


def test_exposed_communication_is_the_step_less_its_computation():
    found = step(communication=GATHERS_FIRST)
    assert found.account.exposed / MILLI == pytest.approx(30 - 21)


@pytest.mark.parametrize(("room", "expected"), [(1, 1), (2, 2), (3, 3)])
def test_the_start_uses_all_room_for_gathered_layers(room, expected):
    assert max(count for _, count in step(room=room).gathered_layers) == expected


def test_148_orders_can_run_with_room_for_two():
    assert len(lengths(2)) == 148


def test_one_order_of_them_takes_30_ms():
    assert [order for order, took in lengths(2).items() if took == 30] == [
        tuple(GATHERS_FIRST.split("-"))
    ]


@pytest.mark.parametrize("room", [1, 2, 3])
def test_no_order_beats_the_bound(room):
    assert min(lengths(room).values()) >= round(step(room=room).least / MILLI, 9)


def test_the_bound_is_reached_with_room_for_all_layers():
    assert min(lengths(3).values()) == pytest.approx(step(room=3).least / MILLI)


def test_no_random_step_beats_the_bound():
    late = [i for i, found in drawn() if found.length < found.least * (1 - 1e-9)]
    assert late == []


def test_every_operation_of_a_random_order_runs_once():
    kept = [
        sorted(found.spans)
        == sorted((*COMPUTE_ITEMS, *needed_gathers(COMMUNICATION_ITEMS, inputs.room)))
        for inputs, found in drawn()
    ]
    assert all(kept)


def test_no_operation_of_a_random_order_starts_before_what_it_waits_for_has_ended():
    broken = [
        (name, other)
        for _, found in drawn()
        for name, needs in found.plan.needs.items()
        for other in needs
        if found.spans[name].start < found.spans[other].end
    ]
    assert broken == []


def test_a_stream_runs_one_operation_at_a_time():
    overlaps = [
        (one, two)
        for _, found in drawn()
        for stream in (found.plan.orders.compute, found.plan.orders.communication)
        for one, two in pairwise(stream)
        if found.spans[two].start < found.spans[one].end
    ]
    assert overlaps == []


def test_no_random_order_gathers_more_layers_than_there_is_room():
    assert all(0 <= n <= inputs.room for inputs, found in drawn() for _, n in found.gathered_layers)


def test_all_gathered_layers_are_freed_in_the_end():
    assert {found.gathered_layers[-1][1] for _, found in drawn()} == {0}


def test_the_same_order_gives_the_same_step():
    assert [composed(inputs) for inputs in draws(40)] == [found for _, found in drawn()[:40]]


def test_an_order_that_runs_is_left_as_it_is():
    for order in lengths(2):
        assert step(communication="-".join(order)).plan.orders.communication == order


def test_a_repaired_order_is_named_with_what_it_waits_for():
    order = "AG1-AG2-RS3-AG3-AG2b-RS2-AG1b-RS1"
    assert verdict(communication=order) == (
        "Order repaired",
        "As asked, nothing would run any more: RS3 waits for B3, and B3 stands behind F3; F3 waits "
        "for AG3, and AG3 stands behind RS3. So RS3 comes later, as drawn.",
    )


def test_a_gather_that_fills_the_last_room_too_early_comes_later():
    found = step(room=1, communication="AG2-AG1-AG3-RS3-AG2b-RS2-AG1b-RS1")
    assert (found.plan.moved, found.plan.orders.communication[:3]) == (
        ("AG2",),
        ("AG1", "AG2", "AG3"),
    )


def test_clipping_keeps_the_optimizer_behind_the_last_reduction():
    assert step(compute=OPTIMIZER_EARLY).plan.moved == ("Opt3",)


def test_without_clipping_the_optimizer_of_a_layer_may_come_early():
    assert step(compute=OPTIMIZER_EARLY, clipped=False).plan.moved == ()


def test_early_gathers_wait_until_their_layer_was_freed():
    found = step(room=2, forward=20 * MILLI, communication=GATHERS_FIRST)
    assert span(found, "AG2b")[0] >= span(found, "F2")[1]


def test_every_grip_moves_its_operation_by_one_place():
    scene = compute(START)["strip"]
    grips = [shape.attributes for shape in scene.frames[0].shapes if shape.tag == "rect"]
    for grip in grips:
        if "data-ahead" not in grip:
            continue
        name, now = grip["data-grip-key"], int(grip["data-grip-now"])
        assert grip["data-ahead"].split("-")[now] == name


def test_items_without_a_place_in_the_step_keep_it_in_the_input():
    scene = compute(replace(START, room=3))["strip"]
    grip = next(
        shape.attributes
        for shape in scene.frames[0].shapes
        if shape.attributes.get("data-grip-key") == "RS3"
    )
    assert grip["data-ahead"] == "AG1-AG2-AG3-RS2-AG2b-RS3-AG1b-RS1"


def test_the_address_holds_the_order():
    answered = reply({"calculator": "step_composer", "values": {"communication": ONE_AHEAD}})
    assert answered["query"] == [["step_composer.communication", ONE_AHEAD]]


def binds(**changes):
    badge = compute(replace(START, **changes))["regime"]
    return badge.text, render_text(badge.sentence)


def test_a_gather_behind_a_reduction_is_named_as_what_binds():
    assert binds() == (
        "Order",
        "AG2b stands behind RS3, and the step waits for both. "
        "Such waits are 12.0 ms, 29.3 % of the step.",
    )


def test_a_reduction_that_was_ready_while_its_stream_stood_still_is_a_matter_of_order():
    found = step(room=3, communication="AG1-AG2-AG3-RS2-AG2b-RS3-AG1b-RS1")
    # RS3 is ready at 15; the stream waits for B2, which ends at 19.
    assert path_communication(found)["order"] == ("RS3",)


def test_the_best_order_for_two_is_held_up_by_the_wire():
    assert binds(communication=GATHERS_FIRST)[0] == "Wire"


def test_a_gather_that_waits_for_a_freed_layer_is_a_matter_of_room():
    assert path_communication(step(room=1))["room"] == ("AG2", "AG3")


def test_what_reaches_the_bound_is_called_the_least():
    assert binds(room=3)[0] == "The least there is"


def test_of_equal_causes_the_order_is_named():
    assert binds(communication=ONE_AHEAD)[0] == "Order"
