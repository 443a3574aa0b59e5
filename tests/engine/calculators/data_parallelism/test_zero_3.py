"""ZeRO-3 part by part on the tiny model, at real scale, and its critical tokens."""

import pytest

from engine.simulate.data_parallel.hiding_tokens import GatheringJob, gathered_units
from engine.simulate.data_parallel.sharded_step import ShardedSetting, sharded_job
from engine.simulate.step.exposed_exchange import sharded_time
from engine.tiny.layout import part_range
from engine.tiny.zero_record import sharded_record
from tests.engine.calculators.asked import solved, views


def held(places):
    return {place for place, number in enumerate(places) if number is not None}


def test_a_rank_holds_its_own_parameters_and_one_gathered_part():
    found = sharded_record(4, 3, 1)
    for now in found.trace:
        whole = now.phase in ("gather", "backward")
        part = set(part_range(found.run.job.model, now.part)) if whole else set()
        for own in now.ranks:
            assert held(own.parameters) == held(own.first) | part


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("reshard", [True, False])
def test_every_run_equals_one_gpu(ranks, reshard):
    found = views("zero_3_steps", ranks=ranks, reshard=reshard, micro_batches=2)
    assert found["equal"].text == "Equal to one GPU"


@pytest.mark.parametrize(("reshard", "over"), [(True, 1.5), (False, 1.0)])
def test_what_stage_3_sends_over_plain_data_parallelism(reshard, over):
    assert solved("zero_3_steps", reshard=reshard).over == over


def test_the_run_gathers_the_last_part_once():
    found = solved("zero_3_steps")
    # 36 numbers of the output, of which three quarters are not the own ones, in two bytes.
    assert found.sent_formula - found.sent == 36 * 3 / 4 * 2
    assert solved("zero_3_steps", reshard=False).sent == 780


def test_keeping_parameters_raises_the_peak():
    assert solved("zero_3_steps", reshard=False).peak > solved("zero_3_steps").peak


# Published: 2,472 with 8 x 400G, 9.9k with 8 x 100G, 19.8k with 1 x 400G, 79,120 with 1 x 100G.
@pytest.mark.parametrize(
    ("ports", "gigabits", "tokens"),
    [("8", 400, 2472), ("8", 100, 9890), ("1", 400, 19_780), ("1", 100, 79_120)],
)
def test_critical_tokens_of_an_h100(ports, gigabits, tokens):
    port = gigabits * 1e9 / 8
    found = solved("critical_tokens", ports=ports, port=port, gradients="bf16")
    assert found.critical == pytest.approx(tokens, rel=1e-3)
    # In fp32 the backward pass gathers 2 bytes and reduces 4, not 2.
    in_full = solved("critical_tokens", ports=ports, port=port)
    assert in_full.critical == pytest.approx(1.5 * found.critical)


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(1000, "Network-bound"), (2000, "Hidden, by the estimate"), (4000, "Compute-bound")],
)
def test_the_regime_is_the_estimates_where_the_bound_says_otherwise(tokens, text):
    assert views("critical_tokens", tokens=tokens)["regime"].text == text


@pytest.mark.parametrize("gradients", ["fp32", "bf16"])
def test_from_the_estimates_tokens_on_no_unit_waits(gradients):
    found = solved("critical_tokens", gradients=gradients)
    job = GatheringJob(
        model="llama-3-8b", gpu="h100", ranks=64, ports=8, port=50e9, gradient=gradients
    )
    below, at = (gathered_units(job, round(found.composed) - more) for more in (1, 0))
    assert at.gather <= at.forward
    assert at.gather + at.scatter <= at.backward
    assert below.gather > below.forward or below.gather + below.scatter > below.backward


def test_the_units_are_those_of_the_estimates_step():
    job = GatheringJob(model="llama-3-8b", gpu="h100", ranks=64, ports=1, port=50e9, gradient="")
    units = gathered_units(job, 4096)
    setting = ShardedSetting(model="llama-3-8b", gpu="h100", ranks=64, tokens=4096, port=50e9 / 8)
    played = sharded_job(setting)
    waits = sharded_time(units) - played.estimate.compute
    assert waits == pytest.approx(played.estimate.data_parallel)


@pytest.mark.parametrize(("ports", "speed"), [("8", 400), ("1", 25), ("16", 1600), ("2", 100)])
def test_the_reader_s_network_is_framed_on_the_map(ports, speed):
    found = views("critical_tokens", ports=ports, port=speed * 1e9 / 8)["map"]
    (own,) = found.points
    assert (found.x[int(own.x)], found.y[int(own.y)]) == (f"{speed:,}", ports)
    ratio = own.label.numbers["ratio"][0]
    assert ratio == pytest.approx(found.values[int(own.y)][int(own.x)])


def test_a_port_between_two_columns_is_framed_between_them():
    (own,) = views("critical_tokens", port=300e9 / 8)["map"].points
    assert 3 < own.x < 4


def test_prefetch_hides_gathers_and_needs_room_for_one_layer_more():
    none, one, two = (solved("zero_3_lab", prefetch=depth) for depth in (0, 1, 2))
    assert one.exposed < 0.1 * none.exposed
    assert two.peak > one.peak > none.peak
    assert two.step_time == pytest.approx(one.step_time)


def test_freeing_after_the_forward_pass_costs_half_as_many_bytes_again():
    half = {"gradients": "bf16"}
    freed, kept = solved("zero_3_lab", **half), solved("zero_3_lab", reshard=False, **half)
    assert freed.sent == pytest.approx(1.5 * kept.sent)
    # Gradients of four bytes: 2 + 2 + 4 of 2 + 4.
    freed, kept = solved("zero_3_lab"), solved("zero_3_lab", reshard=False)
    assert freed.sent == pytest.approx(8 / 6 * kept.sent)
    assert kept.peak > 3 * freed.peak


def test_a_layer_computes_only_after_its_gather():
    spans = {span.op.key: span for span in solved("zero_3_lab").ran.spans}
    for key, span in spans.items():
        if key.endswith(":parameters"):
            assert span.end <= spans[key.removesuffix(":parameters")].start + 1e-12


def test_all_frames_of_the_carousel_have_the_same_shapes():
    frames = views("zero_3_lab")["carousel"].frames
    assert len({tuple(shape.key for shape in frame.shapes) for frame in frames}) == 1


@pytest.mark.parametrize("won", [False, True])
def test_the_challenge_is_lost_at_its_start_and_won_by_its_solution(won):
    found = views("zero_3_lab")["challenge"]
    now = views("zero_3_lab", **(found.solution if won else found.start))["challenge"]
    assert all(condition.met for condition in now.conditions) == won


@pytest.mark.parametrize(
    ("changes", "met"),
    [({}, True), ({"micro_batches": 2}, False), ({"tokens": 8192}, False)],
)
def test_the_challenge_allows_one_small_micro_batch_alone(changes, met):
    solution = views("zero_3_lab")["challenge"].solution
    now = views("zero_3_lab", **{**solution, **changes})["challenge"]
    assert now.conditions[1].met == met
