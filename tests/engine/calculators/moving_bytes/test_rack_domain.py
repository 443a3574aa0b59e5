"""A job on racks of 72 whose trays NVLink joins, or does not."""

from dataclasses import replace

import pytest

from engine.calculators.moving_bytes.rack_domain import (
    DOMAINS,
    Inputs,
    bus_bandwidth,
    runs,
    solve,
    views,
)
from engine.core.units import GB
from engine.run.machines import cluster_of
from engine.simulate.collectives.collective import collective_rank
from engine.simulate.layer.device_model import rank_group
from engine.simulate.step.step_time import step_time
from tests.each import each

RACK = cluster_of("gb200-nvl72")


@each("size", [4, 8, 16, 64])
def test_a_domain_holds_as_many_ranks_as_it_says(size):
    rank = collective_rank(replace(RACK, nvlink_domain=size))
    group = rank_group(rank, 64, 1)
    assert group.nodes == 64 // size
    assert rank_group(rank, min(4, size), 1).nodes == 1


def test_without_a_word_a_rack_is_what_jobs_use_of_it():
    assert collective_rank(RACK).domain == 72
    tray = replace(RACK, gpus_per_node=4, nics_per_node=4)
    assert collective_rank(tray).domain == 64  # a host of a rack is named, the rack is meant


def test_the_whole_rack_is_within_a_tenth_of_what_is_measured():
    """GB200 NVL72: 835 and 850 GB/s of an all-reduce, by two published runs of nccl-tests."""
    whole = bus_bandwidth(runs(Inputs())[0][64].cluster)
    assert whole == pytest.approx(842 * GB, rel=0.1)


def test_trays_by_themselves_have_four_ports():
    alone = bus_bandwidth(runs(Inputs())[0][4].cluster)
    assert 0.7 * 4 * 50 * GB < alone < 4 * 50 * GB
    twice = bus_bandwidth(runs(Inputs(rack="gb300-nvl72"))[0][4].cluster)
    assert twice == pytest.approx(2 * alone, rel=0.05)  # its ports have 800 Gb/s


def test_the_exchange_of_experts_loses_its_speed_with_half_a_rack():
    """Of 64 ranks, 32 are in the other domain: half of what a rank sends leaves by its port."""
    jobs = runs(Inputs())[0]
    half = bus_bandwidth(jobs[32].cluster, "all_to_all")
    port = 50 * GB / (32 / 63)
    assert 0.8 * port < half < port
    assert bus_bandwidth(jobs[64].cluster, "all_to_all") > 5 * half


def _verdict(**changes):
    inputs = Inputs(**changes)
    return views(inputs, solve(inputs))["verdict"]


@each("domain, words", [("64", "One NVLink domain"), ("32", "Part of the rack is lost"),
                        ("16", "Part of the rack is lost"), ("4", "The rack is lost")])  # fmt: skip
def test_a_part_of_a_rack_is_not_called_a_lost_rack(domain, words):
    assert _verdict(domain=domain).text == words


def test_a_job_that_does_not_fit_is_told():
    job = {"model": "llama-3-405b", "tensor_parallel": 4, "pipeline_parallel": 1}
    verdict = _verdict(**job, expert_parallel=1, world_size=4, rack="gb300-nvl72")
    assert verdict.text == "Does not fit"


def test_a_smaller_domain_never_makes_a_job_faster():
    times = solve(Inputs()).times
    steps = [times[size].total for size in sorted(times)]
    assert steps == sorted(steps, reverse=True)
    assert len(steps) == len(DOMAINS)


def test_the_step_is_the_estimates():
    result, jobs = solve(Inputs(domain="16")), runs(Inputs())[0]
    run = jobs[16]
    assert result.step == step_time(run.model, run.cluster, run.plan, run.training).total
    assert result.whole == solve(Inputs(domain="64")).step
