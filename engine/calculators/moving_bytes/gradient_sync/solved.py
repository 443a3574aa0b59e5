"""The gradient sync lab, solved."""

import math
from collections.abc import Mapping
from functools import partial

from engine.calculators.moving_bytes.gradient_sync.inputs import (
    ALGORITHMS,
    Inputs,
    job_of,
    missing_of,
    states_of,
)
from engine.calculators.moving_bytes.gradient_sync.remedies import try_changes
from engine.calculators.moving_bytes.gradient_sync.result import Curve, Result
from engine.catalog.hardware import GPUS, link_name
from engine.catalog.transports import NVLINK
from engine.core.lazy import Lazy
from engine.core.units import Bandwidth, Seconds
from engine.form.published_sync_calculator import COMPUTE
from engine.formulas.bandwidth import algorithm_bandwidth, bus_bandwidth, bus_bandwidth_factor
from engine.formulas.communication import ring_all_reduce_time, tree_all_reduce_time
from engine.formulas.overlap import communication_share, efficiency, tokens_of
from engine.simulate.collectives.cluster_wires import (
    all_reduce_time,
    all_reduce_way,
    bound_time,
    effective_algorithm,
    hierarchical_tier_bytes,
    mean_step_latency,
    port_load,
    ring_tier_bytes,
    sent_bytes,
)
from engine.simulate.data_parallel.gradient_sync import (
    DataParallelJob,
    GradientAllReduce,
    break_even,
    gradient_all_reduce,
    required_port,
    step_passes,
    step_streams,
    zero_1_streams,
)
from engine.simulate.memory.allocator import usable_bytes

LOW, HIGH = 256, 1_048_576
TOKENS_COLUMN = tuple(
    round(math.exp(math.log(LOW) + i / 72 * (math.log(HIGH) - math.log(LOW)))) for i in range(73)
)


def solve(inputs: Inputs) -> Result:
    """Return every number of the lab."""
    job = job_of(inputs)
    sync, wires = gradient_all_reduce(job), job.wires
    now = step_passes(job, sync, job.tokens)
    whole = sync.size, sync.collective
    algorithm = effective_algorithm(wires, inputs.algorithm, sync.size)
    line = wires.port * wires.ports_per_node if wires.num_nodes > 1 else wires.scale_up
    network = sync.size, wires.world_size, line, wires.latency
    load = port_load(wires, sync.algorithm, sync.size)
    return Result(
        job=job,
        sync=sync,
        now=now,
        algorithm=algorithm,
        tiers=(ring_tier_bytes(wires, sync.size), hierarchical_tier_bytes(wires, sync.size)),
        by_algorithm=_by_algorithm(inputs, job, sync),
        curve=Lazy(partial(_curve, job, sync)),
        ports=Lazy(partial(_ports, job, sync, now.backward / inputs.tokens_per_gpu)),
        streams=Lazy(partial(step_streams, job, sync, now)),
        halves=Lazy(partial(zero_1_streams, sync, now)),
        tried=Lazy(partial(try_changes, inputs, sync, now.step)),
        printed_tokens=tokens_of(COMPUTE, job.parameters, job.utilization, job.peak),
        ring_time=ring_all_reduce_time(*network),
        tree_time=tree_all_reduce_time(*network),
        all_reduce_time=sync.collective,
        way=all_reduce_way(wires, inputs.algorithm, sync.size),
        bound_time=bound_time(wires, algorithm, sync.size),
        bandwidth_part=sync.collective - sync.latency_part,
        latency_part=sync.latency_part,
        gradient_size=sync.size,
        sent_bytes=sent_bytes(wires, algorithm, sync.size),
        algorithm_bandwidth=algorithm_bandwidth(*whole),
        bus_bandwidth=bus_bandwidth(*whole, "all_reduce", wires.world_size),
        factor=bus_bandwidth_factor("all_reduce", wires.world_size),
        link=link_name(inputs.gpu),
        step_latency=mean_step_latency(wires, algorithm),
        network_latency=wires.latency,
        scale_up_latency=NVLINK.step,
        scale_up_rate=wires.scale_up,
        ring_bandwidth=wires.ring,
        local=wires.local,
        num_nodes=wires.num_nodes,
        node_bandwidth=wires.node,
        element=job.element,
        port_rate=wires.node / wires.ports_per_node,
        port_speed=wires.port if wires.num_nodes > 1 else wires.scale_up,
        port_sent=load.sent,
        port_wait=load.wait,
        peak=job.peak,
        step_tokens=job.tokens * job.accumulation,
        compute_time=now.compute,
        backward_time=now.backward,
        communication=sync.communication,
        num_buckets=sync.num_buckets,
        exposed_time=now.exposed,
        ideal_exposed=now.ideal_exposed,
        step_time=now.step,
        blocking_share=communication_share(now.compute, sync.collective),
        exposed_share=communication_share(now.compute, now.exposed),
        efficiency=now.efficiency,
        ideal_efficiency=now.ideal_efficiency,
        states=states_of(inputs),
        memory=usable_bytes(GPUS[inputs.gpu].memory),
        missing=missing_of(inputs),
        break_even_tokens=break_even(job, sync),
        required_bandwidth=required_port(job, sync, now.backward),
    )


def _by_algorithm(
    inputs: Inputs, job: DataParallelJob, sync: GradientAllReduce
) -> Mapping[str, Seconds]:
    names = [n for n in ALGORITHMS if n not in ("auto", "hierarchical")]
    if inputs.gpus_per_node > 1 and job.wires.num_nodes > 1:
        names.insert(2, "hierarchical")
    return {name: all_reduce_time(job.wires, name, sync.size) for name in names}


def _curve(job: DataParallelJob, sync: GradientAllReduce) -> Curve:
    steps = [step_passes(job, sync, tokens) for tokens in TOKENS_COLUMN]
    return Curve(
        as_set=tuple(step.efficiency for step in steps),
        ideal=tuple(step.ideal_efficiency for step in steps),
        blocking=tuple(efficiency(step.compute, sync.collective) for step in steps),
    )


def _ports(
    job: DataParallelJob, sync: GradientAllReduce, per_token: Seconds
) -> tuple[Bandwidth, ...]:
    return tuple(required_port(job, sync, per_token * tokens) for tokens in TOKENS_COLUMN)
