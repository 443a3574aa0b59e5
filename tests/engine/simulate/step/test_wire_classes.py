"""Classes of tensors add up to the axes' bytes, and only ticked ones become fewer."""

from dataclasses import replace

import pytest

from engine.calculators.whole_runs.wire_types import PRESETS, TICKS, Inputs, solve
from engine.form.short_job import job_run
from engine.simulate.step.axis_bytes import axis_bytes_sent
from engine.simulate.step.wire_classes import compression_gain, wire_classes
from tests.each import each

JOBS = [Inputs(**preset) for preset in PRESETS.values()]
NOTHING = frozenset()


@each("inputs", JOBS)
def test_classes_add_up_to_the_bytes_of_every_axis(inputs):
    run = job_run(inputs)
    axes = axis_bytes_sent(run.model, run.plan, run.training)
    for axis, sent in axes.items():
        own = [one.sent for one in wire_classes(run, NOTHING) if one.axis == axis]
        assert sum(own) == pytest.approx(sent)


def gathered(run):
    sent = {one.key: one.sent for one in wire_classes(run, NOTHING)}
    return sent["hidden"] / (sent["hidden"] + sent["summed"])


def test_six_of_ten_passes_of_a_split_sequence_are_gathers():
    run = job_run(Inputs())
    assert gathered(run) == pytest.approx(0.6)
    again = replace(run, training=replace(run.training, recompute="full"))
    assert gathered(again) == pytest.approx(8 / 14)
    whole = replace(run, plan=replace(run.plan, sequence_parallel=False))
    assert gathered(whole) == 0


@each("tick", TICKS)
def test_a_tick_touches_its_own_class_alone(tick):
    run = job_run(Inputs())
    for one in wire_classes(run, frozenset({tick})):
        assert one.sent_if_narrow == (one.sent / one.element if one.key == tick else one.sent)


def test_fp8_products_change_no_byte():
    run = job_run(Inputs())
    fine = replace(run, training=replace(run.training, precision="fp8"))
    assert [one.sent for one in wire_classes(run, NOTHING)] == [
        one.sent for one in wire_classes(fine, NOTHING)
    ]


@each("inputs", JOBS)
def test_no_more_is_gained_than_is_waited_for(inputs):
    run = job_run(inputs)
    gain = compression_gain(run, wire_classes(run, frozenset(TICKS)))
    assert 0 < gain.saved <= gain.step.exposed + 1e-12
    assert compression_gain(run, wire_classes(run, NOTHING)).saved == 0


@each("inputs", [*JOBS, Inputs()])
def test_what_the_page_offers_fits(inputs):
    assert solve(inputs).fit.runs
