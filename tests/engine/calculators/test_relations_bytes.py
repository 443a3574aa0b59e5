"""Relations that hold in moving bytes and data parallelism, over all presets."""

from dataclasses import replace

import pytest

from engine.calculator import load, make
from engine.catalog.hardware import GPUS
from engine.catalog.transports import INFINIBAND
from engine.core.inputs import Number
from engine.simulate.collectives.cluster_wires import sent_bytes
from engine.simulate.collectives.collective import collective_time
from tests.each import each

ROOMS = (
    "algorithm_race",
    "alpha_beta_fit",
    "collective_at_scale",
    "collective_steps",
    "collectives_by_hand",
    "data_parallel_scaling",
    "data_parallel_steps",
    "data_parallel_variants",
    "data_sampler",
    "gradient_sync",
    "message_waterfall",
    "port_traffic",
    "published_waterfall",
    "rail_claim",
    "slow_port",
    "zero_saving",
    "zero_steps",
)
LESS = 1 + 1e-9  # what rounding may add


def cases(*names):
    """(calculator, preset) of the calculators named, the defaults as ""."""
    return [(name, preset) for name in names for preset in ("", *load(name).presets)]


def inputs_of(name, preset, **changes):
    return make(load(name), {**load(name).presets.get(preset, {}), **changes})


def solved(name, preset, **changes):
    return load(name).solve(inputs_of(name, preset, **changes))


SYNC = each(("name", "preset"), cases("gradient_sync"))
OTHER_SIZES = [{}, {"parameters": 1e7}, {"parameters": 2e12}, {"world_size": 131_072}]
SIZES = each("changes", OTHER_SIZES)


@SYNC
@SIZES
def test_the_wire_takes_no_longer_than_the_collectives_alone(name, preset, changes):
    found = solved(name, preset, **changes)
    wires = found.job.wires
    rate = wires.scale_up if wires.num_nodes == 1 else max(wires.scale_up, wires.node)
    least = sent_bytes(wires, found.sync.algorithm, found.gradient_size) / rate
    assert least <= found.all_reduce_time * LESS
    assert found.all_reduce_time <= found.communication * LESS


@SYNC
@SIZES
@each("overlap", [True, False])
@each("sharding", ["none", "zero1"])
def test_a_step_waits_for_no_more_than_its_collectives(name, preset, changes, overlap, sharding):
    found = solved(name, preset, **changes, overlap=overlap, sharding=sharding)
    # And for what the passes are longer beside them.
    assert 0 <= found.exposed_time <= (found.communication + found.contention) * LESS
    assert found.exposed_time <= found.step_time
    assert found.contention <= found.exposed_time * LESS
    assert found.efficiency <= found.ideal_efficiency * LESS


@SYNC
@SIZES
def test_the_parts_of_a_step_and_of_an_all_reduce_add_up(name, preset, changes):
    found = solved(name, preset, **changes)
    assert found.working_time + found.exposed_time == pytest.approx(found.step_time)
    assert found.compute_time + found.closing_time == pytest.approx(found.working_time)
    assert found.bandwidth_part + found.latency_part == pytest.approx(found.all_reduce_time)
    assert found.efficiency + found.exposed_share == pytest.approx(1)


FASTER = [
    {"port": 2.0},
    {"ports_per_node": 2},
    {"latency": 0.5},
]


@SYNC
@SIZES
@each("better", FASTER, ids=lambda change: next(iter(change)))
@each("algorithm", ["ring", "tree", "in_network"])
def test_what_helps_never_makes_a_step_longer(name, preset, changes, better, algorithm):
    inputs = inputs_of(name, preset, **changes, algorithm=algorithm)
    (key, factor), lab = next(iter(better.items())), load(name)
    more = replace(inputs, **{key: type(getattr(inputs, key))(getattr(inputs, key) * factor)})
    now, then = lab.solve(inputs), lab.solve(more)
    assert then.step_time <= now.step_time * LESS
    assert then.all_reduce_time <= now.all_reduce_time * LESS


@SYNC
@SIZES
def test_automatic_takes_what_nccl_chooses_for_each_message(name, preset, changes):
    auto = solved(name, preset, **changes, algorithm="auto")
    wires, weights = auto.job.wires, auto.now.weights
    last = auto.element * weights.embedding
    bucket = (auto.element * weights.total - last) / auto.num_buckets
    sizes = {bucket: auto.num_buckets, last: 1}
    halves = ("reduce_scatter", "all_gather") if auto.job.zero1 else ("all_reduce",)
    alone = sum(
        count * collective_time(wires.rank, wires.group, size, half)
        for half in halves
        for size, count in sizes.items()
    )
    assert auto.communication == pytest.approx(alone)
    assert auto.all_reduce_time == collective_time(wires.rank, wires.group, auto.gradient_size)


@each("gpu", GPUS)
def test_a_gpu_brings_its_own_links_and_no_ring_runs_above_its_line_rate(gpu):
    for preset in ("", *load("gradient_sync").presets):
        found = solved("gradient_sync", preset, gpu=gpu, algorithm="ring")
        assert found.scale_up_rate < GPUS[gpu].scale_up
        assert found.peak == GPUS[gpu].peak["bf16"]
        node = found.job.wires.node if found.num_nodes > 1 else float("inf")
        assert found.bus_bandwidth <= max(GPUS[gpu].scale_up, node)


@each("name", ROOMS)
def test_a_hop_between_nodes_has_one_latency(name):
    for key, field in load(name).fields.items():
        if isinstance(field, Number) and field.symbol == "α":
            assert load(name).defaults[key] == INFINIBAND.step, f"{name}.{key}"


def test_the_same_ring_sends_the_same_bytes_on_all_pages():
    lab = solved("gradient_sync", "", world_size=8, gpus_per_node=1, ports_per_node=1)
    assert lab.sent_bytes == pytest.approx(solved("port_traffic", "").ring_port)


AT_SCALE = each(("name", "preset"), cases("collective_at_scale"))


@AT_SCALE
def test_on_a_cluster_bytes_alone_and_empty_buffers_take_no_longer_than_both(name, preset):
    found = solved(name, preset)
    for one in found.played.values():
        assert one.moving <= one.timed.time * LESS
        assert one.timed.latency <= one.timed.time * LESS
        assert one.timed.time <= (one.moving + one.timed.latency) * LESS
    assert found.fastest == min(one.timed.time for one in found.played.values())


@AT_SCALE
@each("better", [{"oversubscription": 1.0}, {"slow_share": 1.0}, {"port": 1e11}])
def test_on_a_cluster_better_wires_never_take_longer(name, preset, better):
    now, then = solved(name, preset), solved(name, preset, **better)
    for algorithm, one in now.played.items():
        assert then.played[algorithm].timed.time <= one.timed.time * LESS


@each(("name", "preset"), cases("slow_port", "collectives_by_hand"))
def test_a_slow_port_never_makes_a_collective_faster(name, preset):
    found = solved(name, preset)
    assert found.even_time <= found.time * LESS


@each(("name", "preset"), cases("message_waterfall"))
def test_a_message_on_the_wire_alone_and_in_the_step(name, preset):
    found = solved(name, preset)
    assert found.wire_minimum <= found.isolated * LESS
    assert 0 <= found.exposed <= found.isolated * LESS
    assert found.latency + found.moving == pytest.approx(found.one_way)
    assert found.past <= found.through


@each(("name", "preset"), cases("data_parallel_variants"))
def test_no_loop_is_faster_than_its_computation(name, preset):
    found = solved(name, preset)
    assert found.best <= found.step_time * LESS
    assert found.best <= found.naive * LESS
    for loop in found.loops.values():
        one = loop.account
        assert one.compute + one.exposed + one.idle == pytest.approx(one.length)
        assert one.exposed <= one.communication * LESS


@each(("name", "preset"), cases("data_parallel_scaling"))
@each("num_gpus", [1, 8, 1024, 16_384])
def test_n_gpus_are_no_more_than_n_times_as_fast(name, preset, num_gpus):
    found = solved(name, preset, num_gpus=num_gpus)
    assert 0 < found.speedup <= num_gpus * LESS
    closing = found.optimizer + found.host
    assert found.compute + found.waiting + found.exposed + closing == pytest.approx(found.step_time)
    assert found.exposed <= found.communication * LESS
    assert found.with_overlap <= found.without_overlap * LESS


@each(("name", "preset"), cases("zero_saving"))
def test_each_stage_of_zero_holds_no_more_than_the_one_before(name, preset):
    found = solved(name, preset)
    held = [one.states.total for one in found.stages]
    assert held == sorted(held, reverse=True)
    assert found.held == pytest.approx(found.bytes_per_parameter * found.size)
    assert found.saving == pytest.approx(1 - found.held / (found.whole * found.size))
