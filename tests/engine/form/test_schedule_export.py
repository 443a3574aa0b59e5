"""A schedule that was written for a framework is read back as the order it was."""

import re

import pytest

from engine.calculator import load, make
from engine.calculators.splitting_the_model.schedule_lab.export import (
    megatron_arguments,
    pytorch_csv,
)
from engine.core import registry
from engine.core.pipeline_op import BACKWARD, FORWARD, INPUT, MIRROR, PAIR, WEIGHT, Op, rank_of
from engine.run.importers.layouts import parse_layout
from engine.simulate.pipeline.pipeline import PACKAGE, compile_schedule

NAMES = registry.module_names(PACKAGE)
# As in torch.distributed.pipelining.schedules of PyTorch 2.13.
ACTION = re.compile(r"(\d+)(F|I|B|W)(\d+)")
KINDS = {"F": FORWARD, "B": BACKWARD, "I": INPUT, "W": WEIGHT}


def read(text, ranks, placement):
    """The orders of a file, stages turned into ranks and chunks."""
    return [
        [action(cell, rank, ranks, placement) for cell in line.split(",")]
        for rank, line in enumerate(text.splitlines())
    ]


def action(cell, rank, ranks, placement):
    if cell.endswith("OVERLAP_F_B"):
        forward, back = (action(one, rank, ranks, placement) for one in cell[1:-12].split(";"))
        return Op(PAIR, forward.microbatch, forward.chunk, back.microbatch, back.chunk)
    stage, letter, microbatch = ACTION.fullmatch(cell).groups()
    assert rank_of(int(stage), ranks, placement) == rank
    return Op(KINDS[letter], int(microbatch), int(stage) // ranks)


@pytest.mark.parametrize("name", NAMES)
def test_the_csv_is_read_back_as_the_order(name):
    schedule = registry.module(PACKAGE, name)
    orders = compile_schedule(name, 4, 8, schedule.CHUNKS[0]).orders
    text = pytorch_csv(orders, schedule.PLACEMENT)
    if schedule.PLACEMENT == MIRROR:
        assert text == ""
        return
    assert read(text, 4, schedule.PLACEMENT) == [list(order) for order in orders]


def test_two_stages_and_two_micro_batches_of_1f1b():
    text = pytorch_csv(compile_schedule("one_f_one_b", 2, 2, 1).orders, "loop")
    assert text == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"


def test_megatron_is_told_stages_chunks_and_the_group():
    found = megatron_arguments("interleaved", 8, 2, 10).split()
    assert dict(zip(found[::2], map(int, found[1::2]), strict=True)) == {
        "--pipeline-model-parallel-size": 8,
        "--num-virtual-stages-per-pipeline-rank": 2,
        "--microbatch-group-size-per-virtual-pipeline-stage": 10,
    }


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("one_f_one_b", "interleaved")])
def test_what_megatron_has_not_is_not_written(name):
    assert megatron_arguments(name, 8, 2, 8) == ""


def exported(**values):
    lab = load("schedule_lab")
    found = lab.compute(make(lab, values), only=["pytorch", "megatron"])
    return found["pytorch"].text, found["megatron"].text


def test_the_lab_exports_what_it_plays():
    order, arguments = exported(schedule="interleaved", pipeline_parallel=8, num_microbatches=20)
    assert len(order.splitlines()) == 8
    assert "--microbatch-group-size-per-virtual-pipeline-stage 10" in arguments


def test_what_megatron_refuses_is_said():
    few = {"schedule": "interleaved", "pipeline_parallel": 4, "num_microbatches": 3}
    assert exported(**few)[1].startswith("# Megatron-LM interleaves only with at least as many")


def test_groups_that_pytorch_does_not_take_are_told_to_megatron():
    _, arguments = exported(schedule="interleaved", pipeline_parallel=4, num_microbatches=11)
    assert "--microbatch-group-size-per-virtual-pipeline-stage 6" in arguments


def test_a_long_order_and_two_copies_say_why_there_is_none():
    assert exported(pipeline_parallel=32, num_microbatches=256)[0].startswith("# More than 4,096")
    assert "two copies" in exported(schedule="dualpipe", num_microbatches=8)[0]


def test_uneven_stages_are_told_as_a_layout_that_is_read_back():
    _, arguments = exported(num_layers=30, output=1.0)
    (text,) = re.findall(r'--pipeline-model-parallel-layout "([^"]*)"', arguments)
    assert parse_layout(text) == [7, 8, 8, 7]
    assert text == "Et*7|t*8|t*8|t*7L"


def test_chunks_of_a_layout_are_not_told_twice():
    values = {"schedule": "interleaved", "num_chunks": 2, "num_layers": 14}
    _, arguments = exported(**values)
    assert "--num-virtual-stages-per-pipeline-rank" not in arguments
    (text,) = re.findall(r'--pipeline-model-parallel-layout "([^"]*)"', arguments)
    assert parse_layout(text) == [1, 2, 2, 2, 2, 2, 2, 1]
