"""The gradient sync lab, solved."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from engine.calculators.moving_bytes.gradient_sync.inputs import (
    ALGORITHMS,
    Inputs,
    job_of,
    missing_of,
    room_of,
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
from engine.formulas.overlap import communication_share, efficiency, exposed_time, tokens_of
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
from engine.simulate.data_parallel.sync_step import (
    GradientAllReduce,
    SyncJob,
    SyncStep,
    break_even,
    gradient_all_reduce,
    ideal_exposed,
    reached_share,
    required_port,
    slower_passes,
    sync_step,
    unasked,
)
from engine.simulate.data_parallel.sync_streams import sync_spans

LOW, HIGH = 256, 1_048_576
TOKENS_COLUMN = tuple(
    round(math.exp(math.log(LOW) + i / 72 * (math.log(HIGH) - math.log(LOW)))) for i in range(73)
)


def solve(inputs: Inputs) -> Result:
    """Return every number of the lab."""
    job = job_of(inputs)
    sync, wires = gradient_all_reduce(job), job.wires
    now, peak = sync_step(job), GPUS[inputs.gpu].peak["bf16"]
    whole = job.size, sync.collective
    exposed, ideal = now.parts.data_parallel, ideal_exposed(job, now, sync.collective)
    algorithm = effective_algorithm(wires, inputs.algorithm, job.size)
    line = wires.port * wires.ports_per_node if wires.num_nodes > 1 else wires.scale_up
    network = job.size, wires.world_size, line, wires.latency
    load = port_load(wires, sync.algorithm, job.size)
    return Result(
        job=job,
        sync=sync,
        now=now,
        algorithm=algorithm,
        tiers=(ring_tier_bytes(wires, job.size), hierarchical_tier_bytes(wires, job.size)),
        by_algorithm=_by_algorithm(inputs, job, sync),
        curve=Lazy(partial(_curve, job, sync)),
        ports=Lazy(partial(_ports, job, sync)),
        streams=Lazy(partial(sync_spans, job, now)),
        tried=Lazy(partial(try_changes, inputs, sync, now.parts.total)),
        printed_tokens=tokens_of(COMPUTE, job.parameters, reached_share(job, now, peak), peak),
        ring_time=ring_all_reduce_time(*network),
        tree_time=tree_all_reduce_time(*network),
        all_reduce_time=sync.collective,
        way=all_reduce_way(wires, inputs.algorithm, job.size),
        bound_time=bound_time(wires, algorithm, job.size),
        bandwidth_part=sync.collective - sync.latency_part,
        latency_part=sync.latency_part,
        gradient_size=job.size,
        sent_bytes=sent_bytes(wires, algorithm, job.size),
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
        peak=peak,
        step_tokens=job.tokens * job.accumulation,
        compute_time=now.parts.compute,
        reached=reached_share(job, now, peak),
        backward_time=now.backward,
        closing_time=now.closing,
        working_time=now.working,
        communication=now.communication,
        num_buckets=now.exchange.units,
        exposed_time=exposed,
        exposed_bound=exposed_time(now.communication, now.backward, now.exchange.units),
        contention=sum(slower_passes(job, now)) - now.forward - now.backward,
        step_time=now.parts.total,
        estimate=sync_step(unasked(job)).parts.total,
        blocking_share=communication_share(now.working, sync.collective),
        exposed_share=communication_share(now.working, exposed),
        efficiency=efficiency(now.working, exposed),
        ideal_efficiency=efficiency(now.working, ideal),
        states=states_of(inputs),
        memory=room_of(inputs),
        missing=missing_of(inputs),
        break_even_tokens=break_even(job),
        required_bandwidth=required_port(job, sync.algorithm, now.backward),
    )


def _by_algorithm(inputs: Inputs, job: SyncJob, sync: GradientAllReduce) -> Mapping[str, Seconds]:
    names = [n for n in ALGORITHMS if n not in ("auto", "hierarchical")]
    if inputs.gpus_per_node > 1 and job.wires.num_nodes > 1:
        names.insert(2, "hierarchical")
    return {name: all_reduce_time(job.wires, name, job.size) for name in names}


def _at(job: SyncJob, tokens: int) -> tuple[SyncJob, SyncStep]:
    changed = replace(job, tokens=float(tokens))
    return changed, sync_step(changed)


def _curve(job: SyncJob, sync: GradientAllReduce) -> Curve:
    steps = [_at(job, tokens) for tokens in TOKENS_COLUMN]
    return Curve(
        as_set=tuple(efficiency(step.working, step.parts.data_parallel) for _, step in steps),
        ideal=tuple(
            efficiency(step.working, ideal_exposed(changed, step, sync.collective))
            for changed, step in steps
        ),
        blocking=tuple(efficiency(step.working, sync.collective) for _, step in steps),
    )


def _ports(job: SyncJob, sync: GradientAllReduce) -> tuple[Bandwidth, ...]:
    return tuple(
        required_port(job, sync.algorithm, _at(job, tokens)[1].backward) for tokens in TOKENS_COLUMN
    )
