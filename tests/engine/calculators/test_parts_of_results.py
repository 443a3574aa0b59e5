"""A part of a result at other inputs is what the calculator solves at those inputs."""

import pytest

from engine.calculators.data_parallelism.bucket_lab.result import SIZES
from engine.calculators.data_parallelism.fsdp_knobs import TRIED_SETTINGS
from engine.calculators.splitting_the_model.context_lab.inputs import COLUMNS, ROWS
from engine.calculators.splitting_the_model.token_race import SHOWN
from engine.core.slices import run_to_end
from engine.core.units import MiB
from tests.engine.calculators.asked import solved


def test_each_setting_of_fsdp_is_tried_alone():
    kept = {"unit": "2", "reduce": "fp32"}  # the board takes the defaults instead
    for (*_, change), ran in zip(TRIED_SETTINGS, solved("fsdp_knobs", **kept).tried(), strict=True):
        assert ran.account.exposed == solved("fsdp_knobs", **change).exposed


def test_widths_and_depths_are_those_of_the_same_job():
    wide = solved("hybrid_lab", second=True)
    for width, ran in zip(wide.widths, wide.by_width(), strict=True):
        assert ran.peak == solved("hybrid_lab", shard=width).peak
    for depth, ran in enumerate(solved("zero_3_lab", micro_batches=2).by_depth()):
        assert ran.step == solved("zero_3_lab", prefetch=depth).step_time


def test_a_bucket_of_each_size_costs_what_the_lab_says_there():
    curve = dict(zip(SIZES, solved("bucket_lab").curve(), strict=True))
    assert curve[90].account.exposed == solved("bucket_lab", bucket=90 * MiB).exposed


def test_a_schedule_after_a_change_is_the_one_played_with_it():
    given = {"slow_stage": 2, "slowness": 0.5, "num_microbatches": 8, "synchronized": True}
    changed = solved("schedule_lab", **given).changed
    changes = {
        "more": {"num_microbatches": 16},
        "balance": {"slowness": 0.0},
        "free": {"synchronized": False},
    }
    assert set(changed) == set(changes)
    for key, change in changes.items():
        assert (
            changed[key]().idle_share == solved("schedule_lab", **{**given, **change}).bubble_share
        )


def test_a_plan_after_a_change_is_the_one_modeled_with_it():
    for change, plan in solved("parallelism_modeler").changed().values():
        assert plan.token_time == solved("parallelism_modeler", **change).token_time


def test_sweeps_over_ranks_batches_and_cuts_are_solved_one_by_one():
    for one in solved("expert_exchange").over_ranks():
        assert one.time == solved("expert_exchange", expert_parallel=one.ranks).time
    for batch, one in zip(SHOWN, solved("token_race").by_batch(), strict=True):
        assert one.zero_rate == solved("token_race", batch=batch).zero_rate
    for (cut, packing), layer in solved("document_packing").by_cut().items():
        assert layer == solved("document_packing", cut=cut, packing=packing).layer


def test_a_cell_of_the_map_of_waiting_is_a_run_of_its_own():
    cells = solved("context_lab").exposed_map()
    row, column = ROWS.index(32), COLUMNS.index(1 << 18)
    there = solved("context_lab", context_parallel=32, sequence_length=1 << 18)
    assert cells[row][column] == there.exposed
    assert (
        there.buffers["b3"]
        == solved("context_lab", context_parallel=32, sequence_length=1 << 18, num_buffers=3).buffer
    )


def test_a_curve_of_a_setting_of_zero_3_passes_through_the_readers_point():
    own = solved("zero_3_knobs", bucket=1e8)
    found = run_to_end(own.curves["bucket"].rest())
    assert found.now == own.exposed
    assert found.default == solved("zero_3_knobs").exposed
    assert run_to_end(own.curves["bucket"].rest()) is found  # and is found once


def test_a_router_lives_each_way_as_it_would_alone():
    lives = run_to_end(solved("router_lab").lives.rest())
    assert lives["bias"].given_up == pytest.approx(solved("router_lab", balance="bias").given_up)
