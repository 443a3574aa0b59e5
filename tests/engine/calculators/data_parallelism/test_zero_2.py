"""ZeRO-2 part by part on the tiny model, and beside ZeRO-1 at real scale."""

import pytest

from engine.core.units import Gbit
from engine.formulas.volumes import zero_bytes_sent
from engine.simulate.data_parallel.sharded_step import ShardedSetting, simulate_sharded_step
from engine.simulate.streams.streams import COMPUTE
from engine.tiny.layout import part_names, part_range
from engine.tiny.zero_record import sharded_record
from tests.engine.calculators.asked import solved, views


def held(places):
    return {place for place, number in enumerate(places) if number is not None}


TRACE = sharded_record(4, 2, 1).trace


def test_a_rank_holds_its_own_gradients_and_one_whole_part_of_them():
    model = sharded_record(4, 2, 1).run.job.model
    for now in TRACE:
        for own in now.ranks:
            mine = held(own.first)
            part = set(part_range(model, now.part)) if now.phase == "backward" else set()
            assert held(own.gradients) == mine | part


def test_the_backward_pass_goes_part_by_part_from_the_output():
    model = sharded_record(4, 2, 1).run.job.model
    parts = [now.part for now in TRACE if now.phase == "backward"]
    assert parts == list(reversed(part_names(model)))


def test_a_sum_is_that_of_the_local_gradients():
    local = next(n for n in TRACE if n.phase == "backward" and n.part == "layer 1")
    after = next(n for n in TRACE if n.phase == "reduce_scatter" and n.part == "layer 1")
    for own in after.ranks:
        for place in held(own.first) & set(
            part_range(sharded_record(4, 2, 1).run.job.model, "layer 1")
        ):
            total = sum(one.gradients[place] for one in local.ranks)
            assert own.gradients[place] == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("micro", [1, 2, 4])
def test_every_run_equals_one_gpu(ranks, micro):
    found = views("zero_2_steps", ranks=ranks, micro_batches=micro)
    assert found["equal"].text == "Equal to one GPU"


@pytest.mark.parametrize("micro", [1, 2, 4])
def test_what_is_sent_is_what_the_formula_says(micro):
    found = solved("zero_2_steps", ranks=2, micro_batches=micro)
    assert found.sent == found.sent_formula
    assert found.reductions == 4 * micro
    assert found.over == (micro + 1) / 2


def test_the_memory_has_one_tooth_per_part_and_stays_below_plain_data_parallelism():
    step = solved("zero_2_steps").step
    teeth = [b - a for a, b in zip(step.memory, step.memory[1:], strict=False) if b > a]
    assert teeth == [2 * 36, 2 * 96, 2 * 96, 2 * 32]
    assert max(step.memory) < step.whole == 16 * 260


def test_all_frames_have_the_same_shapes():
    frames = views("zero_2_steps", ranks=3, micro_batches=2)["scene"].frames
    assert len({tuple(shape.key for shape in frame.shapes) for frame in frames}) == 1


# At real scale.


def test_stage_2_saves_all_gradients_but_its_share():
    found = solved("zero_2_lab", model="llama-2-13b", ranks=16)
    assert found.saved == pytest.approx(2 * 13.016e9 * 15 / 16, rel=1e-3)


def test_zero_1_and_zero_2_send_as_much_for_one_micro_batch():
    found = solved("zero_2_lab", micro_batches=1)
    assert found.more == 0
    assert found.slower == pytest.approx(1)


@pytest.mark.parametrize("micro", [2, 4, 8])
def test_each_further_micro_batch_is_reduced_once_more(micro):
    found = solved("zero_2_lab", micro_batches=micro)
    assert found.runs[2].sent == pytest.approx(found.runs[1].sent * (micro + 1) / 2)


def test_zero_2_costs_time_for_many_micro_batches_and_most_on_slow_ports():
    slow, fast = (
        solved("zero_2_lab", port=port, micro_batches=8).slower for port in (12.5e9 / 8, 50e9)
    )
    assert slow > 1.5 > fast > 1.005
    assert views("zero_2_lab", micro_batches=8)["regime"].text == "ZeRO-2 costs time here"
    assert views("zero_2_lab", micro_batches=1)["regime"].text == "ZeRO-2 costs nothing here"


@pytest.mark.parametrize("won", [False, True])
def test_the_challenge_is_lost_at_its_start_and_won_by_its_solution(won):
    found = views("zero_2_lab")["challenge"]
    now = views("zero_2_lab", **(found.solution if won else found.start))["challenge"]
    assert all(condition.met for condition in now.conditions) == won


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("micro", [1, 3])
def test_the_simulated_collectives_of_the_layers_send_what_the_formula_says(stage, micro):
    job = ShardedSetting(
        model="llama-3-8b",
        gpu="h100",
        ranks=64,
        zero_stage=stage,
        framework="megatron",
        num_microbatches=micro,
        tokens=4096,
        port=400 * Gbit,
        gradient="bf16",
    )
    found = simulate_sharded_step(job)
    work = found.job.work
    total = work.parameters * work.layers * 2 + work.last_bucket
    moved = sum(span.op.size for span in found.spans if span.op.stream != COMPUTE)
    assert moved == pytest.approx(zero_bytes_sent(total, total, stage, 64, micro))


@pytest.mark.parametrize("stage", [1, 2])
def test_a_lab_sends_as_many_bytes_as_the_page_of_the_saving_says(stage):
    lab = solved("zero_2_lab", micro_batches=1)
    saving = solved("zero_saving", model="llama-3-8b", ranks=64, zero_stage=stage)
    assert lab.runs[stage].sent == pytest.approx(saving.sent)
