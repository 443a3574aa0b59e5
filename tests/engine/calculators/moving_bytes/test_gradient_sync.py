"""The gradient sync lab against published numbers, and against itself."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from engine.calculator import load, make
from engine.catalog.constants import achieved_shares
from engine.catalog.hardware import GPUS, MEASURED
from engine.core.numbers import NEVER, Display, format_value, other_system
from engine.core.text import render_text
from engine.core.units import Gbit, MiB
from engine.core.views import Lines
from engine.form.published_sync_calculator import published_outputs
from engine.simulate.step.step_time import step_time
from tests.each import each

compute, solve = load("gradient_sync").compute, load("gradient_sync").solve
# The published example: eight nodes of one GPU and one port.
LAB = make(load("gradient_sync"), {"world_size": 8, "gpus_per_node": 1, "ports_per_node": 1})
NODES = make(load("gradient_sync"), {})
BLOCKING = replace(LAB, overlap=False)


def text(inputs, output):
    view = compute(inputs)[output]
    return format_value(view.value, view.quantity)


def note(inputs, output):
    return render_text(compute(inputs)[output].note)


def also(inputs, output):
    view = compute(inputs)[output]
    return other_system(view.value, view.quantity)


def regime(inputs):
    return compute(inputs)["regime"].text


def exposed(inputs):
    return solve(inputs).exposed_time


def right(row):
    """The third column of the table of published digits, by the first."""
    rows = compute(replace(LAB, published=True))["published_digits"].rows
    return next(render_text(cells[2]) for cells in rows if cells[0] == row)


@each(
    ("inputs", "output", "expected"),
    [
        # 24.5 GB at 44 GB/s, which is 0.88 of the port.
        (LAB, "bandwidth_part", "557 ms"),
        (LAB, "all_reduce_time", "557 ms"),
        (LAB, "gradient_size", "14.0 GB"),
        (LAB, "sent_bytes", "24.5 GB"),
        (LAB, "latency_part", "195 µs"),
        (LAB, "algorithm_bandwidth", "25.1 GB/s"),
        (LAB, "bus_bandwidth", "44.0 GB/s"),
        # 24.5 GB in the backward pass, through 0.88 of the port.
        (LAB, "required_bandwidth", "919.8 Gb/s"),
        # Two buffers at 0.92 and 0.85 of that.
        (replace(LAB, algorithm="tree"), "all_reduce_time", "814 ms"),
        (replace(LAB, gpus_per_node=8, algorithm="ring"), "bandwidth_part", "66.6 ms"),
        (NODES, "bandwidth_part", "78.3 ms"),
        (NODES, "latency_part", "424 µs"),
        (replace(LAB, parameters=175e9), "gradient_size", "350 GB"),
        (replace(LAB, parameters=175e9), "sent_bytes", "612 GB"),
        (replace(LAB, dtype="fp32"), "gradient_size", "28.0 GB"),
        (replace(LAB, dtype="fp8"), "all_reduce_time", "279 ms"),
    ],
)
def test_the_lab_gives_the_known_numbers(inputs, output, expected):
    assert text(inputs, output) == expected


def test_14_gigabytes_are_also_13_04_gibibytes():
    assert also(LAB, "gradient_size") == "13.0 GiB"


@each("tokens", [4096, 8192])
def test_efficiency_with_ideal_overlap_waits_for_what_outlasts_the_backward_pass(tokens):
    lab = solve(replace(LAB, tokens_per_gpu=tokens))
    waits = lab.all_reduce_time - lab.backward_time
    assert lab.ideal_efficiency == pytest.approx(lab.working_time / (lab.working_time + waits))


@each(
    ("output", "digits"),
    [
        ("gradient", "13.04 GB"),
        ("ring", "456.3 ms"),
        ("tree", "521.5 ms"),
        ("compute", "3.5 ms"),
        ("step", "459.8 ms"),
        ("overhead", "99.2 %"),
        ("efficiency", "0.8 %"),
        ("bandwidth", "29802+ Gbps"),
        ("upgrade", "119600G+"),
    ],
)
def test_the_published_digits_are_reproduced(output, digits):
    assert published_outputs(7e9, 2.0, 8, 400 * Gbit)[output] == digits


@each(
    ("row", "expected"),
    [
        ("Gradient size", "14.0 GB"),
        ("All-reduce, ring", "490 ms"),
        ("All-reduce, tree", "560 ms"),
        ("Compute", "351 ms"),
        ("Least bandwidth", "919.8 Gb/s"),
    ],
)
def test_the_right_numbers_stand_beside_the_published_ones(row, expected):
    assert right(row) == expected


def test_the_published_compute_time_is_that_of_41_tokens():
    rows = compute(replace(LAB, published=True))["published_digits"].rows
    reason = next(render_text(cells[3]) for cells in rows if cells[0] == "Compute")
    assert reason == "what it prints is the time of 41 tokens"


def test_the_published_digits_appear_only_when_asked_for():
    assert compute(LAB)["published_digits"].rows == ()


def test_the_published_ring_time_is_7_4_percent_short():
    receipt = compute(LAB)["all_reduce_time"].receipt
    assert "7.4 % more" in render_text(receipt.published.reason)


def test_ring_and_tree_cross_at_188_megabytes_on_64_gpus_in_nodes_of_eight():
    view = load("algorithm_race").compute(make(load("algorithm_race"), {}))["crossover"]
    assert format_value(view.value, view.quantity) == "188 MB"


def test_the_reader_can_have_sizes_in_gibibytes():
    view = compute(LAB)["sent_bytes"]
    assert format_value(view.value, view.quantity, Display(binary=True)) == "22.8 GiB"


def test_blocking_exposes_all_of_the_all_reduce():
    # All weights but the vectors of norms, which the step leaves out.
    assert exposed(BLOCKING) == pytest.approx(solve(BLOCKING).all_reduce_time, rel=1e-4)


def test_the_blocking_share_is_the_all_reduce_over_the_step():
    sync = solve(LAB)
    share = sync.all_reduce_time / (sync.all_reduce_time + sync.working_time)
    assert compute(LAB)["blocking_share"].value == pytest.approx(share)


def test_the_blocking_share_is_the_exposed_share_without_overlap():
    shares = compute(BLOCKING)
    assert shares["exposed_share"].value == pytest.approx(shares["blocking_share"].value, rel=1e-4)


def test_efficiency_and_exposed_share_are_the_whole_step():
    views = compute(LAB)
    assert views["efficiency"].value + views["exposed_share"].value == pytest.approx(1)


def test_accumulation_pays_one_all_reduce_for_all_micro_batches():
    one, four = solve(LAB), solve(replace(LAB, accumulation=4))
    assert (four.compute_time, four.exposed_time) == (4 * one.compute_time, one.exposed_time)


def test_zero_1_hides_more_because_the_forward_pass_helps():
    # With buckets large enough that latency does not count; its shards also update faster.
    large = replace(LAB, bucket=256 * MiB)
    sharded = replace(large, sharding="zero1")
    assert exposed(sharded) < exposed(large)
    assert solve(sharded).closing_time < solve(large).closing_time


def test_blocking_zero_1_hides_nothing():
    lab = solve(replace(BLOCKING, sharding="zero1"))
    assert lab.exposed_time == pytest.approx(lab.communication)
    assert lab.communication == pytest.approx(lab.all_reduce_time, rel=2e-3)


def test_in_network_reduction_saves_nearly_half_of_the_bytes():
    lab = solve(replace(NODES, algorithm="in_network", world_size=8))
    assert lab.sent_bytes / lab.gradient_size == pytest.approx(9 / 8)


def test_a_network_that_adds_takes_the_buffer_once_and_gives_the_sum_back_once():
    lab = solve(replace(LAB, algorithm="in_network"))
    assert (lab.sent_bytes, lab.bandwidth_part) == (14e9, pytest.approx(0.28 / 0.88, rel=2e-3))


def test_over_nodes_the_slower_kind_of_switch_sets_the_pace():
    # Inside 1.266 * 14 GB at 0.833 of 369 GB/s: 57.7 ms; between nodes 14 GB at 352: 39.8 ms.
    assert text(replace(NODES, algorithm="in_network"), "bandwidth_part") == "57.7 ms"


def test_a_hierarchy_of_nodes_with_one_gpu_is_a_ring():
    assert text(replace(LAB, algorithm="hierarchical"), "all_reduce_time") == "557 ms"


def test_auto_chooses_for_the_bucket_and_not_for_the_whole_gradient():
    # 64 GPUs in 8 nodes: 25 MiB in trees of switches, 14 GB in a ring.
    auto = solve(replace(NODES, algorithm="auto"))
    assert (auto.sync.algorithm, auto.algorithm, auto.way) == ("tree", "ring", "Ring Simple")


def test_auto_takes_the_tree_where_latency_rules():
    inputs = replace(LAB, algorithm="auto", parameters=1e7, world_size=131_072)
    assert solve(inputs).algorithm == "tree"


def test_eight_gpus_of_one_node_stay_on_nvlink():
    lab = solve(replace(LAB, gpus_per_node=8))
    assert lab.ring_bandwidth == pytest.approx(MEASURED["h200_ring"].bus_bandwidth, rel=0.01)


@each("gpu", GPUS)
def test_a_gpu_brings_its_own_links(gpu):
    lab = solve(replace(NODES, world_size=8, gpu=gpu, algorithm="ring"))
    reached = achieved_shares(GPUS[gpu]).scale_up * GPUS[gpu].scale_up
    assert lab.ring_bandwidth == pytest.approx(reached)
    assert 0.98 * reached < lab.bus_bandwidth < reached


@each(("gpu", "link"), [("h100", "NVLink"), ("mi300x", "Infinity Fabric")])
def test_the_link_inside_a_node_has_its_makers_name(gpu, link):
    lab = replace(NODES, world_size=8, gpu=gpu)
    assert f"over {link} inside" in note(lab, "all_reduce_time")
    assert compute(lab)["required_bandwidth"].label.startswith(link)


def test_a_single_bucket_is_never_hidden():
    lab = replace(NODES, parameters=1e7, tokens_per_gpu=1_048_576)
    assert text(lab, "break_even_tokens") == NEVER
    assert compute(lab)["efficiency_curve"].rules == ()
    assert regime(replace(lab, tokens_per_gpu=32_768)) == "One bucket"


def test_eight_ports_carry_eight_rings_at_once_up_to_the_speed_of_nvlink():
    inputs = replace(LAB, world_size=64, gpus_per_node=8, ports_per_node=8)
    assert solve(inputs).ring_bandwidth == pytest.approx(8 * 44e9)
    assert solve(replace(inputs, port=800 * Gbit)).ring_bandwidth == pytest.approx(369e9)


def test_crossing_the_break_even_flips_the_regime():
    inputs = replace(LAB, latency=1e-6)
    tokens = round(solve(inputs).break_even_tokens)
    before = regime(replace(inputs, tokens_per_gpu=tokens - 50))
    after = regime(replace(inputs, tokens_per_gpu=tokens * 4))
    assert (before, after) == ("Link bandwidth", "Compute")


@each(
    ("inputs", "name"),
    [
        (LAB, "Link bandwidth"),
        (BLOCKING, "Blocking"),
        (replace(LAB, tokens_per_gpu=131_072), "Compute"),
        (replace(LAB, gpus_per_node=8, tokens_per_gpu=512), "NVLink bandwidth"),
        (
            replace(LAB, parameters=1e7, tokens_per_gpu=256, world_size=4096, algorithm="ring"),
            "Latency",
        ),
        (NODES, "Contention"),
        (replace(NODES, world_size=1024, algorithm="ring"), "Bucket latency"),
        (replace(LAB, bucket=1024 * MiB, tokens_per_gpu=16_384), "Last bucket"),
    ],
)
def test_the_regime_names_what_binds(inputs, name):
    assert regime(inputs) == name


def test_the_marked_point_lies_on_the_curve_as_set():
    curve = compute(replace(LAB, tokens_per_gpu=256))["efficiency_curve"]
    assert curve.points[0].y == pytest.approx(curve.series[0].y[0], rel=1e-12)


def test_every_point_of_the_efficiency_curve_is_what_the_model_gives_there():
    inputs = replace(LAB, sharding="zero1", accumulation=2)
    curve = compute(inputs)["efficiency_curve"].series[0]
    steps = [solve(replace(inputs, tokens_per_gpu=int(t))) for t in curve.x]
    assert list(curve.y) == pytest.approx([1 - s.exposed_time / s.step_time for s in steps])


def test_every_point_of_the_required_curve_is_what_the_lab_gives_there():
    curve = compute(LAB)["required_curve"].series[0]
    for tokens, port in list(zip(curve.x, curve.y, strict=True))[::12]:
        inputs = replace(LAB, tokens_per_gpu=int(tokens))
        assert compute(inputs)["required_bandwidth"].value == pytest.approx(port, rel=1e-12)


def test_a_port_that_hides_nothing_is_drawn_nowhere():
    slow = replace(
        LAB,
        algorithm="hierarchical",
        world_size=1024,
        gpus_per_node=8,
        tokens_per_gpu=256,
    )
    view = compute(slow)["required_curve"]
    assert isinstance(view, Lines)
    assert (view.points, max(view.series[0].y) < 1e15) == ((), True)


def test_the_required_port_hides_the_bandwidth_part():
    port = compute(LAB)["required_bandwidth"].value
    faster = compute(replace(LAB, port=port))
    assert faster["bandwidth_part"].value == pytest.approx(faster["backward_time"].value)


@each("seed", range(40))
def test_the_timeline_is_as_long_as_the_step(seed):
    chance = random.Random(seed)
    inputs = replace(
        LAB,
        tokens_per_gpu=chance.choice([512, 4096, 8192, 16_384, 65_536]),
        bucket=chance.choice([1, 25, 256, 1024]) * MiB,
        world_size=2 ** chance.randint(1, 12),
        port=chance.choice([25, 100, 400, 1600]) * Gbit,
        overlap=chance.random() < 0.8,
        sharding=chance.choice(["none", "zero1"]),
        algorithm=chance.choice(["auto", "ring", "tree"]),
        dtype=chance.choice(["fp32", "bf16", "fp8"]),
        accumulation=chance.choice([1, 4]),
    )
    lab = solve(inputs)
    before = (inputs.accumulation - 1) * (lab.now.forward + lab.backward_time)
    end = max(span.end for span in compute(inputs)["timeline"].spans)
    assert before + end == pytest.approx(lab.step_time, rel=1e-9)


def test_the_spans_of_a_lane_do_not_overlap():
    spans = [s for s in compute(LAB)["timeline"].spans if s.lane == "communication"]
    ordered = sorted(spans, key=lambda span: span.start)
    assert all(a.end <= b.start * (1 + 1e-12) for a, b in pairwise(ordered))


def test_the_parts_of_the_all_reduce_are_the_all_reduce():
    views = compute(LAB)
    parts = views["bandwidth_part"].value + views["latency_part"].value
    assert parts == pytest.approx(views["all_reduce_time"].value)


def test_replicated_states_of_7_billion_parameters_are_more_than_an_h100_holds():
    # 16 bytes each are 112 GB; with ZeRO-1 on 64 GPUs 4 + 12 / 64 bytes: 29.3 GB.
    crowded = replace(NODES, gpu="h100")
    replicated, sharded = (solve(replace(crowded, sharding=one)) for one in ("none", "zero1"))
    assert (replicated.states / 1e9, sharded.states / 1e9) == pytest.approx((112, 29.3125))
    assert "shard them" in note(crowded, "states")
    assert sharded.missing == 0


PRESETS = load("gradient_sync").presets


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_jobs_that_the_page_offers_fit(preset):
    assert solve(NODES).missing == solve(replace(NODES, **preset)).missing == 0


def test_what_does_not_fit_is_offered_only_what_makes_it_fit():
    crowded = replace(NODES, gpu="h100")
    advice = compute(crowded)["advice"]
    assert "this job cannot run" in render_text(advice.verdict)
    assert {"zero1", "h200", "b200"} <= {one.key for one in advice.remedies}
    after = [solve(replace(crowded, **one.change)) for one in advice.remedies]
    assert all(one.missing == 0 for one in after)


def test_a_job_that_nothing_makes_fit_is_offered_nothing():
    advice = compute(replace(NODES, parameters=1e12))["advice"]
    assert advice.remedies == ()
    assert "split the model" in render_text(advice.verdict)


@pytest.mark.parametrize("parameters", [1e9, 7e9, 8.8e9])
def test_no_remedy_of_what_fits_stops_fitting(parameters):
    inputs = replace(NODES, parameters=parameters)
    remedies = compute(inputs)["advice"].remedies
    assert remedies
    assert not any(solve(replace(inputs, **one.change)).missing for one in remedies)


def test_a_model_that_no_sharding_of_the_optimizer_makes_fit_must_be_split():
    assert "split the model" in note(replace(NODES, parameters=175e9, sharding="zero1"), "states")


@each(("accumulation", "title"), [(1, "One step"), (2, "The last micro-batch of a step")])
def test_the_timeline_says_whether_it_is_the_whole_step(accumulation, title):
    assert compute(replace(LAB, accumulation=accumulation))["timeline"].title == title


GRID = [
    {"parameters": parameters, "world_size": ranks, "tokens_per_gpu": tokens, **wires}
    for parameters in (1e9, 8.03e9, 7e10)
    for ranks in (8, 128, 2048)
    for tokens in (1024, 8192)
    for wires in ({}, {"port": 100 * Gbit, "ports_per_node": 1}, {"sharding": "zero1"})
]


@pytest.mark.parametrize("changes", [{}, *PRESETS.values(), *GRID])
def test_the_step_is_the_estimates_and_what_is_forced_stands_apart(changes):
    found = solve(make(load("gradient_sync"), changes))
    run = found.now.run
    estimate = step_time(run.model, run.cluster, run.plan, run.training).total
    assert found.estimate == pytest.approx(estimate, rel=0.005)
    if not {"bucket", "algorithm"} & set(changes):
        assert found.step_time == found.estimate
    parts = found.compute_time + found.exposed_time + found.closing_time
    assert parts == pytest.approx(found.step_time)
