"""The pictures of the gradient sync lab."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from engine.calculators.moving_bytes.gradient_sync.result import (
    ALGORITHMS,
    Curve,
    Inputs,
    Result,
    job_of,
    missing_of,
    room_of,
    states_of,
    try_changes,
)
from engine.catalog.hardware import GPUS, link_name
from engine.catalog.transports import NVLINK
from engine.core.lazy import Lazy
from engine.core.outputs import Presenter
from engine.core.units import SECONDS, Bandwidth, Seconds
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    Lane,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
    Span,
    Timeline,
)
from engine.form.published_sync_calculator import COMPUTE
from engine.formulas.bandwidth import algorithm_bandwidth, bus_bandwidth, bus_bandwidth_factor
from engine.formulas.communication import ring_all_reduce_time, tree_all_reduce_time
from engine.formulas.overlap import communication_share, efficiency, exposed_time, tokens_of
from engine.simulate.collectives.cluster_wires import (
    all_reduce_algorithm,
    all_reduce_time,
    bound_time,
    effective_algorithm,
    hierarchical_tier_bytes,
    mean_step_latency,
    port_load,
    ring_tier_bytes,
    sent_bytes,
)
from engine.simulate.data_parallel.sync_streams import (
    GradientAllReduce,
    SyncJob,
    SyncSpan,
    SyncStep,
    break_even,
    gradient_all_reduce,
    ideal_exposed,
    reached_share,
    required_port,
    slower_passes,
    sync_spans,
    sync_step,
    unasked,
)


def parts(present: Presenter, result: Result) -> Bars:
    """Return the all-reduce as its bandwidth part and its latency part."""
    rows = (
        ("bandwidth", "bandwidth part", result.bandwidth_part, "bandwidth part"),
        ("latency", "latency part", result.latency_part, "latency part"),
    )
    return _bars(present, "Two parts of one all-reduce", rows)


def algorithms(present: Presenter, result: Result) -> Bars:
    """Return the time of every algorithm for this gradient, as one message, on these wires.

    Buckets are shorter messages, for which another one may be chosen.
    """
    whole, bucket = result.algorithm, result.sync.algorithm
    marks = (
        {whole: " (in use)"} if whole == bucket else {bucket: " (for buckets)", whole: " (whole)"}
    )
    rows = tuple(
        (name, ALGORITHMS[name] + marks.get(name, ""), time, "all-reduce")
        for name, time in result.by_algorithm.items()
    )
    return _bars(present, "The whole gradient in one message, by every algorithm", rows)


def _bars(present: Presenter, title: str, rows: tuple[tuple[str, str, Seconds, str], ...]) -> Bars:
    high = max(time for _, _, time, _ in rows)
    return Bars(
        title=title,
        axis=present.axis("all_reduce_time", "time", low=0.0, high=high * 1.18 or 1.0),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=part, value=time, color="communication"),),
            )
            for key, label, time, part in rows
        ),
    )


def efficiency_curve(present: Presenter, result: Result) -> Lines:
    """Return the share of the step that computes, over the tokens per GPU."""
    curve = result.curve()
    return present.curve(
        "Efficiency against tokens per GPU",
        over=_TOKENS,
        shows=Scale("efficiency", "share of the step that computes", 0.0, 1.0),
        x=TOKENS_COLUMN,
        lines=(
            Line("set", "as set", curve.as_set, "compute"),
            Line("ideal", "ideal", curve.ideal, "ink", dashed=True),
            Line("blocking", "no overlap", curve.blocking, "communication", dashed=True),
        ),
        handle="tokens_per_gpu",
        rules=_break_even_rule(present, result),
        caption="Drag the handle along the axis, past the dashed line.",
    )


def required_curve(present: Presenter, result: Result) -> Lines:
    """Return the port speed that hides the all-reduce, over the tokens per GPU."""
    ports = zip(TOKENS_COLUMN, result.ports(), strict=True)
    # Where the part inside the node alone outlasts the backward pass, no port is fast enough.
    needed = [(t, port) for t, port in ports if math.isfinite(port)]
    have = result.port_speed
    low, high = (bound([have, *(port for _, port in needed)]) for bound in (min, max))
    return present.curve(
        "Port speed that hides the all-reduce",
        over=_TOKENS,
        shows=Scale(
            "required_bandwidth",
            "per port, one way",
            10 ** math.floor(math.log10(low * 8)) / 8,
            10 ** math.ceil(math.log10(high * 8)) / 8,
            log=True,
        ),
        x=[t for t, _ in needed],
        lines=(Line("needed", "needed", [port for _, port in needed], "communication"),),
        handle="tokens_per_gpu",
        marked=math.isfinite(result.required_bandwidth),
        rules=(
            Rule(key="have", label=present.say("you have {port_speed}"), axis="y", at=have),
            *_break_even_rule(present, result),
        ),
    )


def _break_even_rule(present: Presenter, result: Result) -> tuple[Rule, ...]:
    at = result.break_even_tokens
    if not LOW <= at <= HIGH:
        return ()
    label = present.say("hidden from {break_even_tokens}")
    return (Rule(key="break_even", label=label, axis="x", at=at),)


# The gradient sync lab, solved.

LOW, HIGH = 256, 1_048_576
_TOKENS = Scale("break_even_tokens", "tokens per GPU", LOW, HIGH, log=True)
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
        way=all_reduce_algorithm(wires, inputs.algorithm, job.size),
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


# Timeline of a step of the gradient sync lab on two streams.

LANES = (Lane(key="compute", label="compute"), Lane(key="communication", label="network"))
_WORDS = {"update": "optimizer", "other": "host, and waiting for the slowest GPU"}


def timeline(present: Presenter, inputs: Inputs, result: Result) -> Timeline:
    """Return the timeline of a step on two streams; with accumulation, of its last micro-batch."""
    ran = result.streams()
    reduces = {True: "reduce-scatter", False: "all-reduce"}[inputs.sharding == "zero1"]
    computed = max(span.end for span in ran if span.kind == "backward")
    end = max(span.end for span in ran)
    return Timeline(
        title="One step" if inputs.accumulation == 1 else "The last micro-batch of a step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=LANES,
        spans=tuple(_span(span, reduces) for span in ran),
        rules=(Rule(key="computed", label="backward ends", axis="x", at=computed),),
        caption=present.say(
            "{num_buckets} buckets, drawn in groups, and the embedding's. Hatched: exposed."
        ),
        player=True,
    )


def _span(span: SyncSpan, reduces: str) -> Span:
    kind = {"gather": "all-gather", "reduce": reduces}.get(span.kind, span.kind)
    label = _WORDS.get(kind, f"{kind}, {name}" if (name := _buckets(span)) else kind)
    return Span(
        key=f"{label}{' exposed' if span.exposed else ''}",
        lane=span.stream,
        start=span.start,
        end=span.end,
        label=label,
        color="optimizer" if span.kind == "update" else span.stream,
        exposed=span.exposed,
        links=(f"bucket:{span.last}",) if span.last else (),
    )


def _buckets(span: SyncSpan) -> str:
    """Return the name of a group of buckets; of a pass without groups, none."""
    if not span.last:
        return "embedding" if span.kind in ("gather", "reduce") else ""
    if span.first == span.last:
        return f"bucket {span.last}"
    return f"buckets {span.first}\N{EN DASH}{span.last}"
